import { expect } from 'chai';
import fc from 'fast-check';
import { buildDag, looseDag } from '../../../src/workflow/dag.ts';
import { plan, type NodeState, type Policy } from '../../../src/workflow/plan.ts';

const chain = buildDag([
  { name: 'a' },
  { name: 'b', dependsOn: ['a'] },
  { name: 'c', dependsOn: ['a', 'b'] },
]);
const finished: Policy = { gate: 'finished', failFast: true };
const states =
  (s: Record<string, NodeState>) =>
  (name: string): NodeState =>
    s[name] ?? 'idle';

describe('a graph', () => {
  const rows: [string, () => unknown, RegExp][] = [
    ['a name that appears twice', () => buildDag([{ name: 'a' }, { name: 'a' }]), /"a" is declared twice/],
    [
      'an edge to an unknown node',
      () => buildDag([{ name: 'a', dependsOn: ['z'] }]),
      /"a" depends on "z", which does not exist/,
    ],
    [
      'a cycle, with all its names',
      () =>
        buildDag([
          { name: 'a', dependsOn: ['b'] },
          { name: 'b', dependsOn: ['c'] },
          { name: 'c', dependsOn: ['a'] },
        ]),
      /a -> b -> c -> a/,
    ],
    ['a node that depends on itself', () => buildDag([{ name: 'a', dependsOn: ['a'] }]), /a -> a/],
  ];
  for (const [what, build, message] of rows) {
    it(`rejects ${what}`, () => {
      expect(build).to.throw(message);
    });
  }
});

describe('a plan', () => {
  const rows: {
    title: string;
    state: Record<string, NodeState>;
    policy?: Policy;
    expected: Partial<ReturnType<typeof plan>>;
  }[] = [
    {
      title: 'starts nodes without dependencies',
      state: {},
      expected: { start: ['a'], blocked: ['b', 'c'] },
    },
    {
      title: 'starts a node when all its dependencies have finished',
      state: { a: 'ready' },
      expected: { start: ['b'], blocked: ['c'] },
    },
    {
      title: 'waits for running nodes',
      state: { a: 'ready', b: 'running' },
      expected: { start: [], running: ['b'], blocked: ['c'], settled: false },
    },
    {
      title: 'starts nothing after a failure in fail-fast mode',
      state: { a: 'failed' },
      expected: { start: [], blocked: ['b', 'c'], settled: true },
    },
    {
      title: 'continues after a failure if dependencies may end in any way',
      state: { a: 'failed' },
      policy: { gate: 'finished', failFast: false },
      expected: { start: ['b'] },
    },
    {
      title: 'does not continue after a node that is done but not ready, if success is required',
      state: { a: 'unready' },
      policy: { gate: 'ready', failFast: false },
      expected: { start: [], blocked: ['b', 'c'] },
    },
    {
      title: 'deletes in reverse order',
      state: { a: 'doomed', b: 'doomed', c: 'doomed' },
      expected: { remove: ['c'], blocked: ['a', 'b'] },
    },
    {
      title: 'deletes the next when the last is gone',
      state: { a: 'doomed', b: 'doomed', c: 'removed' },
      expected: { remove: ['b'], blocked: ['a'] },
    },
    {
      title: 'is finished when everything is done',
      state: { a: 'ready', b: 'ready', c: 'ready' },
      expected: { start: [], remove: [], running: [], blocked: [], settled: true },
    },
  ];
  for (const { title, state, policy = finished, expected } of rows) {
    it(title, () => {
      expect(plan(chain, states(state), policy)).to.deep.include(expected);
    });
  }

  it('never starts a node before all its dependencies, whatever the graph', () => {
    const graph = fc.array(fc.array(fc.nat(7), { maxLength: 4 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(graph, (edges) => {
        const nodes = edges.map((on, i) => ({
          name: String(i),
          dependsOn: [...new Set(on.filter((j) => j < i).map(String))],
        }));
        const dag = looseDag(nodes);
        const state: Record<string, NodeState> = {};
        for (let round = 0; round <= nodes.length; round++) {
          for (const name of plan(dag, states(state), finished).start) {
            for (const other of dag.dependencies(name)) expect(state[other]).to.equal('ready');
          }
          for (const name of plan(dag, states(state), finished).start) state[name] = 'ready';
        }
        expect(Object.keys(state)).to.have.length(nodes.length);
      }),
    );
  });
});
