import { expect } from 'chai';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { MAX_OWNERS, ownersOf, rootOf } from '../../../src/machine/tree.ts';
import type { World } from '../../../src/machine/world.ts';
import { installation } from '../../support/given.ts';

/** Installations with the owner that each name is given. */
function worldOf(owners: Readonly<Record<string, string | undefined>>) {
  const all = new Map<string, Installation>();
  for (const [name, owner] of Object.entries(owners)) {
    const ownerReferences = owner
      ? [
          {
            apiVersion: API_VERSION,
            kind: 'Installation',
            name: owner,
            uid: `uid-${owner}`,
            controller: true,
          },
        ]
      : [];
    all.set(`demo/${name}`, installation(name, { meta: { ownerReferences } }));
  }
  const world = { installations: { get: (key: string) => all.get(key) } } as unknown as World;
  const at = (name: string): Installation => {
    const found = all.get(`demo/${name}`);
    if (!found) throw new Error(name);
    return found;
  };
  const namesAbove = (name: string) => ownersOf(world, at(name)).map((o) => o.metadata.name);
  return { world, at, namesAbove };
}

describe('the owners of an installation', () => {
  it('are listed up to the root, the nearest first', () => {
    const { world, at, namesAbove } = worldOf({ root: undefined, middle: 'root', leaf: 'middle' });
    expect(namesAbove('leaf')).to.deep.equal(['middle', 'root']);
    expect(namesAbove('root')).to.deep.equal([]);
    expect(rootOf(world, at('leaf'))).to.equal('demo/root');
  });

  it('end where the caches lack one', () => {
    expect(worldOf({ middle: 'gone', leaf: 'middle' }).namesAbove('leaf')).to.deep.equal(['middle']);
  });

  it('appear once where they own each other', () => {
    expect(worldOf({ a: 'b', b: 'a' }).namesAbove('a')).to.deep.equal(['b']);
    expect(worldOf({ a: 'a' }).namesAbove('a')).to.deep.equal([]);
    expect(worldOf({ a: 'b', b: 'c', c: 'b' }).namesAbove('a')).to.deep.equal(['b', 'c']);
  });

  it('are followed no further than a tree may ever be deep', () => {
    const chain = Array.from({ length: MAX_OWNERS * 2 }, (_, i) => [`i${i}`, i ? `i${i - 1}` : undefined]);
    const { namesAbove } = worldOf(Object.fromEntries(chain) as Record<string, string | undefined>);
    expect(namesAbove(`i${MAX_OWNERS * 2 - 1}`)).to.have.length(MAX_OWNERS);
  });
});
