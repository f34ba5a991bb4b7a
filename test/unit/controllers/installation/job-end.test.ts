/** The status at the end of a job: which roots it starts, and which exports it no longer lists as its own. */
import { expect } from 'chai';
import { completeStatus } from '../../../../controllers/installation/job-end.ts';
import type { Inst, InstStatus } from '../../../../controllers/installation/related-objects.ts';
import { annotations, labels } from '../../../../src/api/labels.ts';
import { installationContext } from '../../../../src/dataflow/scope.ts';
import { importsHash } from '../../../../src/dataflow/imports-hash.ts';
import type { Obj, View } from '../../../../src/runtime/types.ts';
import { NOW, child, deleting, done, installation, running } from '../../../support/given.ts';
import { worldOf } from '../../../support/static-world.ts';
import { imports } from '../../dataflow/given.ts';
import { dataObject, lastErrorOf, target, trading } from './given.ts';

const LATER = '2026-01-01T01:00:00Z';
const producer = (spec: object = trading({ gives: ['a'] }), meta: object = {}): Inst =>
  installation('producer', { spec, meta, status: done('p1') });
const ended = (
  self: Inst,
  others: readonly View<Obj>[],
  status: InstStatus = { observedGeneration: 1, ...done('p1') },
  removed: string[] = [],
) => completeStatus({ world: worldOf(self, ...others), removed: new Set(removed) }, self, status);
const started = (self: Inst, ...others: readonly View<Obj>[]): readonly string[] =>
  ended(self, others).dependentsToTrigger?.map(({ name = '' }) => name) ?? [];
const consumer = (name = 'consumer', more: Parameters<typeof installation>[1] = {}): Inst =>
  installation(name, { spec: trading({ takes: ['a'] }), status: done('c1'), ...more });

describe('a root that succeeded', () => {
  it('starts the roots that import from it, and no others', () => {
    expect(
      started(
        producer(),
        consumer(),
        consumer('second'),
        consumer('other', { spec: trading({ takes: ['b'] }) }),
      ),
    ).to.deep.equal(['consumer', 'second']);
  });
  it('stores their names as upstream does', () => {
    expect(ended(producer(), [consumer()])).to.deep.equal({
      observedGeneration: 1,
      ...done('p1'),
      dependentsToTrigger: [{ name: 'consumer' }],
    });
  });
  it('starts none that waits for it', () => {
    expect(started(producer(), consumer('consumer', { status: running('c2', 'Init') }))).to.deep.equal([]);
  });
  it('starts one that has read its imports before', () => {
    expect(started(producer(), consumer('consumer', { status: running('c2') }))).to.deep.equal(['consumer']);
  });

  const quiet: readonly (readonly [title: string, Inst, InstStatus?])[] = [
    ['if it failed', producer(), { observedGeneration: 1, ...done('p1', 'Failed') }],
    ['if it is being deleted', producer(undefined, deleting)],
    [
      'if its spec says that no sibling imports from it',
      producer({ ...trading({ gives: ['a'] }), optimization: { hasNoSiblingExports: true } }),
    ],
    ['if it exports nothing', producer({})],
  ];
  for (const [title, self, status] of quiet) {
    it(`starts none ${title}`, () => {
      expect(ended(self, [consumer()], status)).to.not.have.property('dependentsToTrigger');
    });
  }
  it('starts none below a parent: siblings react to the event', () => {
    const below = (template: string, spec: object): Inst => {
      const one = child('p', template, done('p1'));
      return { ...one, spec: { ...one.spec, ...spec } };
    };
    const self = below('a', trading({ gives: ['a'] }));
    expect(started(self, installation('p'), below('b', trading({ takes: ['a'] })))).to.deep.equal([]);
  });
});

