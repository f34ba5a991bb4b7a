/** Defaults of built-in kinds inside of lists and templates, by dry run. */
import { expect } from 'chai';
import { useSubject } from './subject.ts';
import type { Json } from './subject.ts';

const container = { name: 'c', image: 'x' };
const template = (spec: object = {}): Json => ({
  metadata: { labels: { a: 'b' } },
  spec: { containers: [container], ...spec },
});
const selector = { matchLabels: { a: 'b' } };
const deployed = (spec: object): Json => ({ spec: { selector, template: template(spec) } });
const withContainer = (more: object): Json => deployed({ containers: [{ ...container, ...more }] });
const withVolume = (volume: object): Json => deployed({ volumes: [{ name: 'v', ...volume }] });
const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const fieldRef = { fieldPath: 'metadata.name' };
const name = { path: 'p', fieldRef };
const scaled = { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, maxReplicas: 3 };
const allAtOnce = { type: 'Percent', value: 100, periodSeconds: 15 };
const rule = { apiGroups: ['x'], apiVersions: ['v1'], resources: ['ys'], operations: ['CREATE'] };

const inPod = (path: string): string => `spec.template.spec.${path}`;

interface Row {
  readonly what: string;
  /** Group and version, and plural; a namespaced kind unless it begins with a slash. */
  readonly at: readonly [string, string];
  readonly object: Json;
  readonly path: string;
  readonly expected: unknown;
}
const DEPLOYMENTS = ['apps/v1', 'deployments'] as const;

const rows: readonly Row[] = [
  {
    what: 'a claim template of a stateful set',
    at: ['apps/v1', 'statefulsets'],
    object: {
      spec: {
        serviceName: 'a',
        selector,
        template: template(),
        volumeClaimTemplates: [{ ...claim, metadata: { name: 'd' } }],
      },
    },
    path: 'spec.volumeClaimTemplates[0]',
    expected: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'd' },
      spec: { ...claim.spec, volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  },
  {
    what: 'an ephemeral volume',
    at: DEPLOYMENTS,
    object: withVolume({ ephemeral: { volumeClaimTemplate: claim } }),
    path: inPod('volumes[0].ephemeral.volumeClaimTemplate'),
    expected: { metadata: {}, spec: { ...claim.spec, volumeMode: 'Filesystem' } },
  },
  {
    what: 'a file of a downward volume',
    at: DEPLOYMENTS,
    object: withVolume({ downwardAPI: { items: [name] } }),
    path: inPod('volumes[0].downwardAPI.items[0].fieldRef.apiVersion'),
    expected: 'v1',
  },
  {
    what: 'a file of a projected volume',
    at: DEPLOYMENTS,
    object: withVolume({ projected: { sources: [{ downwardAPI: { items: [name] } }] } }),
    path: inPod('volumes[0].projected.sources[0].downwardAPI.items[0].fieldRef.apiVersion'),
    expected: 'v1',
  },
  {
    what: 'an iSCSI volume',
    at: DEPLOYMENTS,
    object: withVolume({ iscsi: { targetPortal: 'a', iqn: 'iqn.2001-04.com.example:x', lun: 0 } }),
    path: inPod('volumes[0].iscsi.iscsiInterface'),
    expected: 'default',
  },
  {
    what: 'a variable with a resource',
    at: DEPLOYMENTS,
    object: withContainer({
      env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
    }),
    path: inPod('containers[0].env[0].valueFrom.resourceFieldRef.divisor'),
    expected: '0',
  },
  {
    what: 'a probe by gRPC',
    at: DEPLOYMENTS,
    object: withContainer({ livenessProbe: { grpc: { port: 80 } } }),
    path: inPod('containers[0].livenessProbe.grpc'),
    expected: { port: 80, service: '' },
  },
  {
    what: 'a request before the container stops',
    at: DEPLOYMENTS,
    object: withContainer({ lifecycle: { preStop: { httpGet: { port: 80 } } } }),
    path: inPod('containers[0].lifecycle.preStop.httpGet'),
    expected: { path: '/', port: 80, scheme: 'HTTP' },
  },
  {
    what: 'a template of pods',
    at: ['v1', 'podtemplates'],
    object: { template: template() },
    path: 'template.spec.restartPolicy',
    expected: 'Always',
  },
  {
    what: 'a condition of a policy for failures',
    at: ['batch/v1', 'jobs'],
    object: {
      spec: {
        template: template({ restartPolicy: 'Never' }),
        podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'X' }] }] },
      },
    },
    path: 'spec.podFailurePolicy.rules[0].onPodConditions[0].status',
    expected: 'True',
  },
  {
    what: 'the behavior of an autoscaler',
    at: ['autoscaling/v2', 'horizontalpodautoscalers'],
    object: { spec: { ...scaled, behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } } },
    path: 'spec.behavior',
    expected: {
      scaleDown: { stabilizationWindowSeconds: 5, selectPolicy: 'Max', policies: [allAtOnce] },
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, allAtOnce],
      },
    },
  },
  {
    what: 'the parameters of an ingress class',
    at: ['networking.k8s.io/v1', '/ingressclasses'],
    object: { spec: { controller: 'x.io/y', parameters: { apiGroup: 'x.io', kind: 'X', name: 'x' } } },
    path: 'spec.parameters.scope',
    expected: 'Cluster',
  },
  {
    what: 'a CSI driver',
    at: ['storage.k8s.io/v1', '/csidrivers'],
    object: { spec: {} },
    path: 'spec',
    expected: {
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
    },
  },
  {
    what: 'the requests of an admission policy',
    at: ['admissionregistration.k8s.io/v1', '/validatingadmissionpolicies'],
    object: { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } },
    path: 'spec.matchConstraints',
    expected: {
      namespaceSelector: {},
      objectSelector: {},
      matchPolicy: 'Equivalent',
      resourceRules: [{ ...rule, scope: '*' }],
    },
  },
];

describe('the defaults of a built-in kind', () => {
  const s = useSubject();
  for (const { what, at, object, path, expected } of rows)
    it(`API-40: complete ${what}`, async () => {
      const [version, plural] = at;
      const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
      const place = plural.startsWith('/') ? plural : `/namespaces/default/${plural}`;
      const metadata = { name: 'defaults' };
      const { code, body } = await s.post(`${root}${place}?dryRun=All`, { ...object, metadata });
      expect(code, JSON.stringify(body)).to.equal(201);
      expect(body).to.have.deep.nested.property(path, expected);
    });
});
