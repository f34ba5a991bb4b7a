/**
 * Data mappings: the part of Spiff that they use in practice. Texts that are one `(( expression ))` are replaced by
 * its value; an expression is a row of references and literals, several are joined to one text. Anything more is
 * refused with a clear message; nothing can reach files, processes or the environment.
 */
import { isObject, ownField } from '../lib/objects.ts';
import { BlueprintProblem } from './errors.ts';

/** A mapping cannot be evaluated: a name it refers to is missing, or it uses what is not supported. */
export class MappingFailed extends BlueprintProblem {}

/** Marks a field or list entry that has to go: `(( ~~ ))`. */
const GONE = Symbol('gone');

const EXPRESSION = /^\s*\(\((?!!)([\s\S]*)\)\)\s*$/;
const ESCAPED = /^(\s*\(\()!([\s\S]*\)\)\s*)$/;
const MERGE_KEYS: ReadonlySet<string> = new Set(['<<<', '<<']);

/**
 * The value of one mapping.
 * @param document the mapping as it stands in the installation
 * @param bindings names the mapping may refer to
 * @param what name for messages, e.g. `import mapping template shop.url`
 * @param reason reason of the error
 * @throws MappingFailed
 */
export function evaluateMapping(
  document: unknown,
  bindings: Readonly<Record<string, unknown>>,
  { what, reason }: { readonly what: string; readonly reason: string },
): unknown {
  try {
    const value = new Evaluation(document, bindings).node(document, [], '');
    return value === GONE ? null : value;
  } catch (error) {
    if (!(error instanceof Unresolved)) throw error;
    const at = `\t(( ${error.expression} ))\tin ${error.path === '' ? '(root)' : error.path}\t*${error.why}`;
    throw new MappingFailed(reason, `unable to template ${what}: unresolved nodes:\n${at}`);
  }
}

class Unresolved extends Error {
  readonly expression: string;
  readonly path: string;
  readonly why: string;

  constructor(expression: string, path: string, why: string) {
    super(why);
    this.expression = expression;
    this.path = path;
    this.why = why;
  }
}

interface Scope {
  readonly map: Readonly<Record<string, unknown>>;
  readonly path: string;
}

class Evaluation {
  readonly #document: unknown;
  readonly #bindings: Readonly<Record<string, unknown>>;
  readonly #running = new Set<string>();

  constructor(document: unknown, bindings: Readonly<Record<string, unknown>>) {
    this.#document = document;
    this.#bindings = bindings;
  }

  /** @param scopes enclosing maps, innermost first */
  node(node: unknown, scopes: readonly Scope[], path: string): unknown {
    if (typeof node === 'string') return this.#text(node, scopes, path);
    if (Array.isArray(node)) {
      return node
        .map((element, i) => this.node(element, scopes, `${path}.[${i}]`.replace(/^\./, '')))
        .filter((element) => element !== GONE);
    }
    if (!isObject(node)) return node;
    const inner: readonly Scope[] = [{ map: node, path }, ...scopes];
    const entries = Object.entries(node).map(([key, child]) => {
      if (MERGE_KEYS.has(key))
        throw unsupported(key, path, 'merging with <<< is not supported in mappings yet');
      return [key, this.node(child, inner, below(path, key))] as const;
    });
    return Object.fromEntries(entries.filter(([, value]) => value !== GONE));
  }

  #text(text: string, scopes: readonly Scope[], path: string): unknown {
    const escaped = ESCAPED.exec(text);
    if (escaped) return `${escaped[1] ?? ''}${escaped[2] ?? ''}`;
    const expression = EXPRESSION.exec(text)?.[1]?.trim();
    if (expression === undefined) return text;
    if (this.#running.has(path)) throw new Unresolved(expression, path, `'${path}' refers to itself`);
    this.#running.add(path);
    try {
      const terms = scan(expression, path).map((term) => this.#term(term, scopes, expression, path));
      return terms.length === 1 ? terms[0] : join(terms, expression, path);
    } finally {
      this.#running.delete(path);
    }
  }

  #term(term: Term, scopes: readonly Scope[], expression: string, path: string): unknown {
    if ('value' in term) return term.value;
    const found = this.#lookup(term, scopes);
    if (found === undefined) throw new Unresolved(expression, path, `'${term.text}' not found`);
    return found;
  }

