/**
 * Assigns shards to members. Pure, with the same result for every replica that sees the same leases, so replicas need
 * no other communication.
 *
 * Each member keeps its shards up to its quota, so as few shards as possible move.
 */

/** By shard: the member that holds it; undefined if no living member does. */
export type Holders = readonly (string | undefined)[];

/**
 * @param holders by shard; a holder that is not a member counts as none
 * @param members without duplicates; their order does not matter
 * @returns the assigned member by shard; none if there are no members. The numbers of shards differ by at most one
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

/** The remainder is assigned to the members with the most shards, because others would have to take it over. */
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
