import { expect } from 'chai';
import { humanDuration } from '../../../src/apiserver/tables/human-duration.ts';
import { crdPrinter, printerOf, toTable } from '../../../src/apiserver/tables/table.ts';
import type { KubeObject } from '../../../src/apiserver/types.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const created = '2026-01-31T11:57:27Z';

const cells = (group: string, object: KubeObject): unknown[] =>
  printerOf(group, object.kind).cells(object, NOW);
const object = (kind: string, more: object): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'x', creationTimestamp: created },
  ...more,
});

describe('the age of an object', () => {
  const [minute, hour, day, year] = [60, 3600, 86_400, 365 * 86_400];
  const rows: [number, string][] = [
    [-2, '<invalid>'],
    [-0.5, '0s'],
    [113, '113s'],
    [2 * minute + 33, '2m33s'],
    [5 * minute, '5m'],
    [19 * minute, '19m'],
    [3 * hour + 5 * minute, '3h5m'],
    [30 * hour, '30h'],
    [2 * day + 3 * hour, '2d3h'],
    [400 * day, '400d'],
    [3 * year + 20 * day, '3y20d'],
    [9 * year, '9y'],
  ];
  for (const [seconds, text] of rows) {
    it(`of ${seconds} s prints as ${text}`, () => {
      expect(humanDuration(seconds * 1000)).to.equal(text);
    });
  }
});

describe('a table', () => {
  const columns = [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Num', type: 'integer', jsonPath: '.spec.num', priority: 1 },
    { name: 'Since', type: 'date', jsonPath: '.spec.since' },
    { name: 'Map', type: 'string', jsonPath: '.spec.map' },
    { name: 'Flag', type: 'boolean', jsonPath: '.spec.flag' },
  ];
  const widget = object('Widget', { spec: { num: 3.9, since: created, map: { a: 1 }, flag: 'x' } });

  it('API-164: of a custom kind has its columns, with null for values that are missing or of another type', () => {
    const printer = crdPrinter(columns);
    expect(printer.columns.map(({ name, priority }) => [name, priority])).to.deep.equal([
      ['Name', 0],
      ['Phase', 0],
      ['Num', 1],
      ['Since', 0],
      ['Map', 0],
      ['Flag', 0],
    ]);
    expect(printer.cells(widget, NOW)).to.deep.equal(['x', null, 3, '2m33s', '{"a":1}', null]);
  });
  it('of a custom kind without columns shows the age', () => {
    expect(crdPrinter(undefined).cells(widget, NOW)).to.deep.equal(['x', '2m33s']);
  });
  it('API-15: includes metadata, all or nothing of the objects', () => {
    const row = (includeObject: 'None' | 'Metadata' | 'Object'): unknown =>
      toTable(printerOf('', 'ConfigMap'), [object('ConfigMap', {})], { nowMs: NOW, includeObject }).rows?.[0]
        ?.object;
    expect(row('Metadata')).to.deep.equal({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'x', creationTimestamp: created },
    });
    expect(row('Object')).to.have.property('kind', 'ConfigMap');
    expect(row('None')).to.equal(null);
  });
  it('has null rows for an empty list of a built-in kind', () => {
    expect(toTable(printerOf('', 'Pod'), [], { nowMs: NOW, nullWhenEmpty: true }).rows).to.equal(null);
  });
});

describe('the row of', () => {
  const container = { name: 'c', image: 'i' };
  const template = { spec: { containers: [container] } };
  const rows: [string, string, KubeObject, unknown[]][] = [
    ['a namespace', '', object('Namespace', { status: { phase: 'Active' } }), ['x', 'Active', '2m33s']],
    ['a config map', '', object('ConfigMap', { data: { a: '' }, binaryData: { b: '' } }), ['x', 2, '2m33s']],
    ['a secret', '', object('Secret', { type: 'Opaque', data: { a: '' } }), ['x', 'Opaque', 1, '2m33s']],
    [
      'a service',
      '',
      object('Service', {
        spec: {
          type: 'NodePort',
          clusterIPs: ['10.0.0.1'],
          ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
        },
      }),
      ['x', 'NodePort', '10.0.0.1', '<none>', '80:30080/TCP', '2m33s', '<none>'],
    ],
    [
      'a deployment',
      'apps',
      object('Deployment', {
        spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template },
        status: { readyReplicas: 1 },
      }),
      ['x', '1/2', 0, 0, '2m33s', 'c', 'i', 'a=b'],
    ],
    [
      'a finished job',
      'batch',
      object('Job', {
        spec: { completions: 1, template },
        status: {
          succeeded: 1,
          startTime: created,
          completionTime: '2026-01-31T11:57:37Z',
          conditions: [{ type: 'Complete', status: 'True' }],
        },
      }),
      ['x', 'Complete', '1/1', '10s', '2m33s', 'c', 'i', '<none>'],
    ],
    [
      'a waiting pod',
      '',
      object('Pod', {
        spec: { containers: [container] },
        status: {
          phase: 'Pending',
          containerStatuses: [
            { name: 'c', restartCount: 0, state: { waiting: { reason: 'ImagePullBackOff' } } },
          ],
        },
      }),
      ['x', '0/1', 'ImagePullBackOff', '0', '2m33s', '<none>', '<none>', '<none>', '<none>'],
    ],
    [
      'a pod that was restarted',
      '',
      object('Pod', {
        spec: { containers: [container], nodeName: 'n' },
        status: {
          phase: 'Running',
          podIPs: [{ ip: '10.1.1.1' }],
          containerStatuses: [
            {
              name: 'c',
              ready: true,
              restartCount: 2,
              state: { running: {} },
              lastState: { terminated: { finishedAt: '2026-01-31T11:59:00Z' } },
            },
          ],
        },
      }),
      ['x', '1/1', 'Running', '2 (60s ago)', '2m33s', '10.1.1.1', 'n', '<none>', '<none>'],
    ],
    [
      'an event',
      '',
      object('Event', {
        involvedObject: { kind: 'Pod', name: 'p' },
        type: 'Warning',
        reason: 'Bad',
        message: ' it is ',
        lastTimestamp: created,
        count: 2,
        source: { component: 'k', host: 'h' },
      }),
      ['2m33s', 'Warning', 'Bad', 'pod/p', '', 'k, h', 'it is', '<unknown>', 2, 'x'],
    ],
    [
      'a role binding',
      'rbac.authorization.k8s.io',
      object('RoleBinding', {
        roleRef: { kind: 'Role', name: 'r1' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's', namespace: 'n' },
        ],
      }),
      ['x', 'Role/r1', '2m33s', 'u', '', 'n/s'],
    ],
    ['a role', 'rbac.authorization.k8s.io', object('Role', {}), ['x', created]],
    ['any other kind', 'apps', object('Unheard', {}), ['x', '2m33s']],
  ];
  for (const [title, group, value, wanted] of rows) {
    it(title, () => {
      expect(cells(group, value)).to.deep.equal(wanted);
      expect(printerOf(group, value.kind).columns).to.have.length(wanted.length);
    });
  }
});
