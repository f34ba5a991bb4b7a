import { expect } from 'chai';
import { rootGraph, treeGraph } from '../../../src/cli/graph/graph.ts';
import { graphText } from '../../../src/cli/graph/print.ts';
import { rootLines } from '../../../src/cli/graph/table.ts';
import { execution, exporting, importing, installation, item, trees } from './given.ts';

const flow = [
  installation('web', { phase: 'Failed', spec: importing }),
  installation('db', { phase: 'Succeeded', spec: exporting }),
  installation('part', { parent: 'db' }),
  execution('db', { phase: 'Succeeded' }),
  item('db-x', { execution: 'db', template: 'server', phase: 'Succeeded' }),
];
const roots = trees(...flow);

describe('graphs of landscapes', () => {
  it('show between roots which one imports what from another', () => {
    expect(rootGraph(roots).edges).to.deep.equal([
      { from: 'Installation/proj/db', to: 'Installation/proj/web', kind: 'data', names: ['data/url'] },
    ]);
    expect(rootGraph(roots).nodes.map(({ label, condition }) => [label, condition])).to.deep.equal([
      ['proj/db', 'succeeded'],
      ['proj/web', 'failed'],
    ]);
  });

  it('are a table for people, with the names of the imports if it is wide', () => {
    expect(rootLines(rootGraph(roots), false)).to.deep.equal([
      'ROOT      PHASE      IMPORTS FROM',
      'proj/db   Succeeded',
      'proj/web  Failed     proj/db',
    ]);
    expect(rootLines(rootGraph(roots), true).at(-1)).to.equal('proj/web  Failed     proj/db (data/url)');
    expect(rootLines(rootGraph([]), true)).to.deep.equal(['no installations']);
  });

  it('have no edge between namespaces, nor from an installation to itself', () => {
    const self = installation('self', { spec: { ...exporting, ...importing } });
    const away = installation('away', { spec: importing });
    const other = { ...away, metadata: { ...away.metadata, namespace: 'other' } };
    expect(rootGraph(trees(self, other)).edges).to.deep.equal([]);
  });

  it('show in a tree which object contains which', () => {
    const { nodes, edges } = treeGraph(roots);
    expect(nodes.map(({ label }) => label)).to.include.members(['Execution db', 'DeployItem server']);
    expect(
      edges.filter(({ kind }) => kind === 'contains').map(({ from, to }) => `${from} ${to}`),
    ).to.deep.equal([
      'Installation/proj/db Installation/proj/part',
      'Installation/proj/db Execution/proj/db',
      'Execution/proj/db DeployItem/proj/db-x',
    ]);
  });

  it('do not depend on the order in which the objects are read', () => {
    expect(treeGraph(trees(...[...flow].reverse()))).to.deep.equal(treeGraph(roots));
  });

  it('are bounded, and report what they leave out', () => {
    const graph = treeGraph(roots, 2);
    expect([graph.nodes.length, graph.omitted]).to.deep.equal([2, 3]);
    for (const { from, to } of graph.edges)
      expect(graph.nodes.map(({ id }) => id)).to.include.members([from, to]);
    expect(graphText(graph, 'dot')).to.contain('3 more objects are not shown');
    expect(graphText(graph, 'mermaid')).to.contain('3 more objects are not shown');
  });

  const strange = {
    nodes: [{ id: 'a"b', label: 'a"]\n\\<b>#', phase: '', condition: 'waiting' as const }],
    edges: [],
    omitted: 0,
  };
  it('escape labels for Graphviz', () => {
    expect(graphText(strange, 'dot')).to.contain(
      String.raw`"a\"b" [label="a\"]\n\\<b>#\nno job yet", fillcolor="#eeeeee"];`,
    );
  });
  it('escape labels for Mermaid', () => {
    expect(graphText(strange, 'mermaid')).to.contain(
      'n0["a#34;#93;#10;#92;#60;b#62;#35;<br/>no job yet"]:::waiting\n',
    );
  });
});
