/** What the journal observes of a job while it runs, and which ended jobs it keeps until they are recorded. */
import { expect } from 'chai';
import { importsOf } from '../../../../controllers/journal/imports.ts';
import { JobObserver } from '../../../../controllers/journal/observer.ts';
import type { Installation } from '../../../../src/api/kinds/installation.ts';
import { dataObjectKind } from '../../../../src/api/kinds/dataobject.ts';
import { targetKind } from '../../../../src/api/kinds/target.ts';
import type { Kind, Obj } from '../../../../src/runtime/types.ts';
import { child, installation } from '../../../support/given.ts';
import { tell, worldOf } from '../../../support/static-world.ts';

const stored = (kind: Kind<never> | Kind, name: string, generation?: number): Obj => ({
  apiVersion: 'v1',
  kind: kind.kind,
  metadata: { name, namespace: 'demo', uid: `uid-${name}`, ...(generation && { generation }) },
});
type Status = NonNullable<Installation['status']>;
const IMPORTS = { data: [{ name: 'in', dataRef: 'size' }] };

/** Reports the states of a root to an observer, one after the other. */
function observed(...states: Partial<Status>[]) {
  const world = worldOf(stored(dataObjectKind, 'size', 4));
  const observer = new JobObserver(world);
  const objects = states.map((status) => installation('web', { status, spec: { imports: IMPORTS } }));
  objects.slice(1).forEach((obj, i) => {
    tell(world.installations, { type: 'update', old: objects[i]!, obj, isOwn: true } as never);
  });
  return { world, observer, ended: observer.endedOf('demo/web') };
}
const finished = (id: string, more: Partial<Status> = {}): Partial<Status> => ({
  jobID: id,
  jobIDFinished: id,
  phase: 'Succeeded',
  ...more,
});

describe('the observation of a job', () => {
  const read = { imports: [{ name: 'in', kind: 'DataObject', object: 'size', version: 'uid-size/4' }] };
  const before = finished('i', { importsHash: 'h1' });
  const starts = { ...before, jobID: 'j' };
  const cases: readonly [string, readonly Partial<Status>[], object][] = [
    [
      'knows the job before, the imports when the job read them, and that they did not change',
      [before, starts, { ...starts, phase: 'Progressing' }, finished('j', { importsHash: 'h1' })],
      { previousJobID: 'i', importsChanged: false, ...read },
    ],
    [
      'knows that the imports changed',
      [before, starts, { ...starts, importsHash: 'h2' }, finished('j', { importsHash: 'h2' })],
      { previousJobID: 'i', importsChanged: true, ...read },
    ],
    [
      'has no job before the first one, and nothing to compare imports with',
      [{}, { jobID: 'j' }, finished('j', { importsHash: 'h1' })],
      read,
    ],
    [
      'does not compare with imports that the job did not read',
      [before, starts, finished('j', { importsHash: undefined })],
      { previousJobID: 'i', ...read },
    ],
    [
      'is empty if only the end of the job was seen',
      [{ jobID: 'j', phase: 'Progressing' }, finished('j', { importsHash: 'h1' })],
      {},
    ],
  ];
  for (const [title, states, expected] of cases)
    it(title, () => {
      const { ended } = observed(...states);
      expect(ended.map(([jobID, end]) => [jobID, end.observed])).to.deep.equal([['j', expected]]);
      expect(ended[0]?.[1].root.status?.jobIDFinished).to.equal('j');
    });

  const noEnds: readonly [string, readonly Partial<Status>[]][] = [
    ['is already running another job', [{ jobID: 'j' }, { jobID: 'k', jobIDFinished: 'j' }]],
    ['ended before', [finished('j'), finished('j', { observedGeneration: 2 })]],
    ['lost its status', [finished('j'), {}]],
  ];
  for (const [title, states] of noEnds)
    it(`has no end of a job whose root ${title}`, () => {
      expect(observed(...states).ended).to.deep.equal([]);
    });

  it('keeps the imports of the first change of phase or hash, although the spec changes afterwards', () => {
    const world = worldOf();
    const observer = new JobObserver(world);
    const importing = (dataRef: string, status: Partial<Status>) =>
      installation('web', { status, spec: { imports: { data: [{ name: 'in', dataRef }] } } });
    const states = [
      importing('a', finished('i')),
      importing('a', { ...finished('i'), jobID: 'j' }),
      importing('b', { ...finished('i'), jobID: 'j' }),
      importing('c', { ...finished('i'), jobID: 'j', phase: 'Progressing' }),
      importing('d', { ...finished('i'), jobID: 'j', phase: 'Completing' }),
      importing('e', finished('j')),
    ];
    states.slice(1).forEach((obj, i) => {
      tell(world.installations, { type: 'update', old: states[i]!, obj } as never);
    });
    const [[, end] = []] = observer.endedOf('demo/web');
    expect(end?.observed.imports?.map(({ object }) => object)).to.deep.equal(['c']);
  });

  it('does not concern sub-installations, and not a root that is only added', () => {
    const { world, observer } = observed();
    const sub = (id: string) => child('web', 'sub', finished(id));
    tell(world.installations, { type: 'update', old: sub('i'), obj: sub('j') } as never);
    const added = { type: 'add', obj: installation('web', { status: finished('j') }) };
    tell(world.installations, added as never);
    expect([...observer.endedOf('demo/sub-x'), ...observer.endedOf('demo/web')]).to.deep.equal([]);
  });
});

