import { expect } from 'chai';
import { partsOf, rowOf } from '../../../src/cli/console/items.ts';
import type { Part, Why } from '../../../src/cli/console/wire.ts';
import { treesOf } from '../../../src/cli/tree/tree.ts';
import { collected, execution, installation, item } from '../cli/given.ts';

type Objects = Parameters<typeof collected>;

/** The reasons of the parts that are not ready, by title and kind. */
const whys = (...objects: Objects): ReadonlyMap<string, Why> =>
  new Map(
    partsOf(treesOf(collected(...objects))[0]!).flatMap(({ kind, title, why }: Part) =>
      why ? [[`${kind} ${title}`, why] as const] : [],
    ),
  );

const withMeta = <T extends { metadata: object }>(object: T, metadata: object): T => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});

const LATER = '2026-01-01T00:05:00Z';

describe('the reason why an object is not ready', () => {
  it('is absent for a ready object', () => {
    expect(whys(installation('a', { phase: 'Succeeded' })).size).to.equal(0);
  });

  it('is the message of the object that failed, since the end of its job', () => {
    const objects = [
      installation('a', { phase: 'Failed' }),
      execution('a', { phase: 'Failed' }),
      item('i', {
        execution: 'a',
        template: 'db',
        phase: 'Failed',
        error: 'no space',
        started: LATER,
        ended: LATER,
      }),
    ] as const;
    const found = whys(...objects);
    expect(found.get('DeployItem db')).to.deep.equal({
      summary: 'no space',
      since: Date.parse(LATER),
      holders: [],
      next: ['After the fix, start a new job: espalier installations reconcile a -n proj'],
    });
    expect(found.get('Installation a')).to.deep.include({
      summary: 'An object below failed.',
      holders: [{ id: 'DeployItem/proj/i', text: 'DeployItem db, Failed' }],
    });
  });

  it('leads from a sibling that waits to the object below the other one', () => {
    const exports = { exports: { data: [{ name: 'x', dataRef: 'x' }] } };
    const imports = { imports: { data: [{ name: 'x', dataRef: 'x' }] } };
    const found = whys(
      installation('root', { phase: 'Progressing', subs: ['a', 'b'] }),
      installation('a', { parent: 'root', template: 'a', phase: 'Progressing', spec: exports }),
      installation('b', {
        parent: 'root',
        template: 'b',
        phase: 'Init',
        error: 'depending on installation "proj/a" which did not finish',
        reason: 'AllPredecessorsFinished',
        spec: imports,
      }),
    );
    expect(found.get('Installation b')?.summary).to.equal('Waits for a.');
    expect(found.get('Installation b')?.holders).to.deep.equal([
      { id: 'Installation/proj/a', text: 'Installation a, Progressing' },
    ]);
    expect(found.get('Installation b')?.next).to.deep.equal([
      'The job continues when these objects have finished.',
    ]);
  });

  it('names the children that a running object waits for', () => {
    const found = whys(
      installation('a', { phase: 'Progressing' }),
      execution('a', { phase: 'Progressing' }),
      item('i', { execution: 'a', template: 'db', phase: 'Progressing' }),
    );
    expect(found.get('Execution a')?.holders).to.deep.equal([
      { id: 'DeployItem/proj/i', text: 'DeployItem db, Progressing' },
    ]);
    expect(found.get('DeployItem db')?.next).to.deep.equal([
      'To end the running job: espalier installations interrupt a -n proj',
    ]);
  });

  it('names finalizers of other controllers during a deletion', () => {
    const found = whys(
      withMeta(installation('a', { phase: 'Deleting' }), {
        deletionTimestamp: LATER,
        finalizers: ['finalizer.landscaper.gardener.cloud', 'example.org/backup'],
      }),
    );
    expect(found.get('Installation a')?.holders).to.deep.equal([{ text: 'finalizer example.org/backup' }]);
    expect(found.get('Installation a')?.next.join()).to.contain('remove them: example.org/backup');
  });

  it('says how to start the first job', () => {
    const { status: _, ...root } = installation('a');
    const why = whys(root).get('Installation a');
    expect(why?.summary).to.equal('No job yet.');
    expect(why?.next).to.deep.equal(['To start a job: espalier installations reconcile a -n proj']);
  });

  it('lists at most 20 holders', () => {
    const names = Array.from({ length: 25 }, (_, i) => `s${String(i).padStart(2, '0')}`);
    const found = whys(
      installation('a', { phase: 'Failed', subs: names }),
      ...names.map((name) => installation(name, { parent: 'a', phase: 'Failed', error: 'x' })),
    );
    const holders = found.get('Installation a')?.holders ?? [];
    expect(holders).to.have.length(21);
    expect(holders.at(-1)).to.deep.equal({ text: 'and 5 more' });
  });
});

describe('the message of a landscape in the list', () => {
  const noteOf = (...objects: Objects): string => rowOf(treesOf(collected(...objects))[0]!).note;

  it('is that of the object which failed first', () => {
    expect(
      noteOf(
        installation('a', { phase: 'Failed', error: 'long story' }),
        execution('a', { phase: 'Failed', error: 'long story' }),
        item('i', { execution: 'a', template: 'db', phase: 'Failed', error: 'no space' }),
      ),
    ).to.equal('db: no space');
  });

  it('is the phase of that object if it gives no reason', () => {
    expect(
      noteOf(
        installation('a', { phase: 'Failed' }),
        execution('a', { phase: 'Failed' }),
        item('i', { execution: 'a', template: 'db', phase: 'Failed' }),
      ),
    ).to.equal('db: Failed');
  });

  it('is what a running object waits for', () => {
    expect(
      noteOf(
        installation('a', { phase: 'Progressing' }),
        execution('a', { phase: 'Progressing' }),
        item('i', {
          execution: 'a',
          template: 'db',
          phase: 'Progressing',
          waits: 'w',
          error: 'not ready yet',
        }),
      ),
    ).to.equal('db: not ready yet');
  });

  it('names the finalizers that hold a deletion whose job is done', () => {
    const metadata = { deletionTimestamp: LATER, finalizers: ['example.org/backup'] };
    const pending = { phase: 'Deleting', error: 'deletion of some sub objects pending' };
    expect(noteOf(withMeta(installation('a', pending), metadata))).to.equal(
      'the deletion waits for the finalizers of other controllers: example.org/backup',
    );
    const finalizers = ['finalizer.landscaper.gardener.cloud', 'example.org/backup'];
    expect(noteOf(withMeta(installation('a', pending), { ...metadata, finalizers }))).to.equal(
      'deletion of some sub objects pending',
    );
  });

  it('is empty for a ready landscape', () => {
    expect(noteOf(installation('a', { phase: 'Succeeded' }))).to.equal('');
  });
});

describe('the marks of a landscape in the list', () => {
  const marksOf = (phase: string): readonly string[] => {
    const root = withMeta(installation('a', { phase }), { deletionTimestamp: LATER });
    return rowOf(treesOf(collected(root))[0]!).marks;
  };

  it('say that it is being deleted, unless the phase does', () => {
    expect(marksOf('Progressing')).to.deep.equal(['being deleted']);
    expect(marksOf('Deleting')).to.deep.equal([]);
    expect(marksOf('DeleteFailed')).to.deep.equal([]);
  });
});
