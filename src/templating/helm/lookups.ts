/**
 * What templates look up in the cluster. Templates cannot wait: what they ask for the first time is empty, and noted; it is
 * read after the rendering, which is then done again, until nothing new is asked for. So each round is plain data in and
 * plain data out, and can be done in a process that cannot reach the cluster.
 */
import { exactJson, parseExactJson } from '../../lib/exact-json.ts';
import { ChartInvalid } from './errors.ts';
import type { Lookup, LookupKey } from './functions.ts';

/** How often templates may ask for something else, having seen an answer. */
const MAX_ROUNDS = 20;
/** What all of them may ask for. */
const MAX_LOOKUPS = 1000;
const MAX_LOOKUP_MIB = 16;

/** Reads the cluster; undefined when there is no such object. */
export type ReadLookup = (wanted: LookupKey) => Promise<unknown>;

/** What one attempt may use. */
export interface Round {
  /** Answers as JSON, by the key as JSON; undefined: there is no cluster, and every answer is empty. */
  readonly known: readonly (readonly [key: string, json: string])[] | undefined;
  /** Time that the rounds before have taken. */
  readonly spentMs: number;
}

export type RoundResult<T> =
  | { readonly kind: 'rendered'; readonly result: T }
  | { readonly kind: 'asked'; readonly asked: readonly LookupKey[]; readonly spentMs: number };

/** Answers from what is known, and notes what is not. */
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

/** @throws ChartInvalid for templates that ask for too much; what `read` and `attempt` throw */
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
