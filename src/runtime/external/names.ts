/** Names of resources in the service. */
import { sha1Name } from '../../lib/hash.ts';
import type { Obj, View } from '../types.ts';

/**
 * Chooses the name of a new resource. With a name that is the same every time, creation can be repeated: after a
 * crash `observe` finds the created resource. Names that the service assigns do not have this property, see
 * creation.ts.
 */
export interface NameStrategy<M extends Obj = Obj> {
  readonly isDeterministic: boolean;
  /** Undefined if the service chooses the name. */
  nameOf(object: View<M>): string | undefined;
}

/** `<prefix>-<uid>`: globally unique. */
export const byUid = (prefix: string): NameStrategy => ({
  isDeterministic: true,
  nameOf: ({ metadata }) => `${prefix}-${metadata.uid ?? ''}`,
});

/** The name of the object. Objects of the same name in other namespaces or clusters refer to the same resource. */
export const byObjectName: NameStrategy = { isDeterministic: true, nameOf: ({ metadata }) => metadata.name };

/** The service chooses the name and returns it from `create`. */
export const assigned: NameStrategy = { isDeterministic: false, nameOf: () => undefined };

const HASH_LENGTH = 10;

/**
 * Names of another strategy with at most `length` characters: the end of a longer name is replaced by its hash.
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
