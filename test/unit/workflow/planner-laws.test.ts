/**
 * Compares the planner with a model that is as simple as possible, and every component that sorts objects with the
 * planner.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { dependencyOrder } from '../../../src/lib/graph.ts';
import { buildDag, type Dag, type DagNode } from '../../../src/workflow/dag.ts';
import { runGraph } from '../../../src/workflow/run-graph.ts';
import { plan, type NodeState, type Plan, type Policy } from '../../../src/workflow/plan.ts';
import { graphOf } from './support.ts';

const STATES: readonly NodeState[] = [
  ...(['idle', 'running', 'ready', 'unready'] as const),
  ...(['failed', 'doomed', 'removing', 'removed'] as const),
];
const POLICIES: readonly Policy[] = (['ready', 'finished'] as const).flatMap((gate) =>
  [false, true].map((failFast) => ({ gate, failFast })),
);
const policies = fc.constantFrom(...POLICIES);

/** Graphs without cycles: each node depends on some of those before it. */
const graphs = fc
  .array(fc.array(fc.nat(9), { maxLength: 4 }), { minLength: 1, maxLength: 10 })
  .map((edges): DagNode[] =>
    edges.map((on, i) => ({
      name: `n${String(i)}`,
      dependsOn: [...new Set(on.filter((j) => j < i).map((j) => `n${String(j)}`))],
    })),
  );
const withStates = graphs.chain((nodes) =>
  fc.tuple(
    fc.constant(nodes),
    fc.array(fc.constantFrom(...STATES), { minLength: nodes.length, maxLength: nodes.length }),
  ),
);

/** The expected plan, described for one node at a time in the words of the rules. */
function modelled(nodes: readonly DagNode[], states: readonly NodeState[], policy: Policy): Plan {
  const stateOf = (name: string): NodeState =>
    states[nodes.findIndex((node) => node.name === name)] ?? 'idle';
  const isHalted = policy.failFast && states.includes('failed');
  const isOpen = (is: NodeState): boolean =>
    is === 'ready' || (policy.gate === 'finished' && (is === 'unready' || is === 'failed'));
  const sort = ({ name, dependsOn = [] }: DagNode): keyof Plan | undefined => {
    const is = stateOf(name);
    if (is === 'running' || is === 'removing') return 'running';
    if (is === 'idle') return !isHalted && dependsOn.every((on) => isOpen(stateOf(on))) ? 'start' : 'blocked';
    if (is !== 'doomed') return undefined;
    const waiting = nodes.filter(
      (other) => other.dependsOn?.includes(name) && stateOf(other.name) !== 'removed',
    );
    return !isHalted && waiting.length === 0 ? 'remove' : 'blocked';
  };
  const named = (wanted: keyof Plan): string[] =>
    nodes.filter((node) => sort(node) === wanted).map(({ name }) => name);
  const [start, remove, running, blocked] = [
    named('start'),
    named('remove'),
    named('running'),
    named('blocked'),
  ];
  return { start, remove, running, blocked, settled: [...start, ...remove, ...running].length === 0 };
}

describe('the planner', () => {
  it('follows its rules, for any graph, state and policy', () => {
    fc.assert(
      fc.property(withStates, policies, ([nodes, states], policy) => {
        const at = new Map(nodes.map(({ name }, i) => [name, states[i] as NodeState]));
        const planned = plan(buildDag(nodes), (name) => at.get(name) ?? 'idle', policy);
        expect(planned).to.deep.equal(modelled(nodes, states, policy));
      }),
      { numRuns: 2_000 },
    );
  });

  it('puts every node into at most one list', () => {
    fc.assert(
      fc.property(withStates, policies, ([nodes, states], policy) => {
        const at = new Map(nodes.map(({ name }, i) => [name, states[i] as NodeState]));
        const { start, remove, running, blocked } = plan(
          buildDag(nodes),
          (name) => at.get(name) ?? 'idle',
          policy,
        );
        const placed = [...start, ...remove, ...running, ...blocked];
        expect(new Set(placed).size).to.equal(placed.length);
      }),
    );
  });
});

/** The waiting work that ends next is drawn, so that an interleaving is a list of numbers. */
class Ends {
  readonly #waiting: (() => void)[] = [];
  readonly #draws: readonly number[];
  #at = 0;

  constructor(draws: readonly number[]) {
    this.#draws = draws;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async runOut(): Promise<void> {
    for (;;) {
      for (let i = 0; i < 8; i++) await Promise.resolve();
      const draw = this.#draws[this.#at++ % this.#draws.length] ?? 0;
      const [end] = this.#waiting.splice(draw % Math.max(1, this.#waiting.length), 1);
      if (!end) return;
      end();
    }
  }
}

const draws = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 40 });
const OUTCOMES: readonly NodeState[] = ['ready', 'ready', 'ready', 'unready', 'failed', 'doomed', 'removed'];

async function driven(
  dag: Dag,
  how: { policy: Policy; limit: number; draws: readonly number[]; isRemoval?: boolean },
  watch: (event: { begins: string; states: ReadonlyMap<string, NodeState>; underWay: number }) => void,
): Promise<ReadonlyMap<string, NodeState>> {
  const ends = new Ends(how.draws);
  const states = new Map<string, NodeState>(how.isRemoval ? dag.nodes.map((node) => [node, 'doomed']) : []);
  let underWay = 0;
  const work = async (node: string, outcomes: readonly NodeState[]): Promise<NodeState> => {
    underWay++;
    watch({ begins: node, states, underWay });
    await ends.wait();
    underWay--;
    const drawn = how.draws[dag.nodes.indexOf(node) % how.draws.length] ?? 0;
    return outcomes[drawn % outcomes.length] ?? 'ready';
  };
  const ended = runGraph({
    dag,
    states,
    policy: how.policy,
    limit: how.limit,
    start: (node) => work(node, OUTCOMES),
    remove: (node) => work(node, ['removed', 'removed', 'removed', 'removing', 'failed']),
  });
  await Promise.all([ended, ends.runOut()]);
  return states;
}

