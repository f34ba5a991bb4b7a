/** Reads of dependents that bypass the caches. */
import { expect } from 'chai';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Key, Kind, Obj, Page, Query } from '../../../src/runtime/types.ts';
import { kubernetes } from '../../../src/workflow/kubernetes.ts';
import { readTogether } from '../../../src/workflow/live.ts';
import { addWorkflowController } from '../../../src/workflow/workflow-controller.ts';
import { settle } from '../../support/clock.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import {
  createWorld,
  doubling,
  nothing,
  parts,
  widget,
  widgets,
  type Part,
  type Widget,
  type World,
} from '../runtime/support/world.ts';

/** A cluster that records lists, too. */
class ListedCluster extends FakeCluster {
  readonly reads: string[] = [];
  refusal: Error | undefined;

  override get<T extends Obj>(kind: Kind<T>, key: Key, signal?: AbortSignal): Promise<T> {
    this.reads.push(`get ${key}`);
    return super.get(kind, key, signal);
  }

  override list<T extends Obj>(kind: Kind<T>, query: Query, signal?: AbortSignal): AsyncIterable<Page<T>> {
    this.reads.push(`list ${String(query.namespace)} ${String(query.labels)}`);
    if (this.refusal) throw this.refusal;
    return super.list(kind, query, signal);
  }
}

describe('dependents that are read live', () => {
  let world: World;
  let other: ListedCluster;
  beforeEach(() => {
    world = createWorld();
    other = new ListedCluster();
  });
  afterEach(() => world.end());

  const labelled = (name: string, selector?: string) =>
    kubernetes<Part, Widget>({
      name,
      kind: parts,
      ssa: false,
      gc: false,
      client: () => other,
      ...(selector !== undefined && { selector }),
      desired: ({ metadata, spec }) => ({
        metadata: { name: `${metadata.name}-${name}`, labels: { app: 'web' } },
        data: { size: String(spec?.size) },
      }),
    });
  const operate = (names: readonly string[], selector?: string) => {
    const errors: unknown[] = [];
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      retry: doubling,
      generation: 'off',
      syncPeriodMs: 0,
      workflow: { nodes: names.map((name) => ({ use: labelled(name, selector) })) },
      reconciler: {
        reconcile: () => Promise.resolve(nothing),
        onError: (_, __, error) => {
          errors.push(error);
          return Promise.resolve('default');
        },
      },
    });
    return errors;
  };
  const begin = async (): Promise<void> => {
    world.cluster.put(widgets, widget('A/1'));
    await world.start();
  };
  /** The reads of a reconcile in which everything exists. */
  const readsOfASecondRun = async (): Promise<string[]> => {
    other.reads.length = 0;
    world.cluster.edit(widgets, 'A/1', { metadata: { labels: { a: 'b' } } });
    await settle();
    return other.reads;
  };

  for (const [names, selector, expected] of [
    [['a'], 'app=web', ['get A/1-a']],
    [['a', 'b'], 'app=web', ['get A/1-a', 'get A/1-b']],
    [['a', 'b', 'c'], 'app=web', ['list A app=web']],
    [['a', 'b', 'c', 'd', 'e'], 'app=web', ['list A app=web']],
    [['a', 'b', 'c'], undefined, ['get A/1-a', 'get A/1-b', 'get A/1-c']],
  ] as const) {
    it(`${String(names.length)} ${selector ? 'with a label' : 'without one'} cost ${expected.join(' + ')}`, async () => {
      operate(names, selector);
      await begin();
      for (const name of names) expect(other.read(parts, `A/1-${name}`)?.data).to.deep.equal({ size: '1' });
      expect(await readsOfASecondRun()).to.deep.equal(expected);
    });
  }

  it('see changes since an earlier read in the same reconcile', async () => {
    const seen: (string | undefined)[] = [];
    const nodes = ['a', 'b', 'c'].map((name) => ({
      use: labelled(name, 'app=web'),
      ready: async (node: { actual(): Promise<unknown> }) => {
        seen.push(((await node.actual()) as Part | undefined)?.data?.['size']);
        return true;
      },
    }));
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      generation: 'off',
      syncPeriodMs: 0,
      workflow: { nodes },
      reconciler: { reconcile: () => Promise.resolve(nothing) },
    });
    await begin();
    world.cluster.edit(widgets, 'A/1', { spec: { size: 2 } });
    await settle();
    expect(seen).to.deep.equal(['1', '1', '1', '2', '2', '2']);
  });

  for (const [title, kindOf, namespaceOf, selectorOf, expected] of [
    [
      'of different kinds',
      (i: number) => ({ ...parts, kind: `Part${String(i)}` }),
      () => 'A',
      () => 'app=web',
      3,
    ],
    ['in different namespaces', () => parts, (i: number) => `N${String(i)}`, () => 'app=web', 3],
    ['with different labels', () => parts, () => 'A', (i: number) => `app=${String(i)}`, 3],
    ['of one kind', () => parts, () => 'A', () => 'app=web', 1],
  ] as const) {
    it(`${title} cost ${String(expected)} lists`, async () => {
      const how = {
        access: { live: other, write: () => expect.fail() },
        signal: new AbortController().signal,
      };
      const run = {};
      const looks = [0, 1, 2].flatMap((i) =>
        ['a', 'b', 'c'].map((name) => {
          const key = `${namespaceOf(i)}/${name}`;
          return readTogether({ kind: kindOf(i), key, selector: selectorOf(i) }, how, run);
        }),
      );
      await Promise.all(looks);
      expect(other.reads).to.have.length(expected);
    });
  }

  it('all fail if their list fails', async () => {
    const errors = operate(['a', 'b', 'c'], 'app=web');
    other.refusal = apiErrorFrom(403, {}, { verb: 'list', kind: 'Part' });
    await begin();
    expect(errors).to.have.length(1);
    expect(String(errors[0])).to.include('a').and.include('b').and.include('c');
    expect(other.writes).to.deep.equal([]);
  });
});
