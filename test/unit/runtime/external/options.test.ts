import { expect } from 'chai';
import { DefinitionError, NoRetryError } from '../../../../src/runtime/errors.ts';
import { crossplanePolicySets, type ChangeRecord } from '../../../../src/runtime/external/index.ts';
import type { ExternalSpec } from '../../../../src/runtime/external/controller.ts';
import { settle } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { createWorld } from '../support/world.ts';
import { buckets, createScene, KEY, made, NAME, type Bucket, type Scene } from './cloud.ts';

describe('an option of external resources', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  /** A controller, and an object whose resource exists and is up to date, or as `size` says. */
  const begin = async (
    spec: Partial<ExternalSpec<Bucket>>,
    { size = 1, ...more }: { size?: number; wanted?: Bucket['spec'] } = {},
  ): Promise<void> => {
    scene = createScene(spec);
    scene.cloud.things.set(NAME, { size, state: 'ready' });
    scene.put({ size: 1, ...more.wanted }, made(scene.world.clock.wall()));
    await scene.start();
  };
  const looks = (): number => scene.cloud.looks.length;

  it('says how long a created resource may be invisible', async () => {
    scene = createScene({ createGraceMs: 120_000 });
    scene.put();
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
    scene.cloud.things.clear();
    await scene.world.clock.advance(115_000);
    expect(scene.cloud.calls).to.have.length(1);
    await scene.world.clock.advance(10_000);
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`, `create ${NAME}`]);
  });

  it('computes the poll interval from the object and its observation', async () => {
    const pollMs = ({ status, spec }: { status?: { state?: string }; spec?: { size?: number } }) =>
      status?.state === 'failed' ? 20_000 : (spec?.size ?? 0) * 100_000;
    await begin({ pollMs });
    const first = looks();
    await scene.world.clock.advance(99_000);
    expect(looks()).to.equal(first);
    scene.cloud.things.set(NAME, { size: 1, state: 'failed' });
    await scene.world.clock.advance(1_000);
    const second = looks();
    expect(second).to.be.greaterThan(first);
    await scene.world.clock.advance(20_000);
    expect(looks()).to.equal(second + 1);
  });

  it('gives a computed poll interval a minimum', async () => {
    await begin({ pollMs: () => 1, minPollMs: 30_000 });
    const first = looks();
    await scene.world.clock.advance(29_000);
    expect(looks()).to.equal(first);
    await scene.world.clock.advance(1_000);
    expect(looks()).to.equal(first + 1);
  });

  it('says how much the poll interval varies', async () => {
    const rng = { next: () => 1 };
    scene = createScene({ pollMs: 100_000, pollJitter: 0.5 }, { rng });
    scene.cloud.things.set(NAME, { size: 1, state: 'ready' });
    scene.put({ size: 1 }, made(scene.world.clock.wall()));
    await scene.start();
    const first = looks();
    await scene.world.clock.advance(149_000);
    expect(looks()).to.equal(first);
    await scene.world.clock.advance(1_000);
    expect(looks()).to.equal(first + 1);
  });

  for (const [spec, message] of [
    [{ createGraceMs: -1 }, 'createGraceMs must not be negative'],
    [{ pollJitter: 1 }, 'pollJitter must be from 0 to below 1'],
  ] as const)
    it(`is refused: ${message}`, () => {
      scene = createScene();
      expect(() => createScene(spec)).to.throw(DefinitionError, `controller buckets: ${message}`);
    });

  describe('for sets of management policies', () => {
    it('lists those of Crossplane', () => {
      const sets = crossplanePolicySets.map((set) => [...set].sort().join(' '));
      expect(new Set(sets).size).to.equal(10);
      expect(sets).to.include.members([
        '',
        'Observe',
        'Create Observe',
        'Create Delete LateInitialize Observe Update',
      ]);
      expect(sets).not.to.include('Observe Update');
    });

    it('refuses other sets, and says which there are', async () => {
      const managementPolicies = ['Observe', 'Update'];
      await begin({ policySets: [['Observe'], ['Create', 'Observe']] }, { wanted: { managementPolicies } });
      expect(scene.condition('Failed')?.reason).to.equal('InvalidPolicy');
      expect(scene.condition('Failed')?.message).to.equal(
        'spec.managementPolicies is [Observe, Update], which this controller does not support; it can be ["*"], [Observe], [Create, Observe]',
      );
      expect(looks()).to.equal(0);
      await scene.edit({ spec: { managementPolicies: ['Observe', 'Create'] } });
      expect(scene.active()).to.deep.equal(['Ready']);
      await scene.edit({ spec: { managementPolicies: ['*'] } });
      expect(scene.active()).to.deep.equal(['Ready']);
    });
  });

  describe('for a change log', () => {
    it('records each step that changes the service, with its spec, its duration and its error', async () => {
      const records: ChangeRecord[] = [];
      scene = createScene({ changeLog: (record) => records.push(record) });
      scene.put({ size: 1 });
      await scene.start();
      scene.cloud.faults.update = new NoRetryError({ message: 'too big' });
      await scene.edit({ spec: { size: 2 } });
      await scene.world.clock.advance(30_000);
      delete scene.cloud.faults.update;
      scene.world.cluster.remove(buckets, KEY);
      await settle();
      // The condition that shows the failure is a change of the object, so the update is tried twice.
      const kept = records.filter(({ operation }, i) => operation !== records[i - 1]?.operation);
      expect(kept.map(({ at: _, uid: __, ...record }) => record)).to.deep.equal([
        { ...common, operation: 'create', spec: { size: 1 }, durationMs: 0 },
        { ...common, operation: 'update', spec: { size: 2 }, durationMs: 0, error: 'too big' },
        { ...common, operation: 'delete', spec: { size: 2 }, durationMs: 0 },
      ]);
      expect(records[0]?.uid).to.equal('uid-1');
      expect(records[0]?.at).to.equal('2026-01-01T00:00:00.000Z');
    });
    const common = { controller: 'buckets', kind: 'Bucket', key: KEY, name: NAME };

    it('disturbs nothing if it throws', async () => {
      const { log, lines } = recordingLogger();
      scene = createScene(
        {
          changeLog: () => {
            throw new Error('full');
          },
        },
        { world: createWorld({ log }) },
      );
      scene.put({ size: 1 });
      await scene.start();
      await scene.world.clock.advance(30_000);
      expect(scene.active()).to.deep.equal(['Ready']);
      expect(lines.map(({ message }) => message)).to.include('the change log failed');
    });
  });
});
