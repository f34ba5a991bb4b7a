/** Schemas of the spec and of the attributes of an external resource. */
import { expect } from 'chai';
import { z } from 'zod';
import { MAX_FINDINGS } from '../../../../src/lib/findings.ts';
import { NoRetryError } from '../../../../src/runtime/errors.ts';
import { schemaProblem, type Schema } from '../../../../src/runtime/external/check-schema.ts';
import { externalResource, type ExternalSpec } from '../../../../src/runtime/external/controller.ts';
import type { Context, Writer } from '../../../../src/runtime/types.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { noChance } from '../support/world.ts';
import { buckets, createScene, made, NAME, type Bucket, type Scene } from './cloud.ts';

const schema = z.object({ size: z.int().max(9), tier: z.enum(['hot', 'cold']).exactOptional() });
const TOO_BIG = 'spec.size: Too big: expected number to be <=9';

describe('a problem that a schema finds', () => {
  const rows: readonly (readonly [string, z.ZodType, unknown, string | undefined])[] = [
    ['nothing', schema, { size: 1 }, undefined],
    ['nothing in fields that it does not mention', schema, { size: 1, reclaimPolicy: 'Retain' }, undefined],
    ['a value', schema, { size: 10 }, TOO_BIG],
    [
      'two values',
      schema,
      { size: 'x', tier: 'warm' },
      'spec.size: Invalid input: expected number, received string; spec.tier: Invalid option: expected one of "hot"|"cold"',
    ],
    [
      'a value in a list',
      z.object({ rules: z.array(z.object({ port: z.int() })) }),
      { rules: [{ port: 1 }, {}] },
      'spec.rules[1].port: Invalid input: expected number, received undefined',
    ],
    ['that there is no spec', schema, undefined, 'spec: Invalid input: expected object, received undefined'],
  ];
  for (const [what, of, value, problem] of rows)
    it(`is ${what}`, () => {
      expect(schemaProblem(of, value, 'spec')).to.equal(problem);
    });

  it('is listed among a limited number', () => {
    const list = (length: number) => schemaProblem(z.array(z.int()), Array(length).fill('x'), 'spec');
    expect(list(MAX_FINDINGS))
      .to.contain(`spec[${MAX_FINDINGS - 1}]`)
      .and.not.contain('Only');
    expect(list(MAX_FINDINGS + 1))
      .to.contain(`Only the first ${MAX_FINDINGS}`)
      .and.not.contain(`spec[${MAX_FINDINGS}]`);
  });
});

