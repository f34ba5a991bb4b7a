import { expect } from 'chai';
import { assigned, OutcomeUnknown, type Recovered } from '../../../../src/runtime/external/index.ts';
import { checkRecovered } from '../../../../src/runtime/external/check-answers.ts';
import { settle } from '../../../support/clock.ts';
import { buckets, createScene, FINALIZER, KEY, type Bucket, type Scene } from './cloud.ts';

const mark = (name: string): string => `external.espalier.dev/${name}`;

/** The clock of the tests starts at midnight. */
const HOUR_AGO = '2025-12-31T23:00:00.000Z';
const SECONDS_AGO = '2025-12-31T23:59:50.000Z';

describe('RUN-112: a handler that looks for what an interrupted creation created', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());

  /** What the handler was asked, and its answer. */
  let asked: string[];
  let answer: Recovered | Error;
  const prepare = (startedAt: string | undefined, spec: Parameters<typeof createScene>[0] = {}): void => {
    scene = createScene({ names: assigned, ...spec });
    asked = [];
    answer = { created: false };
    Object.assign(scene.cloud, {
      recover: (object: Bucket, begunAt: string): Promise<Recovered> => {
        asked.push(`${object.metadata.name} ${begunAt}`);
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    });
    scene.cloud.created = { externalName: 'i-2' };
    if (startedAt === undefined) scene.put();
    else
      scene.put(
        { size: 1 },
        { finalizers: [FINALIZER], annotations: { [mark('create-pending')]: startedAt } },
      );
  };
  const remove = (): void => {
    scene.world.cluster.remove(buckets, KEY);
  };
  const annotation = (name: string): string | undefined => scene.get()?.metadata.annotations?.[mark(name)];

  it('takes over the resource that it finds, and creates nothing', async () => {
    prepare(HOUR_AGO);
    scene.cloud.things.set('i-1', { size: 1, state: 'ready' });
    answer = { created: true, externalName: 'i-1' };
    await scene.start();
    expect(asked).to.deep.equal([`1 ${HOUR_AGO}`]);
    expect(scene.cloud.calls).to.deep.equal([]);
    expect([annotation('name'), scene.get()?.status?.id]).to.deep.equal(['i-1', 'i-1']);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('lets the resource be created if it finds none', async () => {
    prepare(HOUR_AGO);
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal(['create ']);
    expect(annotation('name')).to.equal('i-2');
    expect(asked).to.deep.equal([`1 ${HOUR_AGO}`]);
  });

  it('is asked again while the resource may not be visible yet', async () => {
    prepare(SECONDS_AGO, { createGraceMs: 30_000 });
    await scene.start();
    expect(asked).to.not.deep.equal([]);
    expect(scene.cloud.calls).to.deep.equal([]);
    await scene.world.clock.advance(19_999);
    expect(scene.cloud.calls).to.deep.equal([]);
    answer = { created: true, externalName: 'i-1' };
    scene.cloud.things.set('i-1', { size: 1, state: 'ready' });
    await scene.world.clock.advance(1);
    expect([scene.cloud.calls, annotation('name')]).to.deep.equal([[], 'i-1']);
  });

  it('is not waited for if the clock was wrong when the creation began', async () => {
    prepare('2026-06-01T00:00:00.000Z', { createGraceMs: 30_000 });
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal(['create ']);
  });

  it('is asked again after an error, and nothing is created meanwhile', async () => {
    prepare(HOUR_AGO);
    answer = new Error('the service is down');
    await scene.start();
    expect(scene.condition('Failed')).to.include({ reason: 'RecoverFailed', message: 'the service is down' });
    expect(scene.cloud.calls).to.deep.equal([]);
    answer = { created: false };
    await scene.world.clock.advance(60_000);
    expect(scene.cloud.calls).to.deep.equal(['create ']);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('is asked after a creation whose outcome is unknown', async () => {
    prepare(undefined);
    scene.cloud.faults.create = new OutcomeUnknown({ message: 'the connection broke' });
    scene.cloud.things.set('i-1', { size: 1, state: 'ready' });
    answer = { created: true, externalName: 'i-1' };
    await scene.start();
    await scene.world.clock.advance(60_000);
    const events = scene.world.cluster.requests.filter(({ kind }) => kind === 'Event');
    expect(JSON.stringify(events)).to.include('CreationInterrupted').and.include('the connection broke');
    expect([scene.cloud.calls, annotation('name')]).to.deep.equal([['create '], 'i-1']);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('lets a deletion delete what it finds', async () => {
    prepare(HOUR_AGO);
    scene.cloud.things.set('i-1', { size: 1, state: 'ready' });
    answer = { created: true, externalName: 'i-1' };
    remove();
    await scene.start();
    await scene.world.clock.advance(120_000);
    expect(scene.cloud.calls[0]).to.equal('delete i-1');
    expect([scene.cloud.things.size, scene.get()]).to.deep.equal([0, undefined]);
  });

  it('lets a deletion end if there is nothing to delete', async () => {
    prepare(HOUR_AGO);
    remove();
    await scene.start();
    await settle();
    expect([scene.cloud.calls, scene.get()]).to.deep.equal([[], undefined]);
  });

  it('is asked through a change log, too', async () => {
    const records: unknown[] = [];
    prepare(HOUR_AGO, { changeLog: (record) => records.push(record) });
    scene.cloud.things.set('i-1', { size: 1, state: 'ready' });
    answer = { created: true, externalName: 'i-1' };
    await scene.start();
    expect([annotation('name'), records]).to.deep.equal(['i-1', []]);
  });

  it('is not asked if names are known beforehand', async () => {
    scene = createScene();
    asked = [];
    Object.assign(scene.cloud, { recover: () => asked.push('asked') });
    scene.put({ size: 1 }, { finalizers: [FINALIZER], annotations: { [mark('create-pending')]: HOUR_AGO } });
    await scene.start();
    expect([asked, scene.active()]).to.deep.equal([[], ['Ready']]);
  });

  for (const [title, value] of [
    ['nothing', undefined],
    ['an object without `created`', {}],
    ['a resource without name', { created: true }],
    ['a resource with an empty name', { created: true, externalName: '' }],
  ] as const)
    it(`may not answer ${title}`, () => {
      scene = createScene();
      expect(() => checkRecovered(value as never)).to.throw(TypeError, /recover/);
    });
});
