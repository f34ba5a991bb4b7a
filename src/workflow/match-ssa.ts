/**
 * Compares only the fields that our last apply set, according to managed fields.
 *
 * If a webhook changes `500m` to `0.5` in every apply, the actual value never equals the desired one, and each
 * reconcile would apply again. So the response of the last apply is remembered with the desired object: the same
 * desired object and the same response count as a match.
 */
import { exactJson } from '../lib/exact-json.ts';
import { sha1Hex } from '../lib/hash.ts';
import { equal } from '../lib/json.ts';
import { isObject, ownField, type Fields, type View } from '../lib/objects.ts';
import type { Obj } from '../runtime/types.ts';
import type { Match, Matcher } from './dependent.ts';
import { differences } from './diff.ts';
import { select, type FieldSet, type Selected } from './field-set.ts';
import { hashOf, Memory, REMEMBERED } from './memory.ts';
import { withoutServerChanges, type Compared } from './server-changes.ts';
import { withFoldedStringData, withoutServerMetadata } from './shapes.ts';

/** The fields that `manager` has applied; undefined if there are none, or if they are unknown. */
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

/** The fields of an intent that can be compared: without identity, and without fields that the server sets. */
export function comparableIntent(desired: Obj): Fields {
  const { apiVersion: _a, kind, metadata, ...rest } = desired as unknown as Fields;
  const { name: _n, namespace: _ns, ...meta } = withoutServerMetadata(isObject(metadata) ? metadata : {});
  const body = kind === 'Secret' ? withFoldedStringData(rest) : rest;
  return withoutNothing({ ...body, ...(Object.keys(meta).length > 0 && { metadata: meta }) }) as Fields;
}

/** Fields that are null or undefined count as absent. */
function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return Object.fromEntries(kept.map(([key, field]) => [key, withoutNothing(field)]));
}

/** The part of an object that `manager` has applied; undefined if there is none. */
function appliedPart(actual: View<Obj>, manager: string): Selected | undefined {
  const fields = appliedFields(actual, manager);
  return fields && select(actual, fields);
}

/** Both sides without what the server changes. */
const comparedTo = (desired: Obj, { part, wholes }: Selected, actual: View<Obj>): Compared =>
  withoutServerChanges({ mine: part, intent: comparableIntent(desired) }, actual, wholes);

/** Whether an apply of `desired` by `manager` would change nothing. */
export function isAsApplied(actual: View<Obj>, desired: Obj, manager: string): boolean {
  const applied = appliedPart(actual, manager);
  if (!applied) return false;
  const { mine, intent } = comparedTo(desired, applied, actual);
  return isAsDesired(mine, intent);
}

/** Built-in kinds store an empty list as null, so an empty list that we own exists although it is read as null. */
function isAsDesired(mine: unknown, intent: unknown): boolean {
  if (mine === null) return Array.isArray(intent) && intent.length === 0;
  if (!isObject(mine) || !isObject(intent)) return equal(mine, intent);
  const names = new Set([...Object.keys(mine), ...Object.keys(intent)]);
  return [...names].every((name) => isAsDesired(ownField(mine, name), ownField(intent, name)));
}

/** Compares objects, and remembers the server's responses to applies. */
export interface SsaMatcher<R extends Obj, P extends Obj> extends Matcher<R, P> {
  /** Remembers the response to an apply of `desired`. */
  remember(desired: R, answer: R, manager: string): void;
}

interface Echo {
  readonly desired: string;
  readonly answer: string;
}

/** A desired object that matched an object of this version; only a newer version can change that. */
interface Verdict {
  readonly version: string;
  readonly desiredHash: string;
}

/**
 * A matcher that compares the fields that our applies own. It remembers the server's response to an apply, so a
 * webhook that changes the object does not cause a loop.
 * @param remembered maximum number of objects
 */
export function ssaMatcher<R extends Obj, P extends Obj>(remembered = REMEMBERED): SsaMatcher<R, P> {
  const echoes = new Memory<Echo>(remembered);
  const verdicts = new Memory<Verdict>(remembered);
  const judge = (actual: View<R>, desired: R, manager: string): Match => {
    const applied = appliedPart(actual, manager);
    if (!applied) return { matched: false, diff: `${manager} has not applied it yet` };
    const { mine, intent } = comparedTo(desired, applied, actual);
    if (isAsDesired(mine, intent)) return { matched: true };
    const echo = echoes.get(actual.metadata.uid);
    if (echo?.desired === hashOf(intent) && echo.answer === hashOf(mine)) return { matched: true };
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
      const applied = appliedPart(answer, manager);
      if (uid === undefined || !applied) return;
      const { mine, intent } = comparedTo(desired, applied, answer);
      echoes.set(uid, { desired: hashOf(intent), answer: hashOf(mine) });
    },
  };
}
