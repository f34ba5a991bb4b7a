/** Objects of pods and workloads with as many fields as can be set together. */
import type { Json } from '../subject.ts';

const probe = { httpGet: { port: 80, httpHeaders: [{ name: 'a', value: 'b' }] } };

export const fullPod: Json = {
  activeDeadlineSeconds: 60,
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
      ],
    },
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } }, namespaces: ['x'] },
      ],
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 5, podAffinityTerm: { topologyKey: 'zone', namespaceSelector: {} } },
      ],
    },
  },
  automountServiceAccountToken: false,
  containers: [
    {
      name: 'c',
      image: 'x:1',
      command: ['a'],
      args: ['b'],
      env: [
        { name: 'plain', value: 'x' },
        { name: 'field', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'resource', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'key', valueFrom: { configMapKeyRef: { name: 'a', key: 'k', optional: true } } },
        { name: 'secret', valueFrom: { secretKeyRef: { name: 'a', key: 'k' } } },
      ],
      envFrom: [{ prefix: 'P_', configMapRef: { name: 'a' } }, { secretRef: { name: 'a', optional: false } }],
      lifecycle: { postStart: { httpGet: { port: 'http' } }, preStop: { exec: { command: ['x'] } } },
      livenessProbe: { ...probe, initialDelaySeconds: 1, terminationGracePeriodSeconds: 5 },
      readinessProbe: { tcpSocket: { port: 80 }, successThreshold: 2 },
      startupProbe: { grpc: { port: 80 } },
      ports: [{ containerPort: 80, name: 'http' }],
      resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } },
      securityContext: {
        capabilities: { add: ['A'], drop: ['ALL'] },
        runAsUser: 1,
        seccompProfile: { type: 'Localhost', localhostProfile: 'x' },
        seLinuxOptions: { level: 'x' },
      },
      volumeMounts: [{ name: 'empty', mountPath: '/x', subPath: 'y', readOnly: true }],
      volumeDevices: [{ name: 'ephemeral', devicePath: '/dev/x' }],
      workingDir: '/',
    },
  ],
  dnsConfig: { nameservers: ['1.1.1.1'], searches: ['a'], options: [{ name: 'x', value: 'y' }] },
  hostAliases: [{ ip: '1.1.1.1', hostnames: ['a'] }],
  hostname: 'h',
  imagePullSecrets: [{ name: 'a' }],
  initContainers: [{ name: 'i', image: 'x', restartPolicy: 'Always' }],
  nodeSelector: { a: 'b' },
  os: { name: 'linux' },
  priorityClassName: 'system-node-critical',
  readinessGates: [{ conditionType: 'x.io/y' }],
  runtimeClassName: 'r',
  schedulingGates: [{ name: 'g' }],
  securityContext: {
    fsGroup: 1,
    supplementalGroups: [2],
    sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }],
    seccompProfile: { type: 'RuntimeDefault' },
  },
  serviceAccountName: 'default',
  subdomain: 's',
  tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 }],
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'z',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { a: 'b' } },
      matchLabelKeys: ['x'],
    },
  ],
  volumes: [
    { name: 'empty', emptyDir: { sizeLimit: '1Gi', medium: 'Memory' } },
    {
      name: 'ephemeral',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { a: 'b' } },
          spec: {
            accessModes: ['ReadWriteOnce'],
            volumeMode: 'Block',
            resources: { requests: { storage: '1Gi' } },
          },
        },
      },
    },
    { name: 'config', configMap: { name: 'a', items: [{ key: 'k', path: 'p', mode: 256 }], optional: true } },
    { name: 'secret', secret: { secretName: 'a', items: [{ key: 'k', path: 'p' }] } },
    { name: 'host', hostPath: { path: '/x', type: 'Directory' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'a', readOnly: true } },
    {
      name: 'down',
      downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.labels' } }] },
    },
    {
      name: 'projected',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't', audience: 'a' } },
          { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
          { secret: { name: 'a' } },
          {
            downwardAPI: {
              items: [{ path: 'y', resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } }],
            },
          },
        ],
      },
    },
    {
      name: 'csi',
      csi: { driver: 'd.io', volumeAttributes: { a: 'b' }, nodePublishSecretRef: { name: 'x' } },
    },
    { name: 'nfs', nfs: { server: 's', path: '/x' } },
    { name: 'iscsi', iscsi: { targetPortal: '1.1.1.1:1', iqn: 'iqn.2000-01.io.x:y', lun: 0 } },
  ],
};

