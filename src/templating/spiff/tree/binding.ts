/** The context of an expression: the names in scope, its path, and the stubs of the document. */
import type { Path } from '../syntax/ast.ts';
import { find } from './find.ts';
import { FLAG, isFields, node, type Fields, type List, type Node } from './node.ts';

const SELF = '_';
const DOCUMENT = '__';
const ROOT = '___';
const NO_FIELDS: Fields = new Map();

/** The names of one map, or the parameters of a lambda. Scopes of lambdas are updated between passes. */
class Scope {
  local: Fields | undefined;
  /** The document if it is a list. */
  readonly list: List | undefined;
  /** Path of the map; undefined for the top of a document, for parameters and for the input values. */
  readonly path: Path | undefined;
  readonly outer: Scope | undefined;
  readonly #root: Scope | undefined;

  constructor(outer: Scope | undefined, path: Path | undefined, local: Fields | undefined, list?: List) {
    this.outer = outer;
    this.path = path;
    this.local = local ?? (list && outer?.root.local);
    this.list = list;
    this.#root = outer?.root;
  }

  get root(): Scope {
    return this.#root ?? this;
  }
}

interface Place {
  readonly scope: Scope | undefined;
  readonly path: Path;
  readonly stubPath: Path;
  readonly stubs: readonly Node[];
  /** Whether stubs are ignored here. */
  readonly isMergeOff: boolean;
  /** Name of the document that contains the expression. */
  readonly source: string;
  /** Name of the document that is evaluated. */
  readonly document: string;
  /** Parameters and similar names, which lambdas capture. */
  readonly locals: Fields;
  readonly outer: Binding | undefined;
}

/** Tags of all documents of an execution. */
interface Tag {
  readonly name: string;
  readonly node: Node;
  readonly path: Path;
}

export class Binding implements Place {
  readonly scope: Scope | undefined;
  readonly path: Path;
  readonly stubPath: Path;
  readonly stubs: readonly Node[];
  readonly isMergeOff: boolean;
  readonly source: string;
  readonly document: string;
  readonly locals: Fields;
  readonly outer: Binding | undefined;
  readonly tags: Map<string, Tag>;
  /** Lambdas of a finished document keep the names unchanged. */
  isActive = true;

  private constructor(place: Place, tags: Map<string, Tag>) {
    this.scope = place.scope;
    this.path = place.path;
    this.stubPath = place.stubPath;
    this.stubs = place.stubs;
    this.isMergeOff = place.isMergeOff;
    this.source = place.source;
    this.document = place.document;
    this.locals = place.locals;
    this.outer = place.outer;
    this.tags = tags;
  }

  /** The scope of all documents of an execution: its values. */
  static ofValues(values: Fields): Binding {
    return Binding.#start('context', [], undefined, new Map()).withLocals(values);
  }

  /** The scope of a nested document. */
  static ofDocument(outer: Binding, source: string, stubs: readonly Node[]): Binding {
    return Binding.#start(source, stubs, outer, outer.tags);
  }

