import { expect } from 'chai';
import { byController } from '../../../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../../../src/runtime/sources/sources.ts';
import type { ControllerSpec } from '../../../../src/runtime/controller/controller.ts';
import type { Context, UpdateControl, Write } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import {
  createWorld,
  nothing,
  parts,
  widget,
  widgets,
  type Part,
  type Widget,
  type World,
} from '../support/world.ts';

const owned = {
  metadata: {
    namespace: 'A',
    name: 'p',
    ownerReferences: [{ apiVersion: 'example.io/v1', kind: 'Widget', name: '1', uid: 'u', controller: true }],
  },
  data: { n: '0' },
};

describe('a write that says what its event does', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
    world.cluster.put(widgets, widget('A/1'));
    world.cluster.put(parts, owned);
  });
  afterEach(() => world.end());

  /** Number of reconciles of a controller whose first reconcile writes. */
  const reconcilesAfter = async (
    first: (ctx: Context<Widget>) => Promise<UpdateControl<Widget>>,
    spec: Partial<ControllerSpec<Widget>> = {},
  ): Promise<number> => {
    const source = watchSource({ cache: world.caches.of(parts), toPrimary: byController(widgets) });
    let n = 0;
    world.control((_, ctx) => (++n === 1 ? first(ctx) : Promise.resolve(nothing)), {
      sources: [source],
      ...spec,
    });
    await world.start();
    await settle();
    return n;
  };
  const writing =
    (echo?: Write['echo']) =>
    async (ctx: Context<Widget>): Promise<UpdateControl<Widget>> => {
      await ctx.write<Part>({
        verb: 'merge',
        kind: parts,
        key: 'A/p',
        body: { data: { n: '1' } },
        ...(echo && { echo }),
      });
      return nothing;
    };
  const updating =
    (echo?: Write['echo']) =>
    (ctx: Context<Widget>): Promise<UpdateControl<Widget>> =>
      Promise.resolve({
        write: 'status',
        object: { ...ctx.draft(), status: { phase: 'Done' } },
        ...(echo && { echo }),
      });

  it('causes no reconcile by default', async () => {
    expect(await reconcilesAfter(writing())).to.equal(1);
  });
  it('causes one reconcile with "reconcile"', async () => {
    expect(await reconcilesAfter(writing('reconcile'))).to.equal(2);
  });
  it('causes none with "ignore", in a controller that receives its own events', async () => {
    expect(await reconcilesAfter(writing('ignore'), { ownEvents: 'deliver' })).to.equal(1);
  });
  it('causes one in a controller that receives its own events', async () => {
    expect(await reconcilesAfter(writing(), { ownEvents: 'deliver' })).to.equal(2);
  });
  it('can be the status that a reconcile returns', async () => {
    expect(await reconcilesAfter(updating())).to.equal(1);
  });
  it('can be the status that a reconcile returns, with "reconcile"', async () => {
    expect(await reconcilesAfter(updating('reconcile'))).to.equal(2);
  });
  it('is subject to the filters, like events of others', async () => {
    expect(await reconcilesAfter(updating('reconcile'), { generation: 'memory' })).to.equal(1);
  });

  it('hides no write of another client', async () => {
    const runs = await reconcilesAfter(
      async (ctx) => {
        const control = await writing('ignore')(ctx);
        world.cluster.edit(parts, 'A/p', { data: { other: 'x' } });
        return control;
      },
      { ownEvents: 'deliver' },
    );
    expect(runs).to.equal(2);
    world.cluster.edit(parts, 'A/p', { data: { other: 'y' } });
    await settle();
    expect(world.runs).to.have.length(3);
  });
});
