import { expect } from 'chai';
import { seededRng } from '../../../../src/lib/rng.ts';
import { assign, type Holders } from '../../../../src/runtime/fleet/assign.ts';
import { SHARDS, shardOf } from '../../../../src/runtime/fleet/names.ts';

const count = (holders: Holders, member: string | undefined): number =>
  holders.filter((holder) => holder === member).length;

interface Case {
  readonly holders: Holders;
  readonly members: readonly string[];
}

/** Any possible state of leases: held by members, by others, by none, and as unevenly as possible. */
function drawn(seed: number): Case {
  const rng = seededRng(seed);
  const below = (n: number): number => Math.floor(rng.next() * n);
  const members = Array.from({ length: below(6) }, (_, i) => `m${String(i)}`);
  const names = [...members, 'gone', undefined];
  const few = names.slice(0, 1 + below(names.length));
  const holders = Array.from({ length: below(20) }, () => few[below(few.length)]);
  return { holders, members };
}

const SEEDS = Array.from({ length: 2_000 }, (_, seed) => seed);

describe('the assignment of shards', () => {
  it('gives each shard to one member, or to none if there is none', () => {
    for (const seed of SEEDS) {
      const { holders, members } = drawn(seed);
      const next = assign(holders, members);
      expect(next).to.have.length(holders.length);
      for (const holder of next) {
        if (members.length === 0) expect(holder, `seed ${String(seed)}`).to.equal(undefined);
        else expect(holder, `seed ${String(seed)}`).to.be.oneOf([...members]);
      }
    }
  });

  it('is balanced within one', () => {
    for (const seed of SEEDS) {
      const { holders, members } = drawn(seed);
      const counts = members.map((member) => count(assign(holders, members), member));
      if (members.length === 0) continue;
      expect(Math.max(...counts) - Math.min(...counts), `seed ${String(seed)}`).to.be.lessThan(2);
    }
  });

  it('moves no shard that could stay', () => {
    for (const seed of SEEDS) {
      const { holders, members } = drawn(seed);
      if (members.length === 0) continue;
      const next = assign(holders, members);
      const stay = next.filter((holder, i) => holder === holders[i]).length;
      // A member can keep at most its quota; larger quotas are best for those who hold most.
      const least = Math.floor(holders.length / members.length);
      const more = holders.length - least * members.length;
      const held = members.map((member) => count(holders, member)).sort((a, b) => b - a);
      const most = held.reduce((sum, has, i) => sum + Math.min(has, least + (i < more ? 1 : 0)), 0);
      expect(stay, `seed ${String(seed)}`).to.equal(most);
    }
  });

  it('is the same for all that see the same, in any order, and changes nothing after it is reached', () => {
    for (const seed of SEEDS) {
      const { holders, members } = drawn(seed);
      const next = assign(holders, members);
      expect(assign(holders, [...members].reverse())).to.deep.equal(next);
      expect(assign(next, members)).to.deep.equal(next);
    }
  });

  it('spreads names over all shards', () => {
    const counts = new Map<number, number>();
    for (let i = 0; i < 4_000; i++) {
      const shard = shardOf(`namespace/root-${String(i)}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).to.equal(SHARDS);
    expect(Math.min(...counts.values())).to.be.greaterThan(150);
    expect(Math.max(...counts.values())).to.be.lessThan(350);
  });

  it('assigns a name as before: other releases of the program may run with it', () => {
    expect(shardOf('default/root')).to.equal(SHARD_OF_DEFAULT_ROOT);
  });
});

/** Computed independently: the first four bytes of the SHA-256 of the string, modulo 16. */
const SHARD_OF_DEFAULT_ROOT = 7;
