/** A controller and another client that change one field back and forth. */
import { expect } from 'chai';
import type { ControllerSpec } from '../../../../src/runtime/controller/spec.ts';
import { fieldPath, managerOf } from '../../../../src/runtime/controller/fight.ts';
import { byLabel } from '../../../../src/runtime/sources/mappers.ts';
import { watchSource } from '../../../../src/runtime/sources/sources.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';
import { settle } from '../../../support/clock.ts';
import { createWorld, nothing, parts, widget, widgets, type Part, type Widget } from '../support/world.ts';

const part = (value: string): Part => ({
  apiVersion: 'example.io/v1',
  kind: 'Part',
  metadata: { namespace: 'A', name: 'p', labels: { widget: '1' } },
  data: { value },
});

/** A controller that applies a part without a version, and another client that answers each write with `rival`. */
function stage(rival?: (written: Part) => object | undefined, more: Partial<ControllerSpec<Widget>> = {}) {
  const { log, lines } = recordingLogger();
  const world = createWorld({ log });
  let generation = 0;
  const source = watchSource<Part, Widget>({
    name: 'parts',
    cache: world.caches.of(parts),
    toPrimary: byLabel({ name: 'widget' }),
  });
  const spec: Partial<ControllerSpec<Widget>> = { sources: [source], ...more };
  world.control(async (primary, ctx) => {
    const found = ctx.secondary(parts);
    const value = String(primary.spec?.size);
    generation++;
    if (found?.data?.['value'] === value) return nothing;
    await ctx.write({ verb: 'apply', kind: parts, object: part(value), manager: 'widgets', force: true });
    const patch = rival?.(world.cluster.read(parts, 'A/p') as Part);
    if (patch) world.cluster.edit(parts, 'A/p', patch);
    return nothing;
  }, spec);
  world.cluster.put(widgets, widget('A/1'));
  return { world, lines, reconciles: () => generation };
}
const warning = 'another client reverts a field, reconciles are delayed';

describe('a controller whose writes another client reverts', () => {
  const reverting = () => {
    const managedFields = [
      { manager: 'widgets', fieldsV1: {} },
      { manager: 'autoscaler', fieldsV1: { 'f:data': { 'f:value': {} } } },
    ];
    return stage(() => ({ data: { value: 'theirs' }, metadata: { managedFields } }));
  };

  it('is slowed down more and more, and goes on', async () => {
    const { world, reconciles } = reverting();
    await world.start();
    const atOnce = reconciles();
    expect(atOnce).to.be.lessThan(10);
    await world.clock.advance(7_000);
    expect(reconciles() - atOnce).to.equal(3);
    await world.clock.advance(600_000);
    const total = reconciles();
    expect(total).to.be.lessThan(25);
    await world.clock.advance(120_000);
    expect(reconciles()).to.be.greaterThan(total);
    await world.end();
  });

  it('reports the field and the other field manager once', async () => {
    const { world, lines } = reverting();
    await world.start();
    await world.clock.advance(60_000);
    const warnings = lines.filter(({ message }) => message === warning);
    expect(warnings.map(({ fields }) => fields)).to.deep.equal([
      {
        controller: 'widgets',
        key: 'A/1',
        object: 'Part A/p',
        field: 'data.value',
        manager: 'autoscaler',
      },
    ]);
    const events = JSON.stringify(world.cluster.requests.filter(({ kind }) => kind === 'Event'));
    expect(events).to.include('FieldConflict').and.include('data.value').and.include('autoscaler');
    await world.end();
  });

  it('reconciles a new generation of its primary at once', async () => {
    const { world, reconciles } = reverting();
    await world.start();
    await world.clock.advance(60_000);
    const before = reconciles();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(reconciles()).to.be.greaterThan(before);
    await world.end();
  });

  it('is not slowed down if its definition says that it ignores fights', async () => {
    let count = 0;
    const revert = () => (count++ < 20 ? { data: { value: 'theirs' } } : undefined);
    const { world, lines, reconciles } = stage(revert, { fights: 'ignore' });
    await world.start();
    await settle();
    expect(reconciles()).to.be.greaterThan(20);
    expect(lines.map(({ message }) => message)).to.not.include(warning);
    await world.end();
  });

  it('is not slowed down if the other client changes other fields', async () => {
    let count = 0;
    const { world, lines, reconciles } = stage(() =>
      count++ < 20 ? { metadata: { labels: { n: String(count) } } } : undefined,
    );
    await world.start();
    expect(reconciles()).to.be.lessThan(5);
    expect(lines.map(({ message }) => message)).to.not.include(warning);
    await world.end();
  });
});

it('a controller that applies without a version does not reconcile for its own writes', async () => {
  const { world, reconciles } = stage();
  await world.start();
  expect(reconciles()).to.equal(1);
  world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
  await settle();
  expect(reconciles()).to.equal(2);
  await world.end();
});

describe('a field in a report', () => {
  it('is written as a path', () => {
    expect(fieldPath(['spec', 'replicas'])).to.equal('spec.replicas');
    expect(fieldPath(['metadata', 'labels', 'a.b/c'])).to.equal('metadata.labels["a.b/c"]');
  });

  it('has the last other manager, or none', () => {
    const fieldsV1 = { 'f:data': { 'f:value': {} } };
    const managedFields = [
      { manager: 'new', time: '2026-01-02T00:00:00Z', fieldsV1 },
      { manager: 'old', time: '2026-01-01T00:00:00Z', fieldsV1 },
      { manager: 'me', time: '2026-01-03T00:00:00Z', fieldsV1 },
    ];
    const object = { ...part('x'), metadata: { name: 'p', managedFields } };
    expect(managerOf(object, ['data', 'value'], 'me')).to.equal('new');
    expect(managerOf(object, ['data', 'other'], 'me')).to.equal(undefined);
    expect(managerOf(part('x'), ['data', 'value'], 'me')).to.equal(undefined);
  });
});
