/** Plans that are executed: defaults, failures, and nodes that are removed with another. */
import { expect } from 'chai';
import { chainDag, looseDag } from '../../../src/workflow/dag.ts';
import { runGraph, type GraphRun } from '../../../src/workflow/run-graph.ts';
import type { NodeState } from '../../../src/workflow/plan.ts';

const chain = chainDag(['a', 'b', 'c']);
const policy = { gate: 'ready', failFast: false } as const;
const all = (dag: GraphRun['dag'], state: NodeState) => new Map(dag.nodes.map((node) => [node, state]));

async function driven(more: Partial<GraphRun>) {
  const states = new Map<string, NodeState>();
  const the: GraphRun = { dag: chain, policy, limit: 16, states, ...more };
  let failure: unknown;
  try {
    await runGraph(the);
  } catch (error) {
    failure = error;
  }
  return { states: Object.fromEntries(the.states), failure };
}

describe('an executed plan', () => {
  it('treats nodes as ready, and as removed, if there is nothing to do', async () => {
    expect((await driven({})).states).to.deep.equal({ a: 'ready', b: 'ready', c: 'ready' });
    const { states } = await driven({ states: all(chain, 'doomed') });
    expect(states).to.deep.equal({ a: 'removed', b: 'removed', c: 'removed' });
  });

  for (const state of ['doomed', 'removed'] as const) {
    it(`removes all dependents of a node that turns out to be ${state}, directly or not`, async () => {
      const removed: string[] = [];
      const { states } = await driven({
        start: () => Promise.resolve(state),
        remove(node) {
          removed.push(node);
          return Promise.resolve('removed');
        },
      });
      expect(removed).to.deep.equal(state === 'doomed' ? ['c', 'b', 'a'] : ['c', 'b']);
      expect(states).to.deep.equal({ a: 'removed', b: 'removed', c: 'removed' });
    });
  }

  it('keeps nodes that do not depend on it', async () => {
    const dag = looseDag([{ name: 'a' }, { name: 'b', dependsOn: ['a'] }, { name: 'c' }]);
    const { states } = await driven({
      dag,
      start: (node) => Promise.resolve(node === 'a' ? 'doomed' : 'ready'),
    });
    expect(states).to.deep.equal({ a: 'removed', b: 'removed', c: 'ready' });
  });

  for (const [title, more] of [
    [
      'a start',
      {
        start: (node: string) =>
          node === 'a' ? Promise.reject(new Error('no')) : Promise.resolve('ready' as const),
      },
    ],
    ['a removal', { states: all(chain, 'doomed'), remove: () => Promise.reject(new Error('no')) }],
  ] as const) {
    it(`ends with the error that ${title} throws`, async () => {
      expect((await driven(more)).failure).to.have.property('message', 'no');
    });
  }

  it('starts nothing after an error, and waits for running work', async () => {
    const dag = looseDag([{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd', dependsOn: ['b'] }]);
    const began: string[] = [];
    let end: () => void = () => undefined;
    const held = new Promise<NodeState>((resolve) => (end = () => resolve('ready')));
    const run = driven({
      dag,
      limit: 2,
      start(node) {
        began.push(node);
        return node === 'a' ? Promise.reject(new Error('no')) : held;
      },
    });
    await new Promise(setImmediate);
    end();
    const { failure, states } = await run;
    expect(failure).to.have.property('message', 'no');
    expect(began).to.deep.equal(['a', 'b']);
    expect(states).to.deep.equal({ a: 'running', b: 'ready' });
  });
});
