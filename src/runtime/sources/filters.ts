/** Which changes of a primary are handled: predicates, their combinations, and the defaults of a controller. */
import { equal } from '../../lib/json.ts';
import type { Change, Key, Obj, View } from '../types.ts';

/** Decides which changes are handled; a missing method accepts all changes of its type. */
export interface Predicate<T extends Obj = Obj> {
  /** @param initial the object already existed when the cache started */
  add?(obj: View<T>, initial: boolean): boolean;
  update?(old: View<T>, obj: View<T>): boolean;
  delete?(obj: View<T>): boolean;
  /** Events that are not changes of an object: polls, webhooks. */
  generic?(key: Key): boolean;
}

/** Whether `predicate` accepts a change. */
export function admits<T extends Obj>(predicate: Predicate<T>, change: Change<T>): boolean {
  switch (change.type) {
    case 'add':
      return predicate.add?.(change.obj, change.initial) ?? true;
    case 'update':
      return predicate.update?.(change.old, change.obj) ?? true;
    case 'delete':
      return predicate.delete?.(change.obj) ?? true;
  }
}

/** Accepts all changes of objects for which `test` is true; an update is about the new state. */
export const objectsThat = <T extends Obj>(test: (obj: View<T>) => boolean): Predicate<T> => ({
  add: (obj) => test(obj),
  update: (_, obj) => test(obj),
  delete: (obj) => test(obj),
});

/** Accepts changes that all predicates accept. */
export const and = <T extends Obj>(...predicates: readonly Predicate<T>[]): Predicate<T> => ({
  add: (obj, initial) => predicates.every((p) => p.add?.(obj, initial) ?? true),
  update: (old, obj) => predicates.every((p) => p.update?.(old, obj) ?? true),
  delete: (obj) => predicates.every((p) => p.delete?.(obj) ?? true),
  generic: (key) => predicates.every((p) => p.generic?.(key) ?? true),
});

/** Accepts changes that at least one predicate accepts. */
export const or = <T extends Obj>(...predicates: readonly Predicate<T>[]): Predicate<T> => ({
  add: (obj, initial) => predicates.some((p) => p.add?.(obj, initial) ?? true),
  update: (old, obj) => predicates.some((p) => p.update?.(old, obj) ?? true),
  delete: (obj) => predicates.some((p) => p.delete?.(obj) ?? true),
  generic: (key) => predicates.some((p) => p.generic?.(key) ?? true),
});

/** Accepts changes that the predicate does not accept. */
export const not = <T extends Obj>(predicate: Predicate<T>): Predicate<T> => ({
  add: (obj, initial) => !(predicate.add?.(obj, initial) ?? true),
  update: (old, obj) => !(predicate.update?.(old, obj) ?? true),
  delete: (obj) => !(predicate.delete?.(obj) ?? true),
  generic: (key) => !(predicate.generic?.(key) ?? true),
});

/** Updates that raise the generation; kinds without a generation always count as changed. */
export const generationChanged: Predicate = {
  update: (old, { metadata: { generation } }) =>
    generation === undefined || generation !== old.metadata.generation,
};

/** Updates that changed anything, but not lists with the same version. */
export const resourceVersionChanged: Predicate = {
  update: (old, obj) => old.metadata.resourceVersion !== obj.metadata.resourceVersion,
};

/** Updates that changed a label. */
export const labelsChanged: Predicate = {
  update: (old, obj) => !equal(old.metadata.labels ?? {}, obj.metadata.labels ?? {}),
};

/** Updates that changed an annotation. */
export const annotationsChanged: Predicate = {
  update: (old, obj) => !equal(old.metadata.annotations ?? {}, obj.metadata.annotations ?? {}),
};

/** The update that sets the deletion timestamp. */
export const deletionStarted: Predicate = {
  add: (obj) => obj.metadata.deletionTimestamp !== undefined,
  update: (old, obj) =>
    old.metadata.deletionTimestamp === undefined && obj.metadata.deletionTimestamp !== undefined,
};

/** Objects without a finalizer that they should have. */
export const finalizerMissing = (finalizer: string): Predicate => {
  const isMissing = ({ metadata }: View<Obj>): boolean =>
    metadata.deletionTimestamp === undefined && !metadata.finalizers?.includes(finalizer);
  return { add: isMissing, update: (_, obj) => isMissing(obj) };
};

/** Objects whose status is not about the latest generation yet. */
export const notObserved: Predicate = {
  add: (obj) => isUnobserved(obj),
  update: (_, obj) => isUnobserved(obj),
};

const isUnobserved = (obj: View<Obj>): boolean => {
  const { generation } = obj.metadata;
  return generation === undefined || generation > observedGenerationOf(obj);
};

/** `status.observedGeneration`, 0 when absent. */
export function observedGenerationOf(obj: View<Obj>): number {
  const { status } = obj as { readonly status?: { readonly observedGeneration?: number } };
  return status?.observedGeneration ?? 0;
}

/**
 * `status`: an object is handled until `status.observedGeneration`, which the runtime writes, has reached its
 * generation. `memory`: an update is handled if the generation differs from the last one seen. `off`: every update is
 * handled.
 */
export type GenerationMode = 'status' | 'memory' | 'off';

/**
 * The default filter of a controller: new generations, the start of a deletion, and a missing finalizer.
 * @param finalizer the one that the runtime manages, if any
 */
export function defaultPredicate(mode: GenerationMode, finalizer: string | undefined): Predicate {
  if (mode === 'off') return {};
  const always = finalizer === undefined ? [] : [finalizerMissing(finalizer)];
  return or(mode === 'status' ? notObserved : generationChanged, deletionStarted, ...always);
}
