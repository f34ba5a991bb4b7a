/** The data flow that the console draws. */
import { expect } from 'chai';
import { flowBetween, flowWithin } from '../../../src/cli/console/flow.ts';
import { execution, installation, item, trees } from '../cli/given.ts';

const spec = (imports: readonly string[], exports: readonly string[]): object => ({
  imports: { data: imports.map((name) => ({ name, dataRef: name })) },
  exports: { data: exports.map((name) => ({ name, dataRef: name })) },
});

describe('the data flow between landscapes', () => {
  it('has those that are connected, and the number of the others', () => {
    const flow = flowBetween(
      trees(
        installation('db', { phase: 'Succeeded', spec: spec([], ['url']) }),
        installation('web', { phase: 'Succeeded', spec: spec(['url'], []) }),
        installation('alone', { phase: 'Succeeded' }),
      ),
    );
    expect(flow.nodes.map(({ label, landscape }) => [label, landscape])).to.deep.equal([
      ['proj/db', 'proj/db'],
      ['proj/web', 'proj/web'],
    ]);
    expect(flow.edges).to.deep.equal([
      { from: flow.nodes[0]?.id, to: flow.nodes[1]?.id, names: ['data/url'] },
    ]);
    expect(flow).to.include({ omitted: 0, unconnected: 1 });
  });

  it('has at most 200 nodes, and no edge to others', () => {
    const chain = Array.from({ length: 203 }, (_, i) =>
      installation(`i${String(i).padStart(3, '0')}`, {
        phase: 'Succeeded',
        spec: spec(i === 0 ? [] : [`v${String(i - 1)}`], [`v${String(i)}`]),
      }),
    );
    const flow = flowBetween(trees(...chain));
    expect(flow.nodes).to.have.length(200);
    expect(flow.edges).to.have.length(199);
    expect(flow.omitted).to.equal(3);
  });
});

describe('the data flow within a landscape', () => {
  it('has the installations below the root, without executions, items and what only contains', () => {
    const [root] = trees(
      installation('app', { phase: 'Succeeded', spec: spec(['a'], ['b']) }),
      installation('db', { phase: 'Succeeded', parent: 'app', spec: spec([], ['url']) }),
      installation('web', { phase: 'Succeeded', parent: 'app', spec: spec(['url'], []) }),
      execution('web', { phase: 'Succeeded' }),
      item('i', { execution: 'web', phase: 'Succeeded' }),
    );
    const flow = root && flowWithin(root);
    expect(flow?.nodes.map(({ label, landscape }) => [label, landscape])).to.deep.equal([
      ['db', 'proj/app'],
      ['web', 'proj/app'],
    ]);
    expect(flow?.edges.map(({ names }) => names)).to.deep.equal([['data/url']]);
    expect(flow).to.include({ omitted: 0, unconnected: 0 });
  });
});
