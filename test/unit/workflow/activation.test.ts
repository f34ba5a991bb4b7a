/** Sources that are started with the first primary that needs them, and stopped after the last. */
import { expect } from 'chai';
import type { Source } from '../../../src/runtime/sources/sources.ts';
import type { View } from '../../../src/runtime/types.ts';
import { ActivationSources } from '../../../src/workflow/activation.ts';
import type { AnyDependent, CreatedSource, Setup } from '../../../src/workflow/dependent.ts';
import { widgets, type Widget } from '../runtime/support/world.ts';
import { primary } from './support.ts';

const other: View<Widget> = { ...primary, metadata: { ...primary.metadata, name: 'b' } };
const longer: View<Widget> = { ...primary, metadata: { ...primary.metadata, name: 'ab' } };
const setup: Setup<Widget> = {
  controller: { name: 'widgets', kind: widgets, fieldManager: 'widgets' },
  caches: {} as never,
  isSeparate: false,
};
const source = (name: string): Source<Widget> => ({
  name,
  stage: 'normal',
  attach: () => expect.fail('nothing is attached'),
});

/** Dependents with a source, and the events of the source. */
function stage() {
  const log: string[] = [];
  const present = new Set<string>();
  let refusal: Error | undefined;
  const reader = (name: string, from?: string): AnyDependent<Widget> => ({
    name,
    ...(from !== undefined && { source: from }),
    actual: () => Promise.resolve(undefined),
  });
  const maker = (name: string, from = 'cms', more: object = {}): AnyDependent<Widget> => ({
    ...reader(name, from),
    createSource({ isSeparate }): CreatedSource<Widget> {
      log.push(`make ${from}${isSeparate ? ' separate' : ''}`);
      return { source: source(from), release: () => void log.push(`release ${from}`) };
    },
    ...more,
  });
  const of = (...activated: readonly AnyDependent<Widget>[]) =>
    new ActivationSources<Widget>(setup, activated, () => ({
      hasSource: (name) => present.has(name),
      async addSource({ name }) {
        log.push(`add ${name}`);
        await Promise.resolve();
        if (refusal) throw refusal;
      },
      removeSource: (name) => void log.push(`remove ${name}`),
    }));
  return {
    log,
    present,
    reader,
    maker,
    of,
    fail: (error: Error | undefined) => {
      refusal = error;
    },
  };
}
const CREATED = ['make cms separate', 'add cms'];
const ENDED = ['remove cms', 'release cms'];

describe('the source of a node with an activation condition', () => {
  it('is created once for all primaries, and stopped after the last of them', async () => {
    const { log, maker, of } = stage();
    const use = maker('a');
    const sources = of(use);
    await sources.on(use, primary);
    await sources.on(use, primary);
    await sources.on(use, other);
    expect(log).to.deep.equal(CREATED);
    sources.off(use, primary);
    expect(log).to.deep.equal(CREATED);
    sources.off(use, other);
    expect(log).to.deep.equal([...CREATED, ...ENDED]);
  });

  it('is created again for the next primary', async () => {
    const { log, maker, of } = stage();
    const use = maker('a');
    const sources = of(use);
    await sources.on(use, primary);
    sources.off(use, primary);
    sources.off(use, primary);
    await sources.on(use, primary);
    expect(log).to.deep.equal([...CREATED, ...ENDED, ...CREATED]);
  });

  for (const [title, order] of [
    ['before', (a: unknown, b: unknown) => [a, b]],
    ['after', (a: unknown, b: unknown) => [b, a]],
  ] as const) {
    it(`is shared by nodes that name it, declared ${title} the one that creates it`, async () => {
      const { log, reader, maker, of } = stage();
      const [first, second] = [reader('first', 'cms'), maker('second')];
      const sources = of(...(order(first, second) as AnyDependent<Widget>[]));
      await sources.on(first, primary);
      await sources.on(second, primary);
      expect(log).to.deep.equal(CREATED);
      sources.off(second, primary);
      expect(log).to.deep.equal(CREATED);
      sources.off(first, primary);
      expect(log).to.deep.equal([...CREATED, ...ENDED]);
    });
  }

  it('is released for its primary, and for no other with the same prefix in its name', async () => {
    const { log, maker, of } = stage();
    const use = maker('a');
    const sources = of(use);
    await sources.on(use, primary);
    await sources.on(use, longer);
    sources.forget('ns/ab');
    expect(log).to.deep.equal(CREATED);
    sources.forget('ns/a');
    expect(log).to.deep.equal([...CREATED, ...ENDED]);
  });

  it("is the controller's if that has one of the name", async () => {
    const { log, present, maker, of } = stage();
    present.add('cms');
    const use = maker('a');
    const sources = of(use);
    await sources.on(use, primary);
    sources.off(use, primary);
    expect(log).to.deep.equal([]);
  });

  it('need not be released', async () => {
    const { log, maker, of } = stage();
    const use = maker('a', 'cms', { createSource: () => ({ source: source('cms') }) });
    const sources = of(use);
    await sources.on(use, primary);
    sources.off(use, primary);
    expect(log).to.deep.equal(['add cms', 'remove cms']);
  });

  it('is checked before it is added', async () => {
    const { log, maker, of } = stage();
    const check = (): void => {
      throw new Error('of another kind');
    };
    const use = maker('a', 'cms', { check });
    const error: unknown = await of(use)
      .on(use, primary)
      .catch((failure: unknown) => failure);
    expect(error).to.have.property('message', 'of another kind');
    expect(log).to.deep.equal(['make cms separate']);
  });

  it('is retried by the next primary after it failed to start', async () => {
    const { log, fail, maker, of } = stage();
    const use = maker('a');
    const sources = of(use);
    fail(new Error('forbidden'));
    const ends = await Promise.allSettled([sources.on(use, primary), sources.on(use, other)]);
    expect(ends.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(log).to.deep.equal([...CREATED, ...ENDED]);
    fail(undefined);
    await sources.on(use, other);
    expect(log).to.deep.equal([...CREATED, ...ENDED, ...CREATED]);
  });

  it('delays every primary until it is synced', async () => {
    const { maker } = stage();
    const use = maker('a');
    let start: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (start = resolve));
    const sources = new ActivationSources<Widget>(setup, [use], () => ({
      hasSource: () => false,
      addSource: () => started,
      removeSource: () => undefined,
    }));
    let done = 0;
    const both = [primary, other].map((p) => sources.on(use, p).then(() => void done++));
    await new Promise(setImmediate);
    expect(done).to.equal(0);
    start();
    await Promise.all(both);
    expect(done).to.equal(2);
  });

  it('does not exist for a node without a source, or whose source no node creates', async () => {
    const { log, reader, of } = stage();
    const none = reader('none');
    const unmade = reader('unmade', 'cms');
    const sources = of(none, unmade);
    for (const use of [none, unmade]) {
      await sources.on(use, primary);
      sources.off(use, primary);
    }
    sources.forget('ns/a');
    expect(log).to.deep.equal([]);
  });
});
