/** Objects of charts in forms that a server normalizes: they are no drift, and real changes are. */
import { expect } from 'chai';
import { isUnchangedOnCluster } from '../../../deployers/helm/drift.ts';
import type { KubeObject } from '../../../deployers/objects/manifests/model.ts';
import type { KubeAccess } from '../../../deployers/sdk/access.ts';
import type { Fields } from '../../../src/lib/objects.ts';
import { mergePatch } from '../../../src/lib/merge.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { createDiscovery } from '../../../src/runtime/transport/discovery.ts';
import { isRealServer } from '../../support/cluster.ts';
import { clientFor, startServer, type Server } from './servers.ts';

const deployment = (container: string, pod = ''): string =>
  `apiVersion: apps/v1
kind: Deployment
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {${pod}containers: [{name: m, image: m${container}}]}}}`;
const ofKind = (apiVersion: string, kind: string, spec: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nspec: ${spec}`;

/** The embedded server refuses empty strings where a real one sets its default. */
const REAL_ONLY: readonly (readonly [title: string, text: string])[] = [
  ['an empty string that has a default', deployment(', imagePullPolicy: ""')],
  ['an empty string of a pod', deployment('', 'restartPolicy: "", schedulerName: "", ')],
  [
    'a service with empty strings',
    ofKind(
      'v1',
      'Service',
      '{type: "", sessionAffinity: "", selector: {a: b}, ports: [{port: 80, protocol: "", targetPort: 0}]}',
    ),
  ],
];

const FORMS: readonly (readonly [title: string, text: string])[] = [
  [
    'a zero that has a default',
    deployment(', livenessProbe: {httpGet: {path: /, port: 80}, timeoutSeconds: 0, periodSeconds: 0}'),
  ],
  ['empty lists', deployment(', env: [], ports: []', 'tolerations: [], ')],
  [
    'quantities in other units',
    deployment(', resources: {limits: {cpu: 1000m, memory: 1024Mi}, requests: {cpu: 0.5, memory: 1e3}}'),
  ],
  [
    'a quantity that is not below requests or limits',
    deployment(', env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1000m}}}]'),
  ],
  [
    'an empty version of a reference to a field',
    deployment(', env: [{name: A, valueFrom: {fieldRef: {apiVersion: "", fieldPath: metadata.name}}}]'),
  ],
  [
    'a volume with an empty medium',
    deployment('', 'volumes: [{name: v, emptyDir: {sizeLimit: 1024Mi, medium: ""}}], '),
  ],
  [
    'limits of a namespace',
    ofKind('v1', 'LimitRange', '{limits: [{type: Container, default: {cpu: 1000m}, max: {cpu: 2000m}}]}'),
  ],
  ['a quota', ofKind('v1', 'ResourceQuota', '{hard: {pods: "4", requests.cpu: 1000m}}')],
  [
    'a claim',
    ofKind(
      'v1',
      'PersistentVolumeClaim',
      '{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}',
    ),
  ],
  [
    'an autoscaler',
    ofKind(
      'autoscaling/v2',
      'HorizontalPodAutoscaler',
      '{scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 1000m}}}]}',
    ),
  ],
];

describe('an object of a release on a server', () => {
  let server: Server;
  let access: KubeAccess;
  const { signal } = new AbortController();
  before(async function () {
    this.timeout(60_000);
    server = await startServer();
    const client = await clientFor(server, 'test');
    const discovery = createDiscovery(client);
    const kindOf = (apiVersion: string, kind: string) => discovery.kindOf(apiVersion, kind);
    access = { client, kindOf, close: () => client.close() };
  });
  after(async () => {
    await access.close();
    await server.close();
  });

  const create = async (text: string, name: string): Promise<KubeObject> => {
    const object = { ...(parseYaml(text) as object), metadata: { name } } as unknown as KubeObject;
    const kind = await access.kindOf(object.apiVersion, object.kind);
    const placed = { ...object, metadata: { name, namespace: 'default' } };
    await access.client.send({ verb: 'create', kind, object: placed }, signal);
    return object;
  };
  const isUnchanged = (object: KubeObject): Promise<boolean> =>
    isUnchangedOnCluster([object], 'default', access, signal);

  for (const [i, [title, text]] of [...FORMS, ...(isRealServer() ? REAL_ONLY : [])].entries())
    it(`is unchanged with ${title}, until another client changes it`, async () => {
      const object = await create(text, `o${String(i)}`);
      expect(await isUnchanged(object)).to.equal(true);
      const more = { metadata: { labels: { added: 'yes' } } };
      const changed = mergePatch(object as unknown as Fields, more) as unknown as KubeObject;
      expect(await isUnchanged(changed)).to.equal(false);
    });

  it('is changed if the server refuses to try', async () => {
    const object = await create(FORMS[0]?.[1] ?? '', 'refused');
    const other = mergePatch(object as unknown as Fields, {
      spec: { selector: { matchLabels: { c: 'd' } } },
    });
    expect(await isUnchanged(other as unknown as KubeObject)).to.equal(false);
  });
});