describe('a root that starts only if an import has changed', () => {
  const copied = (name: string, spec: object, more: Record<string, string> = {}, job = 'c1') =>
    target(
      `copy-${name}`,
      {
        labels: {
          [labels.dataSource]: installationContext('consumer'),
          [labels.dataSourceType]: 'import',
          [labels.dataContext]: installationContext('consumer'),
          [labels.dataKey]: name,
          [labels.dataJobId]: job,
          ...more,
        },
      },
      { type: 't', ...spec },
    );
  const a = dataObject('a', { generation: 1 });
  const cluster = target('cluster', { generation: 1 }, { type: 't', config: 'x' });
  const takesBoth = {
    imports: { data: [{ name: 'a', dataRef: 'a' }], targets: [{ name: 'cluster', target: 'cluster' }] },
  };
  const hash = importsHash(imports({ data: { a: 1 }, targets: { cluster } }));
  const lazy = (
    status: object = {},
    { spec = takesBoth, meta = {} }: { spec?: object; meta?: object } = {},
  ): Inst =>
    installation('consumer', {
      spec,
      status: { ...done('c1'), importsHash: hash, ...status },
      meta: { annotations: { [annotations.startIfImportsChanged]: 'true' }, ...meta },
    });
  const copy = copied('cluster', { config: 'x' });
  const objects = [a, cluster, copy];

  it('is not started if none has', () => {
    expect(started(producer(), lazy(), ...objects)).to.deep.equal([]);
  });

  const rows: readonly (readonly [title: string, consumer: Inst, objects: readonly View<Obj>[]])[] = [
    ['it does not request that', lazy({}, { meta: { annotations: {} } }), objects],
    ['its last job failed', lazy({ phase: 'Failed' }), objects],
    ['its job is running', lazy({ jobID: 'c2' }), objects],
    [
      'its spec has changed',
      lazy({}, { meta: { generation: 2, annotations: { [annotations.startIfImportsChanged]: 'true' } } }),
      objects,
    ],
    ['it never read imports', lazy({ importsHash: undefined }), objects],
    ['the hash of its imports differs', lazy({ importsHash: 'x' }), objects],
    ['a value has changed', lazy(), [dataObject('a', { generation: 1 }, 2), cluster, copy]],
    ['an import is missing', lazy(), [cluster, copy]],
    [
      'the content of a target has changed, although the hash is the same',
      lazy(),
      [a, cluster, copied('cluster', { config: 'y' })],
    ],
    ['a copy is missing', lazy(), [a, cluster]],
    [
      'an apparent copy is an export',
      lazy(),
      [a, cluster, copied('cluster', { config: 'x' }, { [labels.dataSourceType]: 'export' })],
    ],
    [
      'it also imports from a secret, which is not read',
      lazy(
        {},
        {
          spec: {
            imports: {
              ...takesBoth.imports,
              data: [...takesBoth.imports.data, { name: 's', secretRef: { name: 's', key: 'k' } }],
            },
          },
        },
      ),
      objects,
    ],
    [
      'it also imports from a config map',
      lazy(
        {},
        {
          spec: {
            imports: {
              ...takesBoth.imports,
              data: [...takesBoth.imports.data, { name: 's', configMapRef: { name: 's', key: 'k' } }],
            },
          },
        },
      ),
      objects,
    ],
  ];
  for (const [title, self, given] of rows) {
    it(`is started if ${title}`, () => {
      expect(started(producer(), self, ...given)).to.deep.equal(['consumer']);
    });
  }

  it('is compared with the copies of all elements of lists and maps', () => {
    const b = target('b', { generation: 1 }, { type: 't', config: 'b' });
    const spec = {
      imports: {
        data: [{ name: 'a', dataRef: 'a' }],
        targets: [
          { name: 'list', targets: ['cluster', 'b'] },
          { name: 'map', targetMap: { x: 'cluster' } },
        ],
      },
    };
    const all = importsHash(
      imports({ data: { a: 1 }, targetLists: { list: [cluster, b] }, targetMaps: { map: { x: cluster } } }),
    );
    const self = lazy({ importsHash: all }, { spec });
    const copies = [
      { ...copied('list', { config: 'x' }, { [labels.dataIndex]: '0' }), n: 1 },
      copied('list', { config: 'b' }, { [labels.dataIndex]: '1' }),
      copied('map', { config: 'x' }, { [labels.dataTargetMapKey]: 'x' }),
    ].map((one, i) => ({ ...one, metadata: { ...one.metadata, name: `copy-${String(i)}` } }));
    expect(started(producer(), self, a, cluster, b, ...copies)).to.deep.equal([]);
    expect(started(producer(), self, a, cluster, b, ...copies.slice(1))).to.deep.equal(['consumer']);
    expect(started(producer(), self, a, cluster, b, ...copies.slice(0, 2))).to.deep.equal(['consumer']);
  });
});

describe('a failed job', () => {
  const times = { lastTransitionTime: NOW, lastUpdateTime: NOW };
  const claim = { type: 'CreateExports', status: 'True', reason: 'r', message: 'm', ...times };
  const failed: InstStatus = {
    observedGeneration: 1,
    ...done('p1', 'Failed'),
    ...lastErrorOf('it broke'),
    conditions: [claim],
    transitionTimes: { finishedTime: LATER },
  };
  const exported = (name: string) =>
    dataObject(name, {
      uid: `uid-${name}`,
      labels: { [labels.dataSource]: installationContext('producer'), [labels.dataSourceType]: 'export' },
    });
  const claims = (objects: readonly View<Obj>[], removed: string[] = []) =>
    ended(producer(), objects, failed, removed).conditions?.map((c) => [c.status, c.lastTransitionTime]);

  it('no longer lists exports as its own if there are none, from the time of its end', () => {
    expect(claims([])).to.deep.equal([['False', LATER]]);
    expect(claims([exported('x'), exported('y')], ['uid-x', 'uid-y'])).to.deep.equal([['False', LATER]]);
  });
  it('still lists those that are left', () => {
    expect(claims([exported('x'), exported('y')], ['uid-x'])).to.deep.equal([['True', NOW]]);
  });
  it('says what starts another one', () => {
    expect(ended(producer(), [], failed).lastError?.message).to.match(
      /^it broke\nno other job starts by itself/,
    );
  });
  it('ends even without times', () => {
    const { transitionTimes: _, ...rest } = failed;
    expect(ended(producer(), [], rest).phase).to.equal('Failed');
  });
});
