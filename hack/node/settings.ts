/** Names, addresses and folders of the node. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { versions as envtest } from '../envtest/versions.ts';

export const versions = {
  /** Module k8s.io/kubernetes, as for the control plane of hack/envtest. */
  kubernetes: envtest.kubernetes,
  /** Module github.com/coredns/coredns. */
  coredns: '1.12.4',
} as const;

/** Host name of the node, its network interface on the machine, and its cgroup. */
export const NODE_NAME = 'espalier-node';

export const addresses = {
  /** The machine's end of the cable to the node. */
  machine: '10.77.0.1',
  node: '10.77.0.2',
  pods: '10.88.0.0/16',
  podsOfNode: '10.88.0.0/24',
  services: '10.96.0.0/16',
  apiService: '10.96.0.1',
  dns: '10.96.0.10',
} as const;

export const REGISTRY = `${addresses.node}:5000`;

/**
 * Upgrades are tested from here, because there is no earlier release yet. This commit has a chart and an image, and pods
 * of container items without native sidecars.
 */
export const EARLIER_COMMIT = 'e42d8049';

const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'espalier', 'node');

/** Outside the tree; all but `state` is kept for the next time. */
export const folders = {
  /** Programs of these versions. */
  programs: join(cache, `kube-${versions.kubernetes}-coredns-${versions.coredns}`),
  /** Images that were built, and what they are built from. */
  images: join(cache, 'images'),
  /** The command line of EARLIER_COMMIT; missing if the repository does not have this commit. */
  earlier: join(cache, `earlier-${EARLIER_COMMIT}`),
  /** The operator of the tests, as `espalier operators new` wrote it, with an archive of this package. */
  operator: join(cache, 'operator'),
  /** Images as the registry of the node keeps them. */
  registry: join(cache, 'registry'),
  /** State of the running node; deleted before and after it. */
  state: join(cache, 'state'),
  /** Logs of the last node. */
  logs: join(cache, 'logs'),
} as const;

export const files = {
  /** For the machine: may do everything in the cluster. */
  kubeconfig: join(folders.state, 'kubeconfig'),
  containerdSocket: join(folders.state, 'containerd.sock'),
  certificates: join(folders.state, 'certificates'),
  configuration: join(folders.state, 'configuration'),
  auditLog: join(folders.logs, 'audit.log'),
  /** Process id of a service, as the machine counts. */
  processId: (service: string): string => join(folders.state, `${service}.pid`),
  /** While this file exists, the service is not started again. */
  hold: (service: string): string => join(folders.state, `${service}.hold`),
} as const;

export const images = {
  node: (version: string): string => `docker.io/library/node:${version}-slim`,
  product: 'registry.example.org/espalier:test',
  /** The product of EARLIER_COMMIT. */
  earlier: `registry.example.org/espalier:${EARLIER_COMMIT}`,
  job: 'registry.example.org/job:test',
  /** As its deploy.yaml names it. */
  operator: 'registry.example.org/backup-operator:0.1.0',
  pause: 'registry.k8s.io/pause:3.10',
  /** Images of the sample landscape and of new operators, and of other servers in tests: one program stands in for them. */
  standIns: ['docker.io/library/nginx:1.27', 'docker.io/library/nginx:1.29', 'docker.io/library/postgres:17'],
  coredns: `registry.k8s.io/coredns:${versions.coredns}`,
} as const;