  /** The document's own fields first, from the inside out, then the bindings; undefined when not found. */
  #lookup({ steps, fromRoot }: Reference, scopes: readonly Scope[]): unknown {
    const [first, ...rest] = steps;
    if (first === undefined) return undefined;
    const documentScope = { map: isObject(this.#document) ? this.#document : {}, path: '' };
    for (const scope of fromRoot ? [documentScope] : scopes) {
      if (typeof first !== 'string' || !Object.hasOwn(scope.map, first)) continue;
      const outer = fromRoot ? [] : scopes.slice(scopes.indexOf(scope));
      return follow(this.node(scope.map[first], outer, below(scope.path, first)), rest);
    }
    return fromRoot ? undefined : follow(this.#bindings, steps);
  }
}

function follow(value: unknown, steps: readonly (string | number)[]): unknown {
  let at = value;
  for (const step of steps) {
    if (at === GONE) return undefined;
    if (typeof step === 'number') at = Array.isArray(at) ? at.at(step) : undefined;
    else if (Array.isArray(at)) at = at.find((element) => ownField(element, 'name') === step);
    else at = ownField(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

/** Texts, integers and booleans become one text; lists are joined; maps are merged, the right one wins. */
function join(terms: readonly unknown[], expression: string, path: string): unknown {
  if (terms.every(Array.isArray)) return terms.flat();
  if (terms.every(isObject)) return Object.assign({}, ...terms) as unknown;
  return terms
    .map((term) => {
      if (typeof term === 'string' || typeof term === 'boolean' || typeof term === 'bigint')
        return String(term);
      if (typeof term === 'number') {
        throw new Unresolved(expression, path, `type 'float' cannot be concatenated with a text`);
      }
      throw new Unresolved(expression, path, 'only texts, integers and booleans can be joined to a text');
    })
    .join('');
}

// ---------------------------------------------------------------- expressions

interface Reference {
  readonly text: string;
  readonly fromRoot: boolean;
  readonly steps: readonly (string | number)[];
}
type Term = Reference | { readonly value: unknown };

const REFERENCE = /^\.?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\.?\[(?:-?\d+|"(?:[^"\\]|\\.)*")\])*/;
const STEP = /\[(-?\d+)\]|\["((?:[^"\\]|\\.)*)"\]|([A-Za-z_][\w-]*)/g;
const TEXT = /^"(?:[^"\\]|\\.)*"/;
const INTEGER = /^-?\d+(?![\w.])/;

const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['nil', null],
]);

function scan(expression: string, path: string): readonly Term[] {
  const terms: Term[] = [];
  let rest = expression;
  while (rest !== '') {
    const { term, length } = scanTerm(rest) ?? {};
    if (!term || length === undefined) {
      throw unsupported(
        expression,
        path,
        `"${rest}" is not understood; mappings may use references, texts, integers and their concatenation`,
      );
    }
    terms.push(term);
    rest = rest.slice(length).trimStart();
  }
  return terms;
}

function scanTerm(text: string): { readonly term: Term; readonly length: number } | undefined {
  if (/^~~(?=\s|$)/.test(text)) return { term: { value: GONE }, length: 2 };
  if (/^~(?=\s|$)/.test(text)) return { term: { value: null }, length: 1 };
  const quoted = TEXT.exec(text)?.[0];
  if (quoted !== undefined) return { term: { value: JSON.parse(quoted) as string }, length: quoted.length };
  const integer = INTEGER.exec(text)?.[0];
  if (integer !== undefined) return { term: { value: BigInt(integer) }, length: integer.length };
  const name = REFERENCE.exec(text)?.[0];
  if (name === undefined || /^\s*[([]/.test(text.slice(name.length))) return undefined;
  if (CONSTANTS.has(name)) return { term: { value: CONSTANTS.get(name) }, length: name.length };
  const steps = [...name.matchAll(STEP)].map(([, index, quotedKey, key]) =>
    index === undefined ? (key ?? (JSON.parse(`"${quotedKey ?? ''}"`) as string)) : Number(index),
  );
  return { term: { text: name, fromRoot: name.startsWith('.'), steps }, length: name.length };
}

const unsupported = (expression: string, path: string, why: string): Unresolved =>
  new Unresolved(expression, path, why);

const below = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);