  static #start(
    source: string,
    stubs: readonly Node[],
    outer: Binding | undefined,
    tags: Map<string, Tag>,
  ): Binding {
    const place = { scope: undefined, path: [], stubPath: [], isMergeOff: false, locals: NO_FIELDS };
    return new Binding({ ...place, stubs, source, document: source, outer }, tags);
  }

  #with(changes: Partial<Place>): Binding {
    const next = new Binding({ ...this.#place(), ...changes }, this.tags);
    next.isActive = this.isActive;
    return next;
  }

  #place(): Place {
    const { scope, path, stubPath, stubs, isMergeOff, source, document, locals, outer } = this;
    return { scope, path, stubPath, stubs, isMergeOff, source, document, locals, outer };
  }

  withScope(local: Fields): Binding {
    return this.#with({ scope: new Scope(this.scope, this.#scopePath(), local) });
  }

  withList(list: List): Binding {
    return this.#with({ scope: new Scope(this.scope, this.#scopePath(), undefined, list) });
  }

  /** The top of a document does not count for `__`. */
  #scopePath(): Path | undefined {
    return this.path.length > 0 ? this.path : undefined;
  }

  withLocals(names: Fields): Binding {
    const locals = new Map([...this.locals, ...names]);
    return this.#with({ locals, scope: new Scope(this.scope, undefined, names) });
  }

  /** The root becomes the document that is read. */
  withNewRoot(): Binding {
    return this.#with({ scope: undefined, outer: this });
  }

  withStep(step: string): Binding {
    return this.#with({ path: [...this.path, step], stubPath: [...this.stubPath, step] });
  }

  withSource(source: string): Binding {
    return source === this.source ? this : this.#with({ source });
  }

  /** Uses another path in the stubs; an empty path: no stubs. */
  redirected(stubPath: Path): Binding {
    return stubPath.length > 0
      ? this.#with({ stubPath, isMergeOff: false })
      : this.#with({ isMergeOff: true });
  }

  get rootFields(): Fields | undefined {
    return this.scope?.root.local;
  }

  findFromRoot(path: Path): Node | undefined {
    const root = this.scope?.root;
    if (!root) return undefined;
    if (!root.list) return find(node(root.local ?? NO_FIELDS, 'scope'), path, true);
    if (path.length === 0) return node(root.list, 'root');
    if (path[0] !== '__map') return find(node(root.list, 'scope'), path, true);
    let top: Fields | undefined;
    for (let at: Scope | undefined = this.scope; at; at = at.outer) if (at.local) top = at.local;
    return find(node(top ?? NO_FIELDS, 'scope'), path.slice(1), true);
  }

  /** Looks up the first step in the surrounding maps from the inside out, then in the values. */
  findReference(path: Path): Node | undefined {
    const [first = '', ...rest] = path;
    if (first === '__ctx') return find(this.#context(), rest, true);
    for (let scope: Scope | undefined = this.scope; scope; scope = scope.outer) {
      const found: Node | undefined = scope.local?.get(first);
      if (!found) continue;
      if (first === SELF && rest.length > 0) return found.resolver?.findReference(rest);
      return find(found, rest, true);
    }
    if (first === ROOT) return find(node(this.#outermost().rootFields ?? NO_FIELDS, '__ctx'), rest, true);
    const nearest = first === DOCUMENT ? this.#nearestMap() : undefined;
    if (nearest) return findInScopes(nearest, rest);
    return this.outer?.findReference(path);
  }

  #nearestMap(): Scope | undefined {
    for (let scope = this.scope; scope; scope = scope.outer) {
      if (scope.path !== undefined && scope.local) return scope;
    }
    return undefined;
  }

  #outermost(): Binding {
    return this.outer ? this.outer.#outermost() : this;
  }

  findInStubs(path: Path): Node | undefined {
    for (const stub of this.stubs) {
      const found = find(stub, path);
      if (found && !isImplied(found)) return found;
    }
    return undefined;
  }

  /** `__ctx`: the path and the scope. */
  #context(): Node {
    const outers: Node[] = [];
    for (let at = this.outer; at; at = at.outer) {
      if (at.rootFields) outers.push(node(at.rootFields, '__ctx'));
    }
    const texts = (steps: Path): Node =>
      node(
        steps.map((step) => node(step, '__ctx')),
        '__ctx',
      );
    const entries: [string, Node][] = [
      ['FILE', node(this.document, '__ctx')],
      ['DIR', node('.', '__ctx')],
      ['RESOLVED_FILE', node(this.document, '__ctx')],
      ['RESOLVED_DIR', node('.', '__ctx')],
      ['PATHNAME', node(this.path.join('.'), '__ctx')],
      ['PATH', texts(this.path)],
      ['STUBPATH', texts(this.stubPath)],
      ['BINDINGS', node(this.#outermost().rootFields ?? [], '__ctx')],
    ];
    if (outers.length > 0) entries.push(['OUTER', node(outers, '__ctx')]);
    return node(new Map(entries), '__ctx');
  }
}

const isImplied = ({ flags = 0 }: Node): boolean => (flags & (FLAG.implied | FLAG.default)) === FLAG.implied;

function findInScopes(from: Scope, path: Path): Node | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return node(from.local ?? NO_FIELDS, '__ctx');
  for (let scope: Scope | undefined = from; scope?.local; scope = scope.outer) {
    const found = scope.local.get(first);
    if (found) return find(found, rest, true);
  }
  return undefined;
}

/** Updates the scopes of lambdas with the document after a pass. */
export function refreshScopes(binding: Binding, root: Node): void {
  if (!binding.isActive) return;
  for (let scope = binding.scope; scope?.path; scope = scope.outer) {
    const now = find(root, scope.path, true);
    if (now) scope.local = isFields(now.value) ? now.value : undefined;
  }
}