const labels = { app: 'x' };
const minimalPod: Json = { containers: [{ name: 'c', image: 'x' }] };
const templateOf = (spec: Json): Json => ({ metadata: { labels }, spec });
const selector = { matchLabels: labels };
const jobPod = (spec: Json): Json => templateOf({ ...spec, restartPolicy: 'Never' });

/** Of a pod in a workload: those of `fullPod` are tried with pods. */
const somePod: Json = {
  ...minimalPod,
  securityContext: { runAsNonRoot: true },
  volumes: [{ name: 'empty' }],
  tolerations: [{ operator: 'Exists' }],
};

const claimTemplate = {
  metadata: { name: 'data', labels: { a: 'b' } },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 's',
    resources: { requests: { storage: '1Gi' } },
  },
};

/** By `apiVersion/kind`: the smallest accepted object, and one with many fields. */
export const workloadBases: Readonly<Record<string, readonly [minimal: Json, full: Json]>> = {
  'v1/Pod': [{ spec: minimalPod }, { spec: fullPod }],
  'v1/PodTemplate': [{ template: templateOf(minimalPod) }, { template: templateOf(somePod) }],
  'v1/ReplicationController': [
    { spec: { selector: labels, template: templateOf(minimalPod) } },
    { spec: { replicas: 2, minReadySeconds: 1, selector: labels, template: templateOf(somePod) } },
  ],
  'apps/v1/ControllerRevision': [{ revision: 1 }, { revision: 1, data: { a: { b: null, c: [], d: '' } } }],
  'apps/v1/DaemonSet': [
    { spec: { selector, template: templateOf(minimalPod) } },
    {
      spec: {
        selector,
        template: templateOf(somePod),
        minReadySeconds: 1,
        revisionHistoryLimit: 2,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      },
    },
  ],
  'apps/v1/Deployment': [
    { spec: { selector, template: templateOf(minimalPod) } },
    {
      spec: {
        selector: { ...selector, matchExpressions: [{ key: 'app', operator: 'In', values: ['x'] }] },
        template: templateOf(somePod),
        replicas: 2,
        minReadySeconds: 1,
        paused: true,
        revisionHistoryLimit: 2,
        progressDeadlineSeconds: 100,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      },
    },
  ],
  'apps/v1/ReplicaSet': [
    { spec: { selector, template: templateOf(minimalPod) } },
    { spec: { selector, template: templateOf(somePod), replicas: 2, minReadySeconds: 1 } },
  ],
  'apps/v1/StatefulSet': [
    { spec: { selector, serviceName: 's', template: templateOf(minimalPod) } },
    {
      spec: {
        selector,
        serviceName: 's',
        template: templateOf(somePod),
        replicas: 2,
        minReadySeconds: 1,
        ordinals: { start: 1 },
        podManagementPolicy: 'Parallel',
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
        revisionHistoryLimit: 2,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
        volumeClaimTemplates: [claimTemplate],
      },
    },
  ],
  'batch/v1/CronJob': [
    { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobPod(minimalPod) } } } },
    {
      spec: {
        schedule: '* * * * *',
        timeZone: 'Europe/Berlin',
        concurrencyPolicy: 'Forbid',
        suspend: true,
        startingDeadlineSeconds: 100,
        successfulJobsHistoryLimit: 1,
        failedJobsHistoryLimit: 2,
        jobTemplate: { metadata: { labels }, spec: { template: jobPod(somePod), backoffLimit: 2 } },
      },
    },
  ],
  'batch/v1/Job': [
    { spec: { template: jobPod(minimalPod) } },
    {
      spec: {
        template: jobPod(somePod),
        parallelism: 2,
        completions: 3,
        completionMode: 'Indexed',
        backoffLimit: 2,
        activeDeadlineSeconds: 100,
        ttlSecondsAfterFinished: 10,
        suspend: true,
        managedBy: 'x.io/y',
        podReplacementPolicy: 'Failed',
        podFailurePolicy: {
          rules: [
            { action: 'FailJob', onExitCodes: { containerName: 'c', operator: 'In', values: [1] } },
            { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
          ],
        },
        successPolicy: { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] },
      },
    },
  ],
};
