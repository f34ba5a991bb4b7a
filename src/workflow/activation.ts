/**
 * Sources of nodes with an activation condition: a source exists while at least one primary has activated a node that
 * reads it.
 */
import { isSameKind, keyOf } from '../runtime/keys.ts';
import type { Controller } from '../runtime/controller/controller.ts';
import type { Key, Kind, Obj, View } from '../runtime/types.ts';
import type { AnyDependent, Setup } from './dependent.ts';
import type { SourceSwitch } from './workflow.ts';

interface Live {
  /** `ns/name node` of each primary and node that use it. */
  readonly users: Set<string>;
  readonly started: Promise<void>;
  readonly release?: () => void;
}

export class ActivationSources<P extends Obj> implements SourceSwitch<P> {
  readonly #setup: Setup<P>;
  readonly #creators: ReadonlyMap<string, AnyDependent<P>>;
  readonly #controller: () => Pick<Controller<P>, 'addSource' | 'removeSource' | 'hasSource'>;
  readonly #live = new Map<string, Live>();

  /**
   * @param activated the dependents of nodes with an activation condition; one creates the source for all that name
   * it
   */
  constructor(
    setup: Setup<P>,
    activated: readonly AnyDependent<P>[],
    controller: () => Pick<Controller<P>, 'addSource' | 'removeSource' | 'hasSource'>,
  ) {
    this.#setup = { ...setup, isSeparate: true };
    this.#controller = controller;
    const creators = activated.filter((use) => use.createSource !== undefined);
    this.#creators = new Map(creators.map((use) => [use.source ?? '', use]));
  }

  async on(use: AnyDependent<P>, p: View<P>): Promise<void> {
    const { source: name } = use;
    const creator = use.createSource ? use : this.#creators.get(name ?? '');
    if (name === undefined || !creator?.createSource) return;
    let live = this.#live.get(name);
    if (!live) {
      if (this.#controller().hasSource(name)) return;
      const { source, release } = creator.createSource(this.#setup);
      use.check?.(this.#setup, source);
      const started = this.#controller().addSource(source);
      live = { users: new Set(), started, ...(release && { release }) };
      this.#live.set(name, live);
    }
    live.users.add(userOf(use, p));
    try {
      await live.started;
    } catch (error) {
      // The next activation tries again.
      if (this.#live.get(name) === live) this.#end(name, live);
      throw error;
    }
  }

  off(use: AnyDependent<P>, p: View<P>): void {
    this.#leave(use.source, (user) => user === userOf(use, p));
  }

  /** Whether a node that no primary has activated would add such a source. @param name of the source */
  isInactive(kind: Pick<Kind, 'group' | 'version' | 'kind'>, name: string | undefined): boolean {
    return [...this.#creators].some(
      ([source, use]) =>
        use.kind &&
        isSameKind(use.kind, kind) &&
        (name === undefined || name === source) &&
        !this.#live.has(source),
    );
  }

  /** Whether it is the name of the source of a node that no primary has activated. */
  isInactiveSource(name: string): boolean {
    return this.#creators.has(name) && !this.#live.has(name);
  }

  /** The primary is gone. */
  forget(key: Key): void {
    for (const name of [...this.#live.keys()]) this.#leave(name, (user) => user.startsWith(`${key} `));
  }

  #leave(name: string | undefined, isLeaving: (user: string) => boolean): void {
    const live = name === undefined ? undefined : this.#live.get(name);
    if (name === undefined || !live) return;
    for (const user of live.users) if (isLeaving(user)) live.users.delete(user);
    if (live.users.size === 0) this.#end(name, live);
  }

  #end(name: string, live: Live): void {
    this.#live.delete(name);
    this.#controller().removeSource(name);
    live.release?.();
  }
}

const userOf = (use: { readonly name: string }, p: View<Obj>): string => `${keyOf(p)} ${use.name}`;