describe('an external resource with a schema', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());
  const begin = async (
    spec: Partial<ExternalSpec<Bucket>>,
    wanted: Bucket['spec'],
    isMade = false,
    metadata: Partial<Bucket['metadata']> = {},
  ): Promise<void> => {
    scene = createScene(spec);
    if (isMade) scene.cloud.things.set(NAME, { size: 1, state: 'ready' });
    scene.put(wanted, { ...(isMade && made(scene.world.clock.wall())), ...metadata });
    await scene.start();
  };
  const touched = () => [scene.cloud.connects, scene.cloud.looks.length, scene.cloud.calls.length];

  it('of its spec is handled as usual if the spec is valid', async () => {
    await begin({ specSchema: schema }, { size: 9 });
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(scene.active()).to.not.include('Failed');
  });

  it('of its spec fails, and is not retried, until the spec is valid', async () => {
    let applied = 0;
    const specSchema: Schema<Bucket['spec']> = {
      safeParse(value) {
        applied++;
        return schema.safeParse(value);
      },
    };
    await begin({ specSchema }, { size: 10 });
    const before = applied;
    await scene.world.clock.advance(3_600_000);
    expect(applied).to.equal(before);
    for (const type of ['Failed', 'Synced'])
      expect(scene.condition(type)).to.deep.include({ reason: 'InvalidSpec', message: TOO_BIG });
    expect(scene.active()).to.deep.equal(['Failed']);
    expect(touched()).to.deep.equal([0, 0, 0]);
    expect(scene.writes()).to.have.length(1);

    await scene.edit({ spec: { size: 9 } });
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(scene.active()).to.not.include('Failed');
  });

  it('of its spec is not observed or changed after an invalid change', async () => {
    await begin({ specSchema: schema }, { size: 1 }, true);
    expect(scene.active()).to.deep.equal(['Ready']);
    const before = touched();
    await scene.edit({ spec: { size: 10 } });
    await scene.world.clock.advance(3_600_000);
    expect(touched()).to.deep.equal(before);
    expect(scene.active()).to.deep.equal(['Ready', 'Failed']);
  });

  it('of its spec can be deleted although the spec is invalid', async () => {
    await begin({ specSchema: schema }, { size: 10 }, true, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(scene.cloud.calls).to.deep.equal([`delete ${NAME}`]);
  });

  it('of its spec may be paused, whatever is in it', async () => {
    await begin({ specSchema: schema }, { size: 10, managementPolicies: [] });
    expect(scene.active()).to.deep.equal(['Paused']);
  });

  it('of its spec is checked after initializers have set fields', async () => {
    const initializers = [() => ({ spec: { tier: 'hot' } })];
    await begin({ specSchema: schema.required(), initializers }, { size: 1 });
    expect(scene.active()).to.not.include('Failed');
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
  });

  it('of its spec gives the spec to the handler as it is stored', async () => {
    const withDefault = z.object({ size: z.int(), tier: z.string().default('hot') });
    scene = createScene({ specSchema: withDefault });
    const seen: Bucket['spec'][] = [];
    scene.cloud.during = (_, { spec }) => void seen.push(spec);
    scene.put({ size: 1, reclaimPolicy: 'Retain' });
    await scene.start();
    expect(seen[0]).to.deep.equal({ size: 1, reclaimPolicy: 'Retain' });
  });

  it('that cannot be applied shows why, and is retried', async () => {
    let applied = 0;
    const broken: Schema<Bucket['spec']> = {
      safeParse() {
        applied++;
        throw new Error('a rule of the schema failed');
      },
    };
    await begin({ specSchema: broken }, { size: 1 });
    expect(scene.condition('Failed')).to.deep.include({
      reason: 'InvalidSpec',
      message: 'a rule of the schema failed',
    });
    const before = applied;
    await scene.world.clock.advance(5_000);
    expect(applied).to.be.above(before);
    expect(touched()).to.deep.equal([0, 0, 0]);
  });

  it('of its spec is checked as well if steps are called one by one', async () => {
    scene = createScene();
    const { world, cloud } = scene;
    const { cluster, caches, clock } = world;
    const resource = externalResource<Bucket>(
      { name: 'by-hand', kind: buckets, connector: cloud, specSchema: schema },
      { client: cluster, caches, clock, rng: noChance },
    );
    const object = cluster.put(buckets, { metadata: { namespace: 'A', name: '2' }, spec: { size: 10 } });
    const write: Writer = (each, signal) => cluster.send(each, signal);
    const { signal } = new AbortController();
    const ctx = { key: 'A/2', signal, log: silentLogger, write, event() {} };
    const { error } = await resource.sync(object, cloud, ctx as unknown as Context<Bucket>);
    expect(error).to.be.instanceOf(NoRetryError).with.property('message', TOO_BIG);
    expect(touched()).to.deep.equal([0, 0, 0]);
  });

  const attributesSchema = z.object({ region: z.string() });
  const MISSING = 'observe returned invalid attributes: attributes';
  const answers: readonly (readonly [string, (() => Record<string, unknown>) | undefined, string])[] = [
    [
      'other attributes',
      () => ({ region: 7 }),
      `${MISSING}.region: Invalid input: expected string, received number`,
    ],
    ['no attributes', undefined, `${MISSING}: Invalid input: expected object, received undefined`],
  ];
  for (const [title, attributes, message] of answers)
    it(`of its attributes is not changed if the service reports ${title}, and observed again`, async () => {
      scene = createScene({ attributesSchema });
      const { cloud, world } = scene;
      cloud.things.set(NAME, { size: 1, state: 'ready' });
      cloud.attributes = attributes;
      scene.put({ size: 2 }, made(world.clock.wall()));
      await scene.start();
      expect(scene.condition('Failed')).to.deep.include({ reason: 'ObserveFailed', message });
      expect(cloud.calls).to.deep.equal([]);
      expect(scene.get()?.status).to.not.have.property('attributes');

      cloud.attributes = () => ({ region: 'eu' });
      await world.clock.advance(1_000);
      expect(cloud.calls).to.deep.equal([`update ${NAME}`]);
      expect(scene.get()?.status?.attributes).to.deep.equal({ region: 'eu' });
    });

  it('of its attributes is created if it does not exist', async () => {
    await begin({ attributesSchema }, { size: 1 });
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
  });

  it('of its attributes can be deleted, whatever the service reports', async () => {
    await begin({ attributesSchema }, { size: 1 }, true, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(scene.cloud.calls).to.deep.equal([`delete ${NAME}`]);
  });
});
