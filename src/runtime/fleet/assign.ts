/**
 * Who shall hold which shard. Pure, and the same for everybody who sees the same: replicas need not talk to agree.
 *
 * Each member keeps what it has up to its quota, so as little moves as balance allows.
 */

/** By shard: the member that holds it; undefined when nobody who lives does. */
export type Holders = readonly (string | undefined)[];

/**
 * @param holders by shard; whoever is no member counts as nobody
 * @param members without repetition; their order does not matter
 * @returns by shard the member that shall hold it; nobody when there are no members. Numbers of shards differ by one at most
 */
export function assign(holders: Holders, members: readonly string[]): Holders {
  const quotas = quotasOf(holders, members);
  const kept = keep(holders, quotas);
  const hungry = [...quotas].flatMap(([member, quota]) => {
    const has = kept.filter((holder) => holder === member).length;
    return Array.from({ length: quota - has }, () => member);
  });
  return kept.map((holder) => holder ?? hungry.shift());
}

/** The remainder goes to those who have most: they would have to hand it over otherwise. */
function quotasOf(holders: Holders, members: readonly string[]): ReadonlyMap<string, number> {
  const held = (member: string): number => holders.filter((holder) => holder === member).length;
  const order = [...members].sort((a, b) => held(b) - held(a) || (a < b ? -1 : 1));
  const least = Math.floor(holders.length / Math.max(1, order.length));
  const more = holders.length - least * order.length;
  return new Map(order.map((member, i) => [member, least + (i < more ? 1 : 0)]));
}

function keep(holders: Holders, quotas: ReadonlyMap<string, number>): Holders {
  const left = new Map(quotas);
  return holders.map((holder) => {
    const rest = holder === undefined ? 0 : (left.get(holder) ?? 0);
    if (holder === undefined || rest === 0) return undefined;
    left.set(holder, rest - 1);
    return holder;
  });
}
