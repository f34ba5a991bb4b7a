/** What the steps of an external resource leave in status, annotations and Secrets. */
import { expect } from 'chai';
import { Secret } from '../../../../src/runtime/core-kinds.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { OutcomeUnknown } from '../../../../src/runtime/external/index.ts';
import { createScene, made, NAME, type Bucket, type Scene } from './cloud.ts';

const mark = (name: string): string => `external.espalier.dev/${name}`;
const PLACE = { writeConnectionSecretToRef: { name: 'conn' } };

describe('the creation of an external resource', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  const annotation = (name: string) => scene.get()?.metadata.annotations?.[mark(name)];
  const begin = async (spec: Bucket['spec'] = { size: 1 }): Promise<void> => {
    scene.put(spec);
    await scene.start();
  };

  for (const error of [new OutcomeUnknown({ message: 'the connection broke' }), new Error('no quota')])
    it(`with a known name is repeated after "${error.message}"`, async () => {
      scene = createScene();
      scene.cloud.faults.create = error;
      await begin();
      expect(scene.condition('Failed')).to.deep.include({ reason: 'CreateFailed' });
      expect(annotation('create-failed')).to.equal('2026-01-01T00:00:00.000Z');
      delete scene.cloud.faults.create;
      await scene.world.clock.advance(60_000);
      expect(scene.cloud.calls.slice(0, 2)).to.deep.equal([`create ${NAME}`, `create ${NAME}`]);
      expect(scene.active()).to.deep.equal(['Ready']);
    });

  for (const [title, fault, name] of [
    ['succeeds', undefined, 'create-succeeded'],
    ['fails', new Error('no quota'), 'create-failed'],
  ] as const)
    it(`that ${title} while the clock is set back does not end before it began`, async () => {
      scene = createScene();
      const { clock } = scene.world;
      const wall = clock.wall.bind(clock);
      scene.cloud.initially = 'creating';
      if (fault) scene.cloud.faults.create = fault;
      scene.cloud.during = (step) => {
        if (step === 'create') clock.wall = () => wall() - 3_600_000;
      };
      await begin();
      expect(annotation(name)).to.equal(annotation('create-pending'));
    });

  it('shows nothing of the resource before: its state is unknown until it is observed', async () => {
    scene = createScene();
    const { cloud, world } = scene;
    cloud.things.set(NAME, { size: 1, state: 'ready' });
    scene.put({ size: 1 }, made(world.clock.wall()));
    await scene.start();
    expect(scene.get()?.status?.state).to.equal('ready');
    cloud.things.clear();
    cloud.faults.create = new Error('no quota');
    await world.clock.advance(600_000);
    expect(scene.get()?.status?.state).to.equal(undefined);
  });

  it('publishes the details that it returns before anything is observed', async () => {
    scene = createScene();
    const { cloud } = scene;
    cloud.created = { connectionDetails: { password: 'first' } };
    cloud.initially = 'creating';
    await begin({ size: 1, ...PLACE });
    expect(scene.secret('conn')?.data).to.deep.equal({ password: Buffer.from('first').toString('base64') });
    expect(scene.get()?.status?.id).to.equal(NAME);
  });

  it('fails if these cannot be published', async () => {
    scene = createScene();
    const { cloud, world } = scene;
    cloud.created = { connectionDetails: { password: 'first' } };
    world.cluster.fault = ({ verb, kind }) =>
      verb === 'create' && kind === 'Secret' ? apiErrorFrom(403, {}, { verb, kind }) : undefined;
    await begin({ size: 1, ...PLACE });
    const stored = world.cluster.requests.filter(({ sub }) => sub === 'status').map(({ body }) => body);
    expect(JSON.stringify(stored)).to.contain('PublishFailed');
  });
});

describe('an observed external resource', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  const begin = async (spec: Bucket['spec'], state: 'ready' | 'deleting' = 'ready'): Promise<void> => {
    scene = createScene();
    scene.cloud.things.set(NAME, { size: 9, state });
    scene.put(spec, made(scene.world.clock.wall()));
  };

  it('is not changed while its details cannot be published', async () => {
    await begin({ size: 1, ...PLACE });
    scene.cloud.details = { password: 'p' };
    scene.world.cluster.put(Secret, { metadata: { namespace: 'A', name: 'conn' }, data: {} });
    await scene.start();
    expect(scene.condition('Failed')?.reason).to.equal('PublishFailed');
    expect(scene.cloud.calls).to.deep.equal([]);
  });

  it('is not changed while the service deletes it', async () => {
    await begin({ size: 1 }, 'deleting');
    await scene.start();
    expect(scene.cloud.calls).to.deep.equal([]);
  });

  it('that is gone, and may not be created, has no state', async () => {
    await begin({ size: 9, managementPolicies: ['Observe'] });
    await scene.start();
    expect(scene.get()?.status?.state).to.equal('ready');
    scene.cloud.things.clear();
    await scene.world.clock.advance(600_000);
    expect(scene.cloud.calls).to.deep.equal([]);
    expect(scene.get()?.status?.state).to.equal(undefined);
  });
});
