/**
 * Starts a reconcile of the objects whose references a change concerns: the value of a referenced object appears or
 * changes, or a selector begins or ceases to match it.
 *
 * Objects are found by an index over those whose references are open: it contains the key of each referenced object,
 * and for selectors the namespace in which they choose.
 */
import { equal } from '../../lib/json.ts';
import { keyOf } from '../keys.ts';
import type { Source, SourceHost } from '../sources/sources.ts';
import type { Cache, Change, Key, Obj, View } from '../types.ts';
import { controllerOf, isMatch, keyOfReference, namespaceOfChoice, readChoice } from './reference-choice.ts';
import { valueOf, type Reference } from './references.ts';

export function referenceSource<P extends Obj>(reference: Reference, cache: Cache<Obj>): Source<P> {
  const name = `references in ${reference.field}`;
  return {
    name,
    cache,
    stage: 'normal',
    attach(host) {
      const referrers = referrersIn(host, name, reference);
      const unsubscribe = cache.subscribe({
        name: host.controller,
        // Objects of the primary's own kind may refer to each other, so own writes concern others.
        ownEvents: 'deliver',
        on(change) {
          if (!host.guard(`value of ${name}`, () => isRelevant(change, reference), true)) return;
          const cause = { source: name, action: change.type };
          const keys = new Set(statesOf(change).flatMap((state) => referrers(state)));
          for (const key of keys) host.emit(key, cause);
        },
      });
      return {
        async start(signal) {
          signal.addEventListener('abort', unsubscribe, { once: true });
          await cache.start(signal);
        },
        of: () => [],
      };
    },
  };
}

const statesOf = (change: Change<Obj>): readonly View<Obj>[] =>
  change.type === 'update' ? [change.old, change.obj] : [change.obj];

/** Most updates change neither the value nor what selectors match. */
function isRelevant(change: Change<Obj>, reference: Reference): boolean {
  if (change.type === 'add') return !change.initial;
  if (change.type === 'delete') return true;
  const [before, after] = [change.old, change.obj].map((state) => [
    valueOf(reference, state),
    state.metadata.labels ?? {},
    controllerOf(state),
  ]);
  return !equal(before, after);
}

const SELECTED_IN = 'selected in ';

/** The objects that refer to a state of an object. */
function referrersIn<P extends Obj>(
  { primaries }: SourceHost<P>,
  name: string,
  reference: Reference,
): (target: View<Obj>) => readonly Key[] {
  const entriesOf = (primary: View<Obj>): readonly string[] => {
    const choice = readChoice(primary, reference);
    if (!choice?.isOpen) return [];
    if (choice.isSelector) return [SELECTED_IN + namespaceOfChoice(primary, reference.kind)];
    return choice.references.flatMap(({ by }) => keyOfReference(primary, by, reference.kind) ?? []);
  };
  // An index must exist before the first list.
  const isIndexed = !primaries.isSynced;
  if (isIndexed) primaries.index(name, entriesOf);
  const withEntry = (entry: string): readonly View<P>[] =>
    isIndexed
      ? primaries.byIndex(name, entry)
      : [...primaries.list()].filter((primary) => entriesOf(primary).includes(entry));
  return (target) => {
    const { namespace = '' } = target.metadata;
    const selecting = [...new Set([namespace, ''])].flatMap((each) => withEntry(SELECTED_IN + each));
    const matching = selecting.filter((primary) =>
      readChoice(primary, reference)?.references.some(({ by }) => isMatch(primary, by, target)),
    );
    return [...withEntry(keyOf(target)), ...matching].map(keyOf);
  };
}
