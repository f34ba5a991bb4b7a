/**
 * Cluster lookups of templates. Templates are synchronous: a lookup that is not known yet returns nothing and is
 * recorded. The object is read after the rendering, which is then repeated until there are no new lookups. So each
 * round has plain data as input and output, and can run in a process without access to the cluster.
 */
import { exactJson, parseExactJson } from '../../lib/exact-json.ts';
import { ChartInvalid } from './errors.ts';
import type { Lookup, LookupKey } from './functions.ts';

/** Maximum number of rounds. */
const MAX_ROUNDS = 20;
/** Maximum number of lookups. */
const MAX_LOOKUPS = 1000;
const MAX_LOOKUP_MIB = 16;

/** Reads the cluster; undefined if the object does not exist. */
export type ReadLookup = (wanted: LookupKey) => Promise<unknown>;

/** The input of one round. */
export interface Round {
  /** Known results as JSON, keyed by the lookup as JSON; undefined: without a cluster, every result is empty. */
  readonly known: readonly (readonly [key: string, json: string])[] | undefined;
  /** Duration of the previous rounds. */
  readonly spentMs: number;
}

export type RoundResult<T> =
  | { readonly kind: 'rendered'; readonly result: T }
  | { readonly kind: 'asked'; readonly asked: readonly LookupKey[]; readonly spentMs: number };

/** Returns known results, and records unknown lookups. */
export function lookupIn({ known }: Round): {
  readonly lookup: Lookup;
  readonly asked: ReadonlyMap<string, LookupKey>;
} {
  const asked = new Map<string, LookupKey>();
  if (!known) return { lookup: () => ({}), asked };
  const answers = new Map(known.map(([key, json]) => [key, parseExactJson(json)]));
  const lookup: Lookup = (wanted) => {
    const key = JSON.stringify(wanted);
    if (!answers.has(key)) asked.set(key, wanted);
    return answers.get(key);
  };
  return { lookup, asked };
}

/** @throws ChartInvalid for templates with too many lookups; the errors of `read` and `attempt` */
export async function withLookups<T>(
  read: ReadLookup | undefined,
  attempt: (round: Round) => Promise<RoundResult<T>>,
): Promise<T> {
  const known: (readonly [key: string, json: string])[] = [];
  let spentMs = 0;
  let size = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const outcome = await attempt({ known: read && known, spentMs });
    if (outcome.kind === 'rendered') return outcome.result;
    spentMs = outcome.spentMs;
    if (known.length + outcome.asked.length > MAX_LOOKUPS) {
      throw new ChartInvalid(`the templates look up more than ${String(MAX_LOOKUPS)} objects, a fixed limit`);
    }
    for (const wanted of outcome.asked) {
      const json = exactJson((await read?.(wanted)) ?? null);
      size += json.length;
      if (size > MAX_LOOKUP_MIB << 20) {
        throw new ChartInvalid(
          `the templates look up more than ${String(MAX_LOOKUP_MIB)} MiB of objects, a fixed limit`,
        );
      }
      known.push([JSON.stringify(wanted), json]);
    }
  }
  throw new ChartInvalid(
    `the templates look up something else each time: ${String(MAX_ROUNDS)} times is enough`,
  );
}
