/** Sends many objects at the same time if they do not need each other. */
import { exportedNames, importedNames } from '../../../api/data-names.ts';
import { joinKey } from '../../../runtime/keys.ts';
import { isInstallation, rankOf } from './prepare.ts';
import type { PlannedObject } from './resolve.ts';

/** Requests at the same time. */
const AT_ONCE = 16;

/**
 * Consecutive objects that do not need each other: of one rank, and no installation imports what another one of the
 * batch exports. Pure.
 */
export function batchesOf(planned: readonly PlannedObject[]): readonly (readonly PlannedObject[])[] {
  const batches: PlannedObject[][] = [];
  let exported = new Set<string>();
  for (const one of planned) {
    const { object } = one;
    const batch = batches.at(-1);
    const place = (name: string): string => joinKey(object.metadata.namespace, name);
    const imports = isInstallation(object) ? [...importedNames(object.spec)].map(place) : [];
    const isNext =
      batch?.[0] !== undefined &&
      rankOf(batch[0].object.kind) === rankOf(object.kind) &&
      !imports.some((name) => exported.has(name));
    if (isNext) batch.push(one);
    else {
      batches.push([one]);
      exported = new Set();
    }
    if (isInstallation(object)) for (const name of exportedNames(object.spec)) exported.add(place(name));
  }
  return batches;
}

/** The first failure in the order of the items. */
interface Failure<T> {
  readonly item: T;
  readonly error: unknown;
}

/**
 * Calls `work` for all items, some at the same time; after a failure, only those that have started end.
 * @param report called in the order of the items, as soon as those before have ended
 */
export async function eachAtOnce<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  report: (result: R) => void = () => undefined,
): Promise<{ readonly results: readonly R[]; readonly failure: Failure<T> | undefined }> {
  const done = new Map<number, R>();
  const failures = new Map<number, unknown>();
  let next = 0;
  let reported = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.size === 0) {
      const i = next++;
      try {
        done.set(i, await work(items[i] as T));
      } catch (error) {
        failures.set(i, error);
      }
      for (; done.has(reported); reported++) report(done.get(reported) as R);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  const ended = [...done.keys()].sort((a, b) => a - b);
  for (const i of ended.filter((one) => one >= reported)) report(done.get(i) as R);
  const first = [...failures.keys()].sort((a, b) => a - b)[0];
  return {
    results: ended.map((i) => done.get(i) as R),
    failure: first === undefined ? undefined : { item: items[first] as T, error: failures.get(first) },
  };
}
