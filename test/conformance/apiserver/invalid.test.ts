/** Refused values of built-in kinds that `stored.test.ts` does not try, with the values next to them that are accepted. */
import { expect } from 'chai';
import { useSubject, type Json } from './subject.ts';

type Row = readonly [
  title: string,
  kind: keyof typeof BASES,
  change: (object: Json) => void,
  ...causes: string[],
];

const pod = { containers: [{ name: 'c', image: 'x' }] };
const labels = { a: 'b' };

/** The resource, and an object that is accepted. */
const BASES = {
  pod: ['/api/v1/namespaces/NS/pods', { spec: pod }],
  service: ['/api/v1/namespaces/NS/services', { spec: { ports: [{ port: 80 }] } }],
  deployment: [
    '/apis/apps/v1/namespaces/NS/deployments',
    { spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } } },
  ],
  job: [
    '/apis/batch/v1/namespaces/NS/jobs',
    { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } },
  ],
  ingress: [
    '/apis/networking.k8s.io/v1/namespaces/NS/ingresses',
    {
      spec: {
        rules: [
          {
            host: 'a.b',
            http: {
              paths: [
                { path: '/', pathType: 'Exact', backend: { service: { name: 's', port: { number: 80 } } } },
              ],
            },
          },
        ],
      },
    },
  ],
  policy: ['/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies', { spec: { podSelector: {} } }],
  quota: ['/api/v1/namespaces/NS/resourcequotas', { spec: { hard: { pods: '1' } } }],
  autoscaler: [
    '/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers',
    {
      spec: {
        maxReplicas: 2,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 1 }] } },
      },
    },
  ],
  hooks: [
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    {
      webhooks: [
        {
          name: 'a.b.c',
          clientConfig: { service: { name: 's', namespace: 'n' } },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    },
  ],
} as const;

const container = (object: Json): Json => object.spec.containers[0];
const probe = { tcpSocket: { port: 80 } };
const path = (object: Json): Json => object.spec.rules[0].http.paths[0];
const range = 'must be between 1 and 65535, inclusive';
const negative = 'Invalid value: -1: must be greater than or equal to 0';

const rows: readonly Row[] = [
  ['the largest port', 'pod', (o) => (container(o).ports = [{ containerPort: 65535, hostPort: 65535 }])],
  [
    'ports above the largest',
    'pod',
    (o) => (container(o).ports = [{ containerPort: 65536, hostPort: 65536 }]),
    `spec.containers[0].ports[0].containerPort: Invalid value: 65536: ${range}`,
    `spec.containers[0].ports[0].hostPort: Invalid value: 65536: ${range}`,
  ],
  [
    'a port name of 15 characters',
    'pod',
    (o) => (container(o).ports = [{ containerPort: 1, name: 'a23456789012345' }]),
  ],
  [
    'a port name of 16 characters',
    'pod',
    (o) => (container(o).ports = [{ containerPort: 1, name: 'a234567890123456' }]),
    'spec.containers[0].ports[0].name: Invalid value: "a234567890123456": must be no more than 15 characters',
  ],
  [
    'a port name with hyphens at wrong places',
    'pod',
    (o) => (container(o).ports = [{ containerPort: 1, name: '-a--b' }]),
    'spec.containers[0].ports[0].name: Invalid value: "-a--b": must not contain consecutive hyphens',
    'spec.containers[0].ports[0].name: Invalid value: "-a--b": must not begin or end with a hyphen',
  ],
  [
    'negative numbers in probes',
    'pod',
    (o) => (container(o).livenessProbe = { ...probe, initialDelaySeconds: -1, periodSeconds: -1 }),
    `spec.containers[0].livenessProbe.initialDelaySeconds: ${negative}`,
    `spec.containers[0].livenessProbe.periodSeconds: ${negative}`,
  ],
  [
    'two successes of a liveness probe',
    'pod',
    (o) => (container(o).livenessProbe = { ...probe, successThreshold: 2 }),
    'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
  ],
  [
    'two successes of a readiness probe',
    'pod',
    (o) => (container(o).readinessProbe = { ...probe, successThreshold: 2 }),
  ],
  ['the largest user id', 'pod', (o) => (o.spec.securityContext = { runAsUser: 2147483647, fsGroup: 0 })],
  [
    'user ids out of range',
    'pod',
    (o) => (o.spec.securityContext = { runAsUser: -1, runAsGroup: 2147483648, supplementalGroups: [-1] }),
    'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    'spec.securityContext.runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
    'spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive',
  ],
  [
    'a negative request',
    'pod',
    (o) => (container(o).resources = { requests: { cpu: '-1' } }),
    'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ],
  [
    'resources with a domain and huge pages',
    'pod',
    (o) => (container(o).resources = { limits: { 'x.io/y': '1', 'hugepages-2Mi': '2Mi', cpu: '1' } }),
  ],
  [
    'an unknown resource',
    'pod',
    (o) => (container(o).resources = { limits: { cpus: '1' } }),
    'spec.containers[0].resources.limits[cpus]: Invalid value: "cpus": must be a standard resource type or fully qualified',
    'spec.containers[0].resources.limits[cpus]: Invalid value: "cpus": must be a standard resource for containers',
    'spec.containers[0].resources.requests[cpus]: Invalid value: "cpus": must be a standard resource type or fully qualified',
    'spec.containers[0].resources.requests[cpus]: Invalid value: "cpus": must be a standard resource for containers',
  ],
  [
    'two containers of one name, one of them in the beginning',
    'pod',
    (o) => (o.spec.initContainers = [{ name: 'c', image: 'x' }]),
    'spec.initContainers[0].name: Duplicate value: "c"',
  ],
  [
    'names that are not labels',
    'pod',
    (o) => Object.assign(o.spec, { hostname: 'A' }),
    "spec.hostname: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
  ],
  [
    'an unknown effect of a toleration',
    'pod',
    (o) => (o.spec.tolerations = [{ key: 'a', operator: 'Equal', effect: 'x' }]),
    'spec.tolerations[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  [
    'an unknown operator of a toleration',
    'pod',
    (o) => (o.spec.tolerations = [{ key: 'a', operator: 'x' }]),
    'spec.tolerations[0].operator: Unsupported value: "x": supported values: "Equal", "Exists"',
  ],
  [
    'a claim of resources with two sources',
    'pod',
    (o) => (o.spec.resourceClaims = [{ name: 'a', resourceClaimName: 'x', resourceClaimTemplateName: 'y' }]),
    'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"x","ResourceClaimTemplateName":"y"}: at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
  ],
  [
    'a number where the node selector needs one',
    'pod',
    (o) =>
      (o.spec.affinity = {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1', '2'] }] }],
          },
        },
      }),
    "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
  ],
  [
    'labels of a template that are not labels',
    'deployment',
    (o) => (o.spec.template.metadata.labels = { a: 'b', c: '-' }),
    "spec.template.labels: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    'negative numbers of a deployment',
    'deployment',
    (o) => Object.assign(o.spec, { replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1 }),
    `spec.replicas: ${negative}`,
    `spec.minReadySeconds: ${negative}`,
    `spec.revisionHistoryLimit: ${negative}`,
  ],
  ['an indexed job', 'job', (o) => Object.assign(o.spec, { completionMode: 'Indexed', completions: 1 })],
  [
    'an indexed job without completions',
    'job',
    (o) => Object.assign(o.spec, { completionMode: 'Indexed', parallelism: 1 }),
    'spec.completions: Required value: when completion mode is Indexed',
  ],
  [
    'negative numbers of a job',
    'job',
    (o) =>
      Object.assign(o.spec, { backoffLimit: -1, ttlSecondsAfterFinished: -1, activeDeadlineSeconds: -1 }),
    `spec.backoffLimit: ${negative}`,
    `spec.ttlSecondsAfterFinished: ${negative}`,
    `spec.activeDeadlineSeconds: ${negative}`,
  ],
  ['a wildcard host', 'ingress', (o) => (o.spec.rules[0].host = '*.a.b')],
  [
    'a path that steps up',
    'ingress',
    (o) => (path(o).path = '/a//b/..'),
    'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/..": must not contain \'//\'',
    'spec.rules[0].http.paths[0].path: Invalid value: "/a//b/..": cannot end with \'/..\'',
  ],
  [
    'a path of an implementation without a slash',
    'ingress',
    (o) => Object.assign(path(o), { path: 'a', pathType: 'ImplementationSpecific' }),
    'spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path',
  ],
  [
    'a path of an implementation that steps up',
    'ingress',
    (o) => Object.assign(path(o), { path: '/a//b', pathType: 'ImplementationSpecific' }),
  ],
  [
    'a backend whose name is not a service name',
    'ingress',
    (o) => (path(o).backend.service.name = '1'),
    "spec.rules[0].http.paths[0].backend.service.name: Invalid value: \"1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
  ],
  ['a range of ports', 'policy', (o) => (o.spec.ingress = [{ ports: [{ port: 80, endPort: 80 }] }])],
  [
    'a range of ports that ends before it begins',
    'policy',
    (o) => (o.spec.ingress = [{ ports: [{ port: 80, endPort: 79 }] }]),
    'spec.ingress[0].ports[0].endPort: Invalid value: 80: must be greater than or equal to `port`',
  ],
  [
    'the end of a range without a port',
    'policy',
    (o) => (o.spec.ingress = [{ ports: [{ endPort: 79 }] }]),
    'spec.ingress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is not specified',
  ],
  [
    'the first node port',
    'service',
    (o) => Object.assign(o.spec, { type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }] }),
  ],
  [
    'a node port before the first',
    'service',
    (o) => Object.assign(o.spec, { type: 'NodePort', ports: [{ port: 80, nodePort: 29999 }] }),
    'spec.ports[0].nodePort: Invalid value: 29999: provided port is not in the valid range. The range of valid ports is 30000-32767',
  ],
  [
    'a session of one day',
    'service',
    (o) =>
      Object.assign(o.spec, {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } },
      }),
  ],
  [
    'a session of more than one day',
    'service',
    (o) =>
      Object.assign(o.spec, {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } },
      }),
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
  ],
  [
    'an unknown policy of an exposed service',
    'service',
    (o) => Object.assign(o.spec, { type: 'NodePort', externalTrafficPolicy: 'x' }),
    'spec.externalTrafficPolicy: Unsupported value: "x": supported values: "Cluster", "Local"',
  ],
  [
    'quotas of objects and of requests',
    'quota',
    (o) =>
      (o.spec.hard = {
        'count/deployments.apps': '1',
        'requests.cpu': '1',
        'limits.memory': '1',
        'requests.storage': '1',
        'services.nodeports': '1',
        'requests.x.io/y': '1',
      }),
  ],
  [
    'a quota that is not of a known resource',
    'quota',
    (o) => (o.spec.hard = { storage: '1' }),
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
  ],
  [
    'the longest period of a policy',
    'autoscaler',
    (o) =>
      Object.assign(o.spec.behavior.scaleUp, {
        stabilizationWindowSeconds: 3600,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 1800 }],
      }),
  ],
  [
    'periods that are too long',
    'autoscaler',
    (o) =>
      Object.assign(o.spec.behavior.scaleUp, {
        stabilizationWindowSeconds: 3601,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 1801 }],
      }),
    'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600',
    'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800',
  ],
  ['the longest time of a webhook', 'hooks', (o) => (o.webhooks[0].timeoutSeconds = 30)],
  [
    'more than the longest time of a webhook',
    'hooks',
    (o) => (o.webhooks[0].timeoutSeconds = 31),
    'webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds',
  ],
  [
    'a webhook without a domain',
    'hooks',
    (o) => (o.webhooks[0].name = 'a.b'),
    'webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
  ],
];

describe('invalid objects of built-in kinds', () => {
  const s = useSubject();
  let namespace: string;

  before(async () => {
    namespace = await s.namespace();
  });

  for (const [i, [title, kind, change, ...causes]] of rows.entries())
    it(`API-189: ${causes.length === 0 ? 'accepts' : 'refuses'} ${title}`, async () => {
      const [root, base] = BASES[kind];
      const object = { metadata: { name: `o${String(i)}` }, ...structuredClone(base) };
      change(object);
      // Webhooks would be called in other tests, and dry runs do not allocate ports.
      const query = kind === 'hooks' ? '?dryRun=All' : '';
      const reply = await s.post(root.replace('NS', namespace) + query, object);
      const found = (reply.body.details?.causes ?? []).map((each: Json) => `${each.field}: ${each.message}`);
      expect([...new Set(found)].sort()).to.deep.equal([...causes].sort());
      expect(reply.code).to.equal(causes.length === 0 ? 201 : 422);
      if (causes.length > 0) expect(reply.body.reason).to.equal('Invalid');
    });
});
