/** The object that is sent as a replacement. */
import { expect } from 'chai';
import { copy } from '../../../src/lib/json.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { replacement } from '../../../src/workflow/replace.ts';

type Any = Obj & Record<string, unknown>;
const object = (kind: string, metadata: object, more: object = {}): Any => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', ...metadata },
  ...more,
});
const stored = (metadata: object, more: object = {}, kind = 'Thing') =>
  object(kind, { uid: 'u', resourceVersion: '7', ...metadata }, more);
const owner = (name: string) => ({ apiVersion: 'v1', kind: 'Owner', name, uid: name });

describe('the metadata of a replacement', () => {
  const rows: [string, object, object, object][] = [
    ['keeps uid and version of the stored object', {}, { uid: 'x', resourceVersion: '1' }, {}],
    ['keeps labels that are not in the desired object', { labels: { a: '1' } }, {}, { labels: { a: '1' } }],
    [
      'prefers desired labels to stored ones',
      { labels: { a: '1', b: '1' } },
      { labels: { b: '2', c: '2' } },
      { labels: { a: '1', b: '2', c: '2' } },
    ],
    ['uses desired labels if none are stored', {}, { labels: { a: '1' } }, { labels: { a: '1' } }],
    [
      'merges annotations in the same way',
      { annotations: { a: '1', b: '1' } },
      { annotations: { b: '2' } },
      { annotations: { a: '1', b: '2' } },
    ],
    ['keeps stored finalizers', { finalizers: ['theirs'] }, {}, { finalizers: ['theirs'] }],
    ['uses desired finalizers', { finalizers: ['theirs'] }, { finalizers: [] }, { finalizers: [] }],
    ['uses finalizers if none are stored', {}, { finalizers: ['ours'] }, { finalizers: ['ours'] }],
    ['keeps stored owners', { ownerReferences: [owner('x')] }, {}, { ownerReferences: [owner('x')] }],
    [
      'uses desired owners',
      { ownerReferences: [owner('x')] },
      { ownerReferences: [owner('y')] },
      { ownerReferences: [owner('y')] },
    ],
    ['keeps fields that the server has set', { creationTimestamp: 't' }, {}, { creationTimestamp: 't' }],
  ];
  for (const [title, actual, desired, expected] of rows) {
    it(title, () => {
      const { metadata } = replacement(stored(actual), object('Thing', desired));
      expect(metadata).to.deep.equal({ name: 'a', uid: 'u', resourceVersion: '7', ...expected });
    });
  }
});

it('a replacement that drops what others set has the desired labels and annotations only', () => {
  const theirs = { labels: { a: '1', b: '1' }, annotations: { c: '1' }, finalizers: ['theirs'] };
  const { metadata } = replacement(stored(theirs), object('Thing', { labels: { b: '2' } }), {
    dropsOthers: true,
  });
  expect(metadata).to.deep.equal({
    name: 'a',
    uid: 'u',
    resourceVersion: '7',
    labels: { b: '2' },
    finalizers: ['theirs'],
  });
});

describe('the body of a replacement', () => {
  const service = (spec: object | undefined) => object('Service', {}, spec && { spec });
  const rows: [string, Any, Any, object][] = [
    [
      'is the desired object, and nothing else that is stored',
      stored({}, { spec: { a: 1, b: 1 }, extra: 1 }),
      object('Thing', {}, { spec: { a: 2 } }),
      { spec: { a: 2 } },
    ],
    [
      'has the stored status',
      stored({}, { status: { a: 1 } }),
      object('Thing', {}, { status: { a: 2 } }),
      { status: { a: 1 } },
    ],
    [
      'keeps addresses that the server has allocated',
      stored(
        {},
        { spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], healthCheckNodePort: 30000 } },
        'Service',
      ),
      service({ ports: [] }),
      { spec: { ports: [], clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], healthCheckNodePort: 30000 } },
    ],
    [
      'has the desired address',
      stored({}, { spec: { clusterIP: '10.0.0.1' } }, 'Service'),
      service({ clusterIP: 'None' }),
      { spec: { clusterIP: 'None' } },
    ],
    ['gets no address if none is stored', stored({}, { spec: {} }, 'Service'), service({}), { spec: {} }],
    [
      'gets no spec if none is desired',
      stored({}, { spec: { clusterIP: '10.0.0.1' } }, 'Service'),
      service(undefined),
      {},
    ],
    [
      'keeps the volume of a claim',
      stored({}, { spec: { volumeName: 'pv' } }, 'PersistentVolumeClaim'),
      object('PersistentVolumeClaim', {}, { spec: {} }),
      { spec: { volumeName: 'pv' } },
    ],
    [
      'keeps no such field of other kinds',
      stored({}, { spec: { clusterIP: '10.0.0.1', volumeName: 'pv' } }),
      object('Thing', {}, { spec: {} }),
      { spec: {} },
    ],
  ];
  for (const [title, actual, desired, expected] of rows) {
    it(title, () => {
      const { apiVersion: _a, kind: _k, metadata: _m, ...body } = replacement(actual, desired);
      expect(body).to.deep.equal(expected);
    });
  }

  it('shares nothing with its inputs', () => {
    const actual = stored({ labels: { a: '1' } }, { spec: { clusterIPs: ['10.0.0.1'] } }, 'Service');
    const desired = object('Service', {}, { spec: { ports: [{ port: 1 }] } });
    const before = copy([actual, desired]);
    const made = replacement(actual, desired) as Any & {
      spec: { clusterIPs: string[]; ports: { port: number }[] };
    };
    made.spec.clusterIPs.push('x');
    made.spec.ports[0] = { port: 2 };
    expect([actual, desired]).to.deep.equal(before);
  });
});
