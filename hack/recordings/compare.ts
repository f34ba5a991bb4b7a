/**
 * Compares the writes of a played scenario with those of upstream. Pure.
 *
 * A difference is hard if other programs could depend on it: the order of phases and job ids, spec, data, labels,
 * annotations, finalizers, owners, conditions, error codes, hashes. Wording is soft.
 */
import { isDeepStrictEqual } from 'node:util';
import { mergePatch } from '../../src/lib/merge.ts';
import { isObject, type Fields } from '../../src/lib/objects.ts';

/** The recorded states of one object: its first state, a JSON merge patch for each write, and the last state. */
interface History {
  readonly changes: readonly Fields[];
  readonly final: Fields;
}

/** In the format of play.mjs. */
export interface Recording {
  readonly scenario: string;
  readonly title: string;
  /** Why the scenario failed. */
  readonly failure?: string;
  readonly objects: Readonly<Record<string, History>>;
}

export interface Difference {
  /** For example `Installation/web`; empty for the scenario itself. */
  readonly object: string;
  /** For example `status.phase`; `milestones` for the order of states, `existence`, `end`. */
  readonly path: string;
  readonly upstream: unknown;
  readonly here: unknown;
  /** `here` with job ids numbered by object, because the order of two jobs that start at the same time is random. */
  readonly counted: unknown;
}

/** Values that no program can depend on. */
const IGNORED: readonly RegExp[] = [
  /^status\.deployer(\.|$)/,
  /^metadata\.annotations\.landscaper\.gardener\.cloud\/(touch|reconcile-time)$/,
  /^metadata\.annotations\.kubectl\.kubernetes\.io/,
  /^metadata\.(annotations|labels)\.espalier\.dev\//,
  /^status\.observedGeneration$/,
  /^status\.transitionTimes\.waitTime$/,
];

/** Wording and hints for users. */
const SOFT: readonly RegExp[] = [
  /\.message$/,
  /^status\.(firstError|lastError(?!\.codes$))(\.|$)/,
  /^status\.lastReconcileTime$/,
  /\.lastUpdateTime$/,
  /^status\.conditions\..*\.lastTransitionTime$/,
];

const isSoft = (path: string): boolean => SOFT.some((rule) => rule.test(path));

/** @returns hard differences only */
export function compare(upstream: Recording, here: Recording): readonly Difference[] {
  const differences = hardDifferences(upstream, here);
  if (differences.length === 0) return differences;
  const renumbered = hardDifferences(upstream, numberedAs(upstream, here));
  return renumbered.length < differences.length ? renumbered : differences;
}

/**
 * The recording with its ids numbered as in the other one. The numbers are in the order in which the ids were first
 * seen, which is random for jobs that start at the same time. The first ids of an object are the same in both, and so
 * on; an id that has been seen at another object is the same one there.
 */
function numberedAs(upstream: Recording, here: Recording): Recording {
  const numbers = new Map<string, string>();
  const taken = new Set<string>();
  for (const name of Object.keys(here.objects).sort()) {
    const theirs = idsOf(upstream.objects[name]);
    for (const [i, id] of idsOf(here.objects[name]).entries()) {
      const number = theirs[i];
      if (number === undefined || numbers.has(id) || taken.has(number)) continue;
      numbers.set(id, number);
      taken.add(number);
    }
  }
  const others = idsOf(here.objects).filter((id) => !numbers.has(id));
  for (const id of others) numbers.set(id, id.replace('>', '+>'));
  const text = JSON.stringify(here.objects).replace(ID, (id) => numbers.get(id) ?? id);
  return { ...here, objects: JSON.parse(text) as Recording['objects'] };
}

/** Ids in a value, in the order of their first use. */
const idsOf = (value: unknown): readonly string[] => [
  ...new Set((JSON.stringify(value) ?? '').match(ID) ?? []),
];

function hardDifferences(upstream: Recording, here: Recording): readonly Difference[] {
  const names = [...new Set([...Object.keys(upstream.objects), ...Object.keys(here.objects)])];
  return [
    ...endsOf(upstream, here),
    ...names.flatMap((object) =>
      differencesOf(upstream.objects[object], here.objects[object])
        .filter(({ path }) => !IGNORED.some((rule) => rule.test(path)) && !isSoft(path))
        .map((difference) => ({
          object,
          ...difference,
          counted: countedBy(here.objects[object], difference.here),
        })),
    ),
  ];
}

function endsOf(upstream: Recording, here: Recording): readonly Difference[] {
  if (here.failure === undefined || upstream.failure !== undefined) return [];
  return [{ object: '', path: 'end', upstream: 'reached', here: here.failure, counted: here.failure }];
}

/** The value with ids numbered in the order of the object's history. */
function countedBy(history: History | undefined, value: unknown): unknown {
  const ids = idsOf(history?.changes);
  const text = JSON.stringify(value);
  if (text === undefined) return undefined;
  return JSON.parse(text.replace(ID, (id) => `<job ${String(ids.indexOf(id) + 1)}>`));
}

/** play.mjs replaces ids by such numbers. */
const ID = /<id-\d+\+?>/g;

type Part = Omit<Difference, 'object' | 'counted'>;

