/** Targets, lists and maps of them that a parent passes on to its sub-installations. */
import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import { objectName } from '../../../src/dataflow/scope.ts';
import { useCluster } from '../../support/cluster.ts';
import { aTarget, bpFile, fails, keeping, kept, succeeds, type Given } from '../../support/dataflow.ts';
import { target } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const sub = (name: string, bp: object, targets: readonly object[]) => ({
  name,
  imports: { targets },
  blueprint: { filesystem: { 'blueprint.yaml': bpFile(bp) } },
});

/** A parent that imports `definition` as `source` says, and passes it on to a child `sub` as `mine`. */
const handing = (definition: object, source: object, child: object): Given => ({
  bp: { imports: [definition], subinstallations: [child] },
  spec: { imports: { targets: [{ name: (definition as { name: string }).name, ...source }] } },
  objects: Array.from({ length: 12 }, (_, i) => target(`t${i + 1}`, 'kubernetes-cluster', { n: i + 1 })),
});
const childName = (scene: Scene): string => scene.child('shop', 'sub')?.metadata.name ?? '';
const keptBy = (scene: Scene): unknown => kept(scene, childName(scene));

const one = keeping('{{ .imports.mine.spec.config.n }}');
const list = keeping('[{{ range .imports.mine }}{{ .spec.config.n }},{{ end }}]');
const map = keeping('{ {{ range $k, $v := .imports.mine }}{{ $k }}: {{ $v.spec.config.n }},{{ end }} }');
const clusters = aTarget('clusters', 'targetMap');
const nodes = aTarget('nodes', 'targetList');
const colours = { targetMap: { red: 't1', blue: 't2' } };
const all = { targets: Array.from({ length: 12 }, (_, i) => `t${12 - i}`) };

describe('targets of a parent', () => {
  const here = useCluster();

  it('DF-59: can be passed to a child one by one, by the key of a map', async () => {
    const child = sub('sub', { imports: [aTarget('mine')], ...one }, [
      { name: 'mine', target: 'clusters[red]' },
    ]);
    expect(keptBy(await succeeds(here, handing(clusters, colours, child)))).to.equal(1);
  });

  it('DF-59: can be passed to a child one by one, by the index in a list', async () => {
    const child = sub('sub', { imports: [aTarget('mine')], ...one }, [{ name: 'mine', target: 'nodes[1]' }]);
    expect(keptBy(await succeeds(here, handing(nodes, all, child)))).to.equal(11);
  });

  it('DF-60: can be passed to a child as a map', async () => {
    const imports = [aTarget('mine', 'targetMap')];
    const child = sub('sub', { imports, ...map }, [{ name: 'mine', targetMapRef: 'clusters' }]);
    const scene = await succeeds(here, handing(clusters, colours, child));
    expect(keptBy(scene)).to.deep.equal({ red: 1, blue: 2 });
    const copy = scene.target(objectName(`Inst.${childName(scene)}`, 'mine[red]'));
    expect(copy?.metadata.labels).to.include({ [labels.dataKey]: 'mine', [labels.dataTargetMapKey]: 'red' });
    expect(objectName('Inst.db-x7k2p', 'mine[red]')).to.equal('a5dcerqk67fiu4ke2xwajk4yz3nltukj');
  });

  it('DF-61: can be passed to a child as a list, in the order of the parent', async () => {
    const imports = [aTarget('mine', 'targetList')];
    const child = sub('sub', { imports, ...list }, [{ name: 'mine', targetListRef: 'nodes' }]);
    const scene = await succeeds(here, handing(nodes, all, child));
    expect(keptBy(scene)).to.deep.equal([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('DF-61: can be passed to a grandchild, with the elements of a list rearranged', async () => {
    const inner = sub('inner', { imports: [aTarget('mine', 'targetMap')], ...map }, [
      { name: 'mine', targetMap: { a: 'nodes[2]', b: 'nodes[0]' } },
    ]);
    const outer = sub('sub', { imports: [nodes], subinstallations: [inner] }, [
      { name: 'nodes', targetListRef: 'nodes' },
    ]);
    const scene = await succeeds(here, handing(nodes, all, outer));
    const innerName = scene.child(childName(scene), 'inner')?.metadata.name;
    expect(kept(scene, innerName)).to.deep.equal({ a: 10, b: 12 });
  });

  it('DF-56: that are optional and missing remove the imports of children', async () => {
    const late = aTarget('late', 'target', { required: false });
    const mine = (name: string) => aTarget(name, 'target', { required: false });
    const child = sub(
      'sub',
      { imports: [mine('a'), mine('b'), mine('c')], ...keeping('{{ keys .imports | toJson }}') },
      [
        { name: 'a', target: 'late' },
        { name: 'b', targets: ['clusters[red]', 'late'] },
        { name: 'c', target: 'clusters[red]' },
      ],
    );
    const given = handing(clusters, colours, child);
    const scene = await succeeds(here, { ...given, bp: { ...given.bp, imports: [clusters, late] } });
    expect(scene.child('shop', 'sub')?.spec.imports?.targets?.map(({ name }) => name)).to.deep.equal(['c']);
    expect(keptBy(scene)).to.deep.equal(['c']);
  });

  it('are reported with the name in the child if the key does not exist', async () => {
    const child = sub('sub', { imports: [aTarget('mine')] }, [{ name: 'mine', target: 'clusters[green]' }]);
    const { error } = await fails(here, handing(clusters, colours, child));
    expect(error.message).to.contain('not found (Inst.shop/clusters[green])');
  });

  const rows: readonly [title: string, entry: object][] = [
    ['that are a map cannot be passed as a list', { targetListRef: 'clusters' }],
    ['cannot be taken from an import that does not exist', { targetMapRef: 'nowhere' }],
    ['cannot be an element of an import that does not exist', { target: 'nowhere[red]' }],
  ];
  for (const [title, entry] of rows) {
    it(title, async () => {
      const child = sub('sub', {}, [{ name: 'mine', ...entry }]);
      const { error } = await fails(here, handing(clusters, colours, child));
      expect(error.message).to.contain('subinstallations.sub.imports.targets[0][mine]');
      expect(error.message).to.contain('import not satisfied');
    });
  }
});
