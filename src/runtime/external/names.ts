/** Under which names things are created in the service. */
import { sha1Name } from '../../lib/hash.ts';
import type { Obj, View } from '../types.ts';

/**
 * Chooses the name of a thing that has none yet. A name that is the same every time makes creation safe to repeat: after
 * a crash `observe` finds what was created. Names that the service assigns do not have that, see creation.ts.
 */
export interface NameStrategy<M extends Obj = Obj> {
  readonly isDeterministic: boolean;
  /** Undefined when the service will choose. */
  nameOf(object: View<M>): string | undefined;
}

/** `<prefix>-<uid>`: unique for all time, and nobody else's. */
export const byUid = (prefix: string): NameStrategy => ({
  isDeterministic: true,
  nameOf: ({ metadata }) => `${prefix}-${metadata.uid ?? ''}`,
});

/** The name of the object. Two objects of that name, in other namespaces or clusters, mean the same thing. */
export const byObjectName: NameStrategy = { isDeterministic: true, nameOf: ({ metadata }) => metadata.name };

/** The service chooses, and tells in the answer to `create`. */
export const assigned: NameStrategy = { isDeterministic: false, nameOf: () => undefined };

const HASH_LENGTH = 10;

/**
 * Names of another strategy, brought down to `length` characters: the end of one that is too long becomes a hash of it.
 * @param length at least 12
 */
export const shortened = <M extends Obj>(strategy: NameStrategy<M>, length: number): NameStrategy<M> => ({
  isDeterministic: strategy.isDeterministic,
  nameOf(object) {
    const name = strategy.nameOf(object);
    if (name === undefined || name.length <= length) return name;
    return `${name.slice(0, length - HASH_LENGTH - 1)}-${sha1Name(name).slice(0, HASH_LENGTH)}`;
  },
});