function differencesOf(upstream: History | undefined, here: History | undefined): readonly Part[] {
  if (!upstream || !here) {
    const word = (there: History | undefined) => (there ? 'exists' : undefined);
    return [{ path: 'existence', upstream: word(upstream), here: word(here) }];
  }
  const [roadThere, roadHere] = [milestones(upstream), milestones(here)];
  const road = isSameSequence(roadThere, roadHere)
    ? []
    : [{ path: 'milestones', upstream: roadThere, here: roadHere }];
  return [...road, ...fieldsOf(upstream.final, here.final, '')];
}

/** The states of an object: `PHASE JOB/FINISHED`, then `deleting`, then the codes of its last error. */
export function milestones({ changes }: History): readonly string[] {
  const states = changes.reduce<Fields[]>(
    (all, change) => [...all, mergePatch(all.at(-1) ?? {}, change)],
    [],
  );
  const words = states.map(milestone);
  return words.filter((word, i) => word !== words[i - 1]);
}

/** Codes about the handling of an error, not about its cause. */
const HINTS: ReadonlySet<unknown> = new Set(['ERR_FOR_INFO_ONLY', 'ERR_UNFINISHED', 'ERR_NO_RETRY']);

function milestone(state: Fields): string {
  if (state['gone'] === true) return 'gone';
  const at = (...path: readonly string[]): unknown =>
    path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), state);
  const word = (name: string): string => {
    const value = at('status', name);
    return typeof value === 'string' ? value : '-';
  };
  const codes = at('status', 'lastError', 'codes');
  const wrong = Array.isArray(codes) ? codes.filter((code) => !HINTS.has(code)) : [];
  const deleting = at('metadata', 'deletionTimestamp') ? ' deleting' : '';
  const problems = wrong.length > 0 ? ` ${wrong.join(',')}` : '';
  return `${word('phase')} ${word('jobID')}/${word('jobIDFinished')}${deleting}${problems}`;
}

/** Whether a program may skip writing this state: an unfinished job in a phase that does not wait. */
function isTransient(state: string): boolean {
  const parts = /^(\S+) (\S+)\/(\S+)/.exec(state);
  const isUnfinished = parts?.[2] !== parts?.[3];
  return (
    (isUnfinished && parts?.[1] !== 'Progressing' && parts?.[1] !== 'Deleting') || state.startsWith('- -/-')
  );
}

/** The states without transient ones. */
export const settledStates = (states: readonly string[]): readonly string[] =>
  states.filter((state) => !isTransient(state));

/** Whether the states are equal; `here` may skip transient states of `upstream`, but not add any. */
export function isSameSequence(upstream: readonly string[], here: readonly string[]): boolean {
  return restOfSequence(upstream, here)?.every(isTransient) === true;
}

/** The rest of `upstream` after all states of `here`; undefined if they differ. */
function restOfSequence(upstream: readonly string[], here: readonly string[]): readonly string[] | undefined {
  let at = 0;
  for (const state of here) {
    for (
      let next = upstream[at];
      next !== undefined && next !== state && isTransient(next);
      next = upstream[at]
    )
      at++;
    if (upstream[at] !== state) return undefined;
    at++;
  }
  return upstream.slice(at);
}

/** Absent, empty and null values are equivalent for readers of JSON. */
const isBlank = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

function fieldsOf(upstream: unknown, here: unknown, path: string): readonly Part[] {
  if (path === 'status.lastErrors') return errorsOf(upstream, here);
  const pair = asObjects(upstream, here, path);
  if (pair) {
    const [a, b] = pair;
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) => fieldsOf(a[key], b[key], path === '' ? key : `${path}.${key}`));
  }
  if (isDeepStrictEqual(upstream, here) || (isBlank(upstream) && isBlank(here))) return [];
  return [{ path, upstream, here }];
}

/** Both values as objects for a comparison by field, if possible. Conditions are matched by type. */
function asObjects(upstream: unknown, here: unknown, path: string): readonly [Fields, Fields] | undefined {
  const isMap = path === 'metadata.annotations' || path === 'metadata.labels' || path === 'status';
  const [a, b] = isMap ? [upstream ?? {}, here ?? {}] : [upstream, here];
  if (path === 'status.conditions') return [byType(a), byType(b)];
  if (Array.isArray(a) && Array.isArray(b))
    return [Object.fromEntries(a.entries()), Object.fromEntries(b.entries())];
  return isObject(a) && isObject(b) ? [a, b] : undefined;
}

const byType = (conditions: unknown): Fields =>
  Object.fromEntries(
    (Array.isArray(conditions) ? conditions : [])
      .filter(isObject)
      .map((each) => [String(each['type']), each]),
  );

/**
 * Compares the last errors of an item by operation, reason and codes. Consecutive equal errors count once. The
 * lists have different maximum lengths, so both are cut.
 */
function errorsOf(upstream: unknown, here: unknown): readonly Part[] {
  const [a, b] = [gist(upstream), gist(here)];
  const common = Math.min(a.length, b.length);
  const isEqual =
    isDeepStrictEqual(a.slice(-common), b.slice(-common)) && (a.length === 0) === (b.length === 0);
  return isEqual && b.length >= a.length ? [] : [{ path: 'status.lastErrors', upstream: a, here: b }];
}

function gist(errors: unknown): readonly string[] {
  const list = (Array.isArray(errors) ? errors : []).filter(isObject);
  const words = list.map(({ operation, reason, codes }) => JSON.stringify([operation, reason, codes ?? []]));
  return words.filter((word, i) => word !== words[i - 1]);
}