describe('ended jobs that are not recorded yet', () => {
  const four = ['a', 'b', 'c', 'd'].map((id) => finished(id));
  const ids = (observer: JobObserver) => observer.endedOf('demo/web').map(([id]) => id);

  it('are kept in their order, the last three of them', () => {
    expect(ids(observed({}, ...four.slice(0, 2)).observer)).to.deep.equal(['a', 'b']);
    expect(ids(observed({}, ...four).observer)).to.deep.equal(['b', 'c', 'd']);
  });

  it('are dropped when they are recorded, without what is known of the next job', () => {
    const next = { ...finished('d'), jobID: 'e' };
    const { world, observer } = observed({}, ...four, next);
    for (const id of ['c', 'unknown']) observer.recorded('demo/web', id);
    observer.recorded('demo/other', 'd');
    expect(ids(observer)).to.deep.equal(['b', 'd']);
    const change = {
      old: installation('web', { status: next }),
      obj: installation('web', { status: finished('e') }),
    };
    tell(world.installations, { type: 'update', ...change } as never);
    expect(observer.endedOf('demo/web').at(-1)?.[1].observed).to.include({ previousJobID: 'd' });
  });

  it('are dropped with the root', () => {
    const { world, observer } = observed({}, ...four);
    tell(world.installations, { type: 'delete', obj: installation('web') } as never);
    expect(ids(observer)).to.deep.equal([]);
  });
});

describe('the imports in a record', () => {
  const world = worldOf(stored(dataObjectKind, 'size', 4), stored(targetKind, 'here', 2), {
    ...stored(targetKind, 'old'),
  });
  const imports = (spec: object) => importsOf(installation('web', { spec: { imports: spec } }), world);
  const named = (kind: string, object: string, version?: string) => ({
    name: 'in',
    kind,
    object,
    ...(version && { version }),
  });
  const rows: readonly [string, object, readonly object[]][] = [
    ['no imports', {}, []],
    [
      'a data object',
      { data: [{ name: 'in', dataRef: 'size' }] },
      [named('DataObject', 'size', 'uid-size/4')],
    ],
    ['a data object that is missing', { data: [{ name: 'in', dataRef: 'x' }] }, [named('DataObject', 'x')]],
    ['a secret', { data: [{ name: 'in', secretRef: { name: 's', key: 'k' } }] }, [named('Secret', 's')]],
    [
      'a config map',
      { data: [{ name: 'in', configMapRef: { name: 'c', key: 'k' } }] },
      [named('ConfigMap', 'c')],
    ],
    ['data without a reference', { data: [{ name: 'in' }] }, []],
    ['a target', { targets: [{ name: 'in', target: 'here' }] }, [named('Target', 'here', 'uid-here/2')]],
    [
      'a target without generation',
      { targets: [{ name: 'in', target: 'old' }] },
      [named('Target', 'old', 'uid-old/0')],
    ],
    [
      'lists and maps of targets',
      {
        targets: [
          { name: 'in', targets: ['here', 'x'] },
          { name: 'in', targetMap: { k: 'old' } },
        ],
      },
      [named('Target', 'here', 'uid-here/2'), named('Target', 'x'), named('Target', 'old', 'uid-old/0')],
    ],
    [
      'data before targets',
      { data: [{ name: 'in', dataRef: 'x' }], targets: [{ name: 'in', target: 'x' }] },
      [named('DataObject', 'x'), named('Target', 'x')],
    ],
  ];
  for (const [title, spec, expected] of rows)
    it(`show ${title}`, () => {
      expect(imports(spec)).to.deep.equal(expected);
    });
});
