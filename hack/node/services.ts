/** The services of the node: their configuration files and command lines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binariesIn, cacheFolder } from '../envtest/versions.ts';
import { programPath } from './programs.ts';
import { addresses, files, folders, images, NODE_NAME, REGISTRY } from './settings.ts';

const certificate = (name: string): string => join(files.certificates, name);
const configuration = (name: string): string => join(files.configuration, name);

const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', users: ['system:apiserver'] },
    { level: 'None', userGroups: ['system:nodes'] },
    { level: 'Metadata' },
  ],
};

const KUBELET = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: addresses.node,
  readOnlyPort: 0,
  healthzBindAddress: '127.0.0.1',
  containerRuntimeEndpoint: `unix://${files.containerdSocket}`,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${NODE_NAME}`,
  failCgroupV1: false,
  failSwapOn: false,
  clusterDNS: [addresses.dns],
  clusterDomain: 'cluster.local',
  resolvConf: configuration('resolv.conf'),
  authentication: {
    anonymous: { enabled: false },
    webhook: { enabled: true },
    x509: { clientCAFile: certificate('ca.crt') },
  },
  authorization: { mode: 'Webhook' },
  tlsCertFile: certificate('kubelet-server.crt'),
  tlsPrivateKeyFile: certificate('kubelet-server.key'),
  // The disk is that of the machine: how full it is does not matter to the tests.
  evictionHard: {
    'memory.available': '100Mi',
    'nodefs.available': '1%',
    'imagefs.available': '1%',
    'nodefs.inodesFree': '1%',
  },
  imageGCHighThresholdPercent: 99,
  imageGCLowThresholdPercent: 98,
  maxPods: 200,
  podLogsDir: '/var/log/pods',
};

const PROXY = {
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  mode: 'iptables',
  clientConnection: { kubeconfig: certificate('proxy.kubeconfig') },
  clusterCIDR: addresses.pods,
  hostnameOverride: NODE_NAME,
  healthzBindAddress: '127.0.0.1:10256',
  metricsBindAddress: '127.0.0.1:10249',
  // These settings are those of the machine's kernel.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
};

const NETWORK = {
  cniVersion: '1.0.0',
  name: NODE_NAME,
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: addresses.podsOfNode }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};

const REGISTRY_CONFIGURATION = {
  version: '0.1',
  log: { level: 'warn' },
  storage: { filesystem: { rootdirectory: folders.registry }, delete: { enabled: true } },
  http: { addr: REGISTRY },
};

/** A root without CAP_SYS_RESOURCE cannot lower oom_score_adj, so containers never get less than containerd has. */
const CONTAINERD = `version = 2
[grpc]
  address = "${files.containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${images.pause}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${configuration('cni')}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${configuration('registries')}"
`;

/** containerd asks the registry of the node instead of all others. */
const REGISTRIES = `server = "http://${REGISTRY}"
[host."http://${REGISTRY}"]
  capabilities = ["pull", "resolve"]
`;

export function writeConfiguration(): void {
  mkdirSync(configuration('cni'), { recursive: true });
  mkdirSync(configuration('registries/_default'), { recursive: true });
  const write = (name: string, content: string | object): void =>
    writeFileSync(configuration(name), typeof content === 'string' ? content : JSON.stringify(content));
  write('audit-policy.yaml', AUDIT_POLICY);
  write('kubelet.yaml', KUBELET);
  write('proxy.yaml', PROXY);
  write('registry.yaml', REGISTRY_CONFIGURATION);
  write('cni/10-bridge.conflist', NETWORK);
  write('containerd.toml', CONTAINERD);
  write('registries/_default/hosts.toml', REGISTRIES);
  write('resolv.conf', '# no name servers besides that of the cluster\n');
}

const ETCD = 'http://127.0.0.1:2379';
const ETCD_PEER = 'http://127.0.0.1:2380';

/** Command lines, in the order in which the services start. */
export function serviceCommands(): Readonly<Record<string, readonly string[]>> {
  const { etcd, apiserver } = binariesIn(process.env['KUBEBUILDER_ASSETS'] || cacheFolder());
  return {
    etcd: [
      etcd,
      `--data-dir=${join(folders.state, 'etcd')}`,
      `--listen-client-urls=${ETCD}`,
      `--advertise-client-urls=${ETCD}`,
      `--listen-peer-urls=${ETCD_PEER}`,
      `--initial-advertise-peer-urls=${ETCD_PEER}`,
      `--initial-cluster=default=${ETCD_PEER}`,
      '--unsafe-no-fsync',
      '--log-level=error',
    ],
    'api-server': [apiserver, ...apiServerArguments()],
    'controller-manager': [
      programPath('kube-controller-manager'),
      `--kubeconfig=${certificate('controller-manager.kubeconfig')}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${files.configuration}`,
      '--leader-elect=false',
      '--use-service-account-credentials',
      `--root-ca-file=${certificate('ca.crt')}`,
      `--service-account-private-key-file=${certificate('accounts.key')}`,
      `--cluster-signing-cert-file=${certificate('ca.crt')}`,
      `--cluster-signing-key-file=${certificate('ca.key')}`,
      '--allocate-node-cidrs',
      `--cluster-cidr=${addresses.pods}`,
      `--service-cluster-ip-range=${addresses.services}`,
    ],
    scheduler: [
      programPath('kube-scheduler'),
      `--kubeconfig=${certificate('scheduler.kubeconfig')}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${files.configuration}`,
      '--leader-elect=false',
    ],
    registry: ['docker-registry', 'serve', configuration('registry.yaml')],
    containerd: ['containerd', '--config', configuration('containerd.toml')],
    kubelet: [
      programPath('kubelet'),
      `--config=${configuration('kubelet.yaml')}`,
      `--kubeconfig=${certificate('kubelet.kubeconfig')}`,
      `--node-ip=${addresses.node}`,
      `--hostname-override=${NODE_NAME}`,
    ],
    proxy: [programPath('kube-proxy'), `--config=${configuration('proxy.yaml')}`],
  };
}

const apiServerArguments = (): readonly string[] => [
  `--etcd-servers=${ETCD}`,
  `--bind-address=${addresses.node}`,
  `--advertise-address=${addresses.node}`,
  '--secure-port=6443',
  `--tls-cert-file=${certificate('api-server.crt')}`,
  `--tls-private-key-file=${certificate('api-server.key')}`,
  `--client-ca-file=${certificate('ca.crt')}`,
  `--cert-dir=${files.configuration}`,
  `--kubelet-client-certificate=${certificate('api-server-client.crt')}`,
  `--kubelet-client-key=${certificate('api-server-client.key')}`,
  `--kubelet-certificate-authority=${certificate('ca.crt')}`,
  '--kubelet-preferred-address-types=InternalIP',
  '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
  `--service-account-signing-key-file=${certificate('accounts.key')}`,
  `--service-account-key-file=${certificate('accounts.pub')}`,
  `--service-cluster-ip-range=${addresses.services}`,
  '--authorization-mode=Node,RBAC',
  '--enable-admission-plugins=NodeRestriction',
  '--allow-privileged=true',
  `--audit-policy-file=${configuration('audit-policy.yaml')}`,
  `--audit-log-path=${files.auditLog}`,
];
