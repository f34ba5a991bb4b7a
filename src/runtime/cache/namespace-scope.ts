/**
 * Namespaces that can change while the process runs. Caches and controllers join a scope. When a namespace is removed,
 * no reconcile starts in it any more, active ones end, and only then the caches drop its objects. They are not deleted:
 * no event is raised, and nothing is cleaned up.
 */
import { DefinitionError } from '../errors.ts';

/** Which namespaces; an empty list means that there are none. */
export type Namespaces = 'all' | readonly string[];

/** What changes with a scope. All methods are called in the same turn of the event loop as `set`, except for `close`. */
interface ScopeMember {
  /** Begins to read the namespaces of the scope. @returns when all of them are read, or have been removed again */
  open(isAdded: (namespace: string) => boolean): Promise<void>;
  /** Begins nothing more outside of the scope. @returns when everything that runs there has ended */
  leave(): Promise<void>;
  /** Drops what is outside of the scope. */
  close(): void;
}

/** A list of namespaces that all caches created with it follow. */
export interface NamespaceScope {
  readonly current: Namespaces;
  includes(namespace: string): boolean;
  /**
   * Changes the namespaces. Objects of added ones are listed and reconciled. For removed ones, active reconciles end, and
   * the objects leave the caches, without events and without cleanup.
   * @param namespaces `all`, or a list; an empty list means none
   * @returns when the added namespaces are read and the removed ones dropped. A namespace that cannot be read delays it;
   *   `/readyz` names the reason
   * @throws DefinitionError for a namespace without a name
   */
  set(namespaces: Namespaces): Promise<void>;
}

/** A scope, as caches and controllers see it. */
export class JoinableScope implements NamespaceScope {
  readonly #members = new Set<ScopeMember>();
  #current: Namespaces;
  #changes = 0;
  #settled: Promise<void> = Promise.resolve();

  constructor(initial: Namespaces) {
    this.#current = normalized(initial);
  }

  get current(): Namespaces {
    return this.#current;
  }

  includes(namespace: string): boolean {
    return includes(this.#current, namespace);
  }

  set(namespaces: Namespaces): Promise<void> {
    const before = this.#current;
    const next = normalized(namespaces);
    if (isSame(before, next)) return this.#settled;
    this.#current = next;
    const change = ++this.#changes;
    const members = [...this.#members];
    const isAdded = (namespace: string): boolean => !includes(before, namespace) && this.includes(namespace);
    const opened = members.map((member) => member.open(isAdded));
    const left = members.map((member) => member.leave());
    this.#settled = this.#settle(change, opened, left);
    return this.#settled;
  }

  async #settle(
    change: number,
    opened: readonly Promise<void>[],
    left: readonly Promise<void>[],
  ): Promise<void> {
    await Promise.all(left);
    // A later change drops what is outside of the scope when its own reconciles have ended.
    if (change === this.#changes) for (const member of this.#members) member.close();
    await Promise.all(opened);
  }

  /** @returns a function that ends the membership */
  join(member: ScopeMember): () => void {
    this.#members.add(member);
    return () => {
      this.#members.delete(member);
    };
  }
}

/**
 * Namespaces that can change while the operator runs; pass it as `namespaces`.
 * @throws DefinitionError for a namespace without a name
 */
export const namespaceScope = (initial: Namespaces): NamespaceScope => new JoinableScope(initial);

export const isScope = (namespaces: readonly string[] | NamespaceScope): namespaces is NamespaceScope =>
  namespaces instanceof JoinableScope;

/** The namespaces of a cache at the moment. In options, an empty list means all. */
export function namespacesOf(
  options: { readonly namespaces?: readonly string[] | NamespaceScope } = {},
): Namespaces {
  const { namespaces = [] } = options;
  if (isScope(namespaces)) return namespaces.current;
  return namespaces.length === 0 ? 'all' : namespaces;
}

export const scopeOf = (options: {
  readonly namespaces?: readonly string[] | NamespaceScope;
}): JoinableScope | undefined =>
  options.namespaces instanceof JoinableScope ? options.namespaces : undefined;

const includes = (namespaces: Namespaces, namespace: string): boolean =>
  namespaces === 'all' || namespaces.includes(namespace);

function normalized(namespaces: Namespaces): Namespaces {
  if (namespaces === 'all') return 'all';
  if (namespaces.includes(''))
    throw new DefinitionError({ message: 'a namespace has no name; use "all" for all namespaces' });
  return [...new Set(namespaces)].sort();
}

const isSame = (a: Namespaces, b: Namespaces): boolean =>
  a === b || (a !== 'all' && b !== 'all' && a.length === b.length && a.every((each, i) => each === b[i]));
