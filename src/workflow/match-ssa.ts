/**
 * Is it what we want, told by what we own: of the object, only the fields that our last apply set are compared.
 *
 * The subtle case: a webhook turns `500m` into `0.5` on every apply. What is there then never equals what is wanted,
 * and each run would apply again. So the answer of the last apply is remembered with what was asked for: the same
 * desired against the same answer counts as matched.
 */
import { exactJson } from '../lib/exact-json.ts';
import { sha1Hex } from '../lib/hash.ts';
import { equal } from '../lib/json.ts';
import { isObject, ownField, type Fields, type View } from '../lib/objects.ts';
import type { Obj } from '../runtime/types.ts';
import type { Match, Matcher } from './dependent.ts';
import { differences } from './diff.ts';
import { prune, type FieldSet } from './field-set.ts';
import { withFoldedStringData, withoutServerMetadata } from './shapes.ts';

/** The fields that `manager` has applied; undefined when it has applied none, or nobody can tell which. */
export function appliedFields(actual: View<Obj>, manager: string): FieldSet | undefined {
  const entries = (actual.metadata.managedFields ?? []).filter(
    (entry) =>
      ownField(entry, 'manager') === manager &&
      ownField(entry, 'operation') === 'Apply' &&
      !ownField(entry, 'subresource'),
  );
  if (entries.length !== 1) return undefined;
  const fields = ownField(entries[0], 'fieldsV1');
  return isObject(fields) ? (fields as FieldSet) : undefined;
}

/** What of an intent can be compared: no identity, and nothing that the server keeps. */
export function comparableIntent(desired: Obj): Fields {
  const { apiVersion: _a, kind, metadata, ...rest } = desired as unknown as Fields;
  const { name: _n, namespace: _ns, ...meta } = withoutServerMetadata(isObject(metadata) ? metadata : {});
  const body = kind === 'Secret' ? withFoldedStringData(rest) : rest;
  return withoutNothing({ ...body, ...(Object.keys(meta).length > 0 && { metadata: meta }) }) as Fields;
}

/** Fields that are null or undefined are as good as not asked for. */
function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNothing(field)]));
}

/** The part of an object that `manager` has applied; undefined when it has applied none. */
function appliedPart(actual: View<Obj>, manager: string): unknown {
  const fields = appliedFields(actual, manager);
  return fields && prune(actual, fields);
}

/** Whether an apply of `desired` by `manager` would change nothing. */
export const isAsApplied = (actual: View<Obj>, desired: Obj, manager: string): boolean =>
  isAsDesired(appliedPart(actual, manager), comparableIntent(desired));

/** Built-in kinds store an empty list as null: an empty list that we own is there although it reads as null. */
function isAsDesired(mine: unknown, intent: unknown): boolean {
  if (mine === null) return Array.isArray(intent) && intent.length === 0;
  if (!isObject(mine) || !isObject(intent)) return equal(mine, intent);
  const names = new Set([...Object.keys(mine), ...Object.keys(intent)]);
  return [...names].every((name) => isAsDesired(ownField(mine, name), ownField(intent, name)));
}

/** Compares, and remembers what the server made of applies. */
export interface SsaMatcher<R extends Obj, P extends Obj> extends Matcher<R, P> {
  /** Notes the answer to an apply of `desired`. */
  remember(desired: R, answer: R, manager: string): void;
}

interface Echo {
  readonly desired: string;
  readonly answer: string;
}

/** A desired that has been found fulfilled by an object of this version, which nothing but a newer version can change. */
interface Verdict {
  readonly version: string;
  readonly desiredHash: string;
}

/** So many answers and verdicts are remembered; who falls out is compared, or applied, once more. */
const REMEMBERED = 20_000;

/** A map that forgets what was set first. */
class Memory<V> {
  readonly #entries = new Map<string, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(uid: string | undefined): V | undefined {
    return uid === undefined ? undefined : this.#entries.get(uid);
  }

  set(uid: string, entry: V): void {
    this.#entries.delete(uid);
    this.#entries.set(uid, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) return;
      this.#entries.delete(oldest);
    }
  }
}

/**
 * A matcher that compares the fields that our applies own. What the server makes of an apply is remembered, so
 * that a webhook that rewrites it causes no loop.
 * @param remembered of how many objects
 */
export function ssaMatcher<R extends Obj, P extends Obj>(remembered = REMEMBERED): SsaMatcher<R, P> {
  const echoes = new Memory<Echo>(remembered);
  const verdicts = new Memory<Verdict>(remembered);
  const judge = (actual: View<R>, desired: R, manager: string): Match => {
    const mine = appliedPart(actual, manager);
    if (!mine) return { matched: false, diff: `${manager} has not applied it yet` };
    const intent = comparableIntent(desired);
    if (isAsDesired(mine, intent)) return { matched: true };
    const echo = echoes.get(actual.metadata.uid);
    if (echo?.desired === hash(intent) && echo.answer === hash(mine)) return { matched: true };
    const how = { isSecret: desired.kind === 'Secret', ignoresExtra: false, isIgnored: () => false } as const;
    const places = differences(mine, intent, how);
    return places.length === 0 ? { matched: true } : { matched: false, diff: places.join(', ') };
  };
  return {
    match(actual, desired, _p, ctx): Match {
      const { uid, resourceVersion: version } = actual.metadata;
      if (uid === undefined || version === undefined)
        return judge(actual, desired, ctx.controller.fieldManager);
      const desiredHash = sha1Hex(exactJson(desired));
      const last = verdicts.get(uid);
      if (last?.version === version && last.desiredHash === desiredHash) return { matched: true };
      const match = judge(actual, desired, ctx.controller.fieldManager);
      if (match.matched) verdicts.set(uid, { version, desiredHash });
      return match;
    },
    remember(desired, answer, manager) {
      const { uid } = answer.metadata;
      const mine = appliedPart(answer, manager);
      if (uid === undefined || !mine) return;
      echoes.set(uid, { desired: hash(comparableIntent(desired)), answer: hash(mine) });
    },
  };
}

const hash = (value: unknown): string => sha1Hex(exactJson(sorted(value)));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
