import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import { replacedTargets } from '../../../src/dataflow/copies.ts';
import { CLUSTER, imports, target } from './given.ts';

const copyOf = (key: string, config: unknown, more: Record<string, string> = {}) =>
  target(`copy-${key}`, config, { labels: { [labels.dataKey]: key, ...more } });
const old = { kubeconfig: 'old' };
const now = { kubeconfig: 'new' };

describe('targets that were recreated while a job ran', () => {
  it('are noticed by their content', () => {
    const found = imports({ targets: { same: target('same', old), other: target('other', now) } });
    expect(replacedTargets(found, [copyOf('same', old), copyOf('other', old)])).to.deep.equal(['other']);
  });

  it('are noticed in lists and maps, each import once', () => {
    const found = imports({
      targetLists: { nodes: [target('n0', old), target('n1', now), target('n2', now)] },
      targetMaps: { clusters: { red: target('r', old), blue: target('b', now) } },
    });
    const copies = [
      ...['0', '1', '2'].map((at) => copyOf('nodes', old, { [labels.dataIndex]: at })),
      ...['red', 'blue'].map((key) => copyOf('clusters', old, { [labels.dataTargetMapKey]: key })),
    ];
    expect(replacedTargets(found, copies)).to.deep.equal(['nodes', 'clusters']);
  });

  it('are compared by their spec alone: labels may change', () => {
    const moved = target('same', old, { labels: { team: 'x' }, generation: 7 });
    expect(moved.spec).to.deep.equal({ type: CLUSTER, config: old });
    expect(replacedTargets(imports({ targets: { same: moved } }), [copyOf('same', old)])).to.deep.equal([]);
  });

  it('do not include copies of former imports', () => {
    expect(replacedTargets(imports({}), [copyOf('gone', old)])).to.deep.equal([]);
  });
});