describe('an executed plan', () => {
  it('starts no node before its dependencies, deletes none before its dependents, in any order of events', async () => {
    await fc.assert(
      fc.asyncProperty(
        graphs,
        policies,
        fc.integer({ min: 1, max: 4 }),
        draws,
        async (nodes, policy, limit, drawn) => {
          const dag = buildDag(nodes);
          const begun: string[] = [];
          const states = await driven(
            dag,
            { policy, limit, draws: drawn },
            ({ begins, states, underWay }) => {
              begun.push(begins);
              expect(underWay).to.be.at.most(limit);
              const stateOf = (node: string): NodeState => states.get(node) ?? 'idle';
              if (stateOf(begins) === 'removing') {
                for (const other of dag.dependents(begins)) expect(stateOf(other)).to.equal('removed');
                return;
              }
              const open = policy.gate === 'ready' ? ['ready'] : ['ready', 'unready', 'failed'];
              for (const other of dag.dependencies(begins)) expect(stateOf(other)).to.be.oneOf(open);
            },
          );
          // A node that turned out to be undesired is started once more, to be removed.
          for (const node of dag.nodes)
            expect(begun.filter((other) => other === node).length).to.be.at.most(2);
          // There is nothing left to do.
          const { start, remove } = plan(dag, (node) => states.get(node) ?? 'idle', policy);
          expect([...start, ...remove]).to.deep.equal([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('deletes a graph from its leaves, and stops where something stays', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, draws, async (nodes, drawn) => {
        const dag = buildDag(nodes);
        const how = {
          policy: { gate: 'ready', failFast: false },
          limit: 3,
          draws: drawn,
          isRemoval: true,
        } as const;
        const states = await driven(dag, how, ({ begins, states }) => {
          for (const other of dag.dependents(begins)) expect(states.get(other)).to.equal('removed');
        });
        for (const node of dag.nodes)
          if (states.get(node) === 'removed')
            for (const other of dag.dependents(node)) expect(states.get(other)).to.equal('removed');
      }),
      { numRuns: 300 },
    );
  });
});

describe('every component that sorts objects', () => {
  /** Nodes in waves: all whose dependencies are in earlier ones. */
  const waves = (nodes: readonly DagNode[]): string[][] => {
    const levels = new Map<string, number>();
    for (const { name, dependsOn = [] } of nodes)
      levels.set(name, Math.max(-1, ...dependsOn.map((on) => levels.get(on) ?? 0)) + 1);
    const result: string[][] = [];
    for (const [name, level] of levels) (result[level] ??= []).push(name);
    return result;
  };

  it('sorts siblings in the waves of the graph', () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        const { order, blocked } = dependencyOrder(new Map(nodes.map((n) => [n.name, n.dependsOn ?? []])));
        expect(order).to.deep.equal(waves(nodes).flat());
        expect(blocked).to.deep.equal([]);
      }),
    );
  });

  it('reconciles dependents in the waves of the graph, and deletes in reverse', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async (nodes) => {
        const plans = Object.fromEntries(
          nodes.map(({ name, dependsOn }) => [name, dependsOn ? { dependsOn } : {}]),
        );
        const graph = graphOf(plans);
        await graph.reconcile();
        const told = (op: string, wave: readonly string[]) =>
          [...wave]
            .map((node) => `${op} ${node}`)
            .sort()
            .join(' + ');
        expect(graph.story).to.deep.equal(waves(nodes).map((wave) => told('reconcile', wave)));
      }),
      { numRuns: 25 },
    );
  });

  const root = join(import.meta.dirname, '../../..');
  const sources = ['src', 'controllers', 'deployers'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((file) => join(folder, String(file)))
      .filter((file) => file.endsWith('.ts')),
  );
  const text = (file: string): string => readFileSync(join(root, file), 'utf8');

  for (const [who, file, uses] of [
    ['siblings', 'src/dataflow/siblings.ts', 'dependencyOrder('],
    ['graphs of names', 'src/lib/graph.ts', 'plan(dag'],
    ['executions', 'controllers/execution/classify.ts', 'plan(dag'],
    ['stages of manifests', 'deployers/objects/manifests/apply.ts', 'await runGraph('],
    ['deletion groups', 'deployers/objects/manifests/delete.ts', 'await runGraph('],
    ['workflows', 'src/workflow/workflow.ts', 'await runGraph('],
    ['the graph run', 'src/workflow/run-graph.ts', 'plan(dag'],
  ] as const) {
    it(`uses the planner: ${who}`, () => {
      expect(text(file)).to.include(uses);
    });
  }

  it('has no algorithm of its own', () => {
    const telltales = /in-?degree|topological|\bkahn|toposort|\bwaitsFor\b|for \(const \w+ of stages\b/i;
    const suspects = sources.filter((file) => telltales.test(text(file)));
    expect(suspects).to.deep.equal([]);
    expect(sources.length).to.be.greaterThan(500);
  });
});
