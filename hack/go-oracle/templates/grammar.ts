/**
 * Generates templates from the grammar: every action, arbitrarily nested, with variables in their scopes. Most of
 * them succeed; a few call missing functions or fail in the middle, so that error messages and positions are
 * compared as well.
 */
import type { Rng } from '../../../src/lib/rng.ts';
import { pick, times, words } from '../random-parts.ts';
import type { TemplateRequest } from '../oracle.ts';
import { PRINTED, VALUES } from './values.ts';

const TEXT = ['', '', ' ', '\n', '\n  ', 'a', 'key: ', '- ', ' } ', '"', '\t', 'ä', '世\n', '{ ', '%'];
const STRINGS = words('"a" ~ "" ~ `raw "q"` ~ "a\\n\\"b" ~ "%d|%v" ~ "web" ~ "ä世" ~ "<b>&\'"');
const NUMBERS = words(
  "0 ~ 1 ~ 2 ~ -1 ~ 7 ~ 1.5 ~ -0.25 ~ 1e3 ~ 1e6 ~ 1e21 ~ 1e-7 ~ 0x1F ~ 0b11 ~ 0o17 ~ 1_000 ~ 'a' ~ 2.0 ~ 100000 ~ 123456789 ~ 20971520.0",
);
const FIELDS = words(
  '. ~ .name ~ .num ~ .big ~ .f ~ .zero ~ .neg ~ .e ~ .nul ~ .yes ~ .l ~ .nums ~ .m ~ .m.a ~ .deep.y.z ~ .deep.x ~ .objs ~ .mixed ~ .nope ~ .uni ~ $ ~ $.name ~ $.m ~ $.nums ~ $.objs',
);
const BROKEN = words(
  '.deep.x.y ~ .name.x ~ .l.x ~ $nobody ~ nofunction 1 ~ (1 ~ "open ~ .m.a.b ~ .a-b ~ nil ~ 1x ~ .nope.z ~ {{ ~ ) ~ | ~ call .name ~ template ~ 0x',
);
const RANGED = words(
  '.l ~ .nums ~ .m ~ .mixed ~ .objs ~ .nope ~ .nul ~ 3 ~ 0 ~ (until 2) ~ (list) ~ (dict) ~ $.m ~ $.nums ~ (len .l) ~ .name ~ 2.0 ~ .num ~ -1 ~ (splitList "," "a,b") ~ (dict "b" 1 "a" (list 2))',
);
/** Functions with the kinds of their arguments: o any, s string, n number, l list, m map. */
const CALLS = words(
  'and o o ~ or o o ~ and o o o ~ or o ~ not o ~ eq o o ~ eq o o o ~ ne o o ~ eq n n ~ lt n n ~ le n n ~ gt n n ~ ge s s ~ lt s s ~ eq s s ~ ne n n ~ len o ~ len l ~ index l n ~ index m s ~ index l ~ index m s s ~ print o o ~ print s n n s ~ println o ~ println n s ~ printf s o ~ html o ~ js o ~ urlquery o ~ slice s n ~ slice l n n ~ upper s ~ quote o ~ default o o ~ list o o ~ dict s o ~ add n n ~ int o ~ toString o ~ toJson o ~ first l ~ ternary o o o ~ hasKey m s ~ join s l ~ typeOf o ~ kindOf o ~ float64 o ~ mul n n ~ div n n ~ int64 n',
);

class Grammar {
  readonly #rng: Rng;
  /** Innermost scope last. */
  #scope: string[] = [];
  #loops = 0;
  #named = 0;
  /** Number of defined templates that may be called. */
  #callable = 0;

  constructor(rng: Rng) {
    this.#rng = rng;
  }

  template(): string {
    const definitions = times(this.#upTo(3), () => this.#define()).join('');
    return definitions + this.#list(3);
  }

  #is(probability: number): boolean {
    return this.#rng.next() < probability;
  }
  #upTo(limit: number): number {
    return Math.floor(this.#rng.next() * limit);
  }
  #pick<T>(from: readonly T[]): T {
    return pick(this.#rng, from);
  }

  #action(inside: string): string {
    const blank = this.#is(0.9) ? ' ' : '';
    const open = this.#is(0.2) ? '{{- ' : `{{${blank}`;
    const close = this.#is(0.2) ? ' -}}' : `${blank}}}`;
    return open + inside + close;
  }

  #list(depth: number): string {
    const before = this.#scope.length;
    const parts = times(1 + this.#upTo(4), () => this.#pick(TEXT) + this.#node(depth));
    this.#scope.length = before;
    return parts.join('') + this.#pick(TEXT);
  }

  #node(depth: number): string {
    const kinds = ['print', 'print', 'print', 'variable', 'comment', 'template'] as const;
    const nested = ['if', 'if', 'with', 'range', 'range', 'block'] as const;
    const kind = depth > 0 && this.#is(0.5) ? this.#pick(nested) : this.#pick(kinds);
    if (this.#loops > 0 && this.#is(0.08)) return this.#action(this.#pick(['break', 'continue']));
    switch (kind) {
      case 'print':
        return this.#action(this.#pipeline(depth));
      case 'variable':
        return this.#action(this.#assignment(depth));
      case 'comment':
        return this.#pick(['{{/* c */}}', '{{- /* c\n c */ -}}', '{{- /**/}}', '{{/* }} */}}']);
      case 'template':
        return this.#action(this.#reference());
      case 'if':
        return this.#branches('if', depth);
      case 'with':
        return this.#branches('with', depth);
      case 'range':
        return this.#range(depth);
      case 'block':
        return `${this.#action(`block "B${String(this.#named++)}" ${this.#pipeline(1)}`)}${this.#alone(depth - 1)}${this.#end()}`;
    }
  }

  #assignment(depth: number): string {
    const known = this.#scope.at(-1);
    if (known !== undefined && this.#is(0.5)) return `${known} = ${this.#pipeline(depth)}`;
    return this.#declared((name) => `${name} := ${this.#pipeline(depth)}`);
  }

  /** The variable may be used after its declaration, not in it. */
  #declared(make: (name: string) => string): string {
    const name = `$${this.#pick(['x', 'y', 'v', 'Ü_1'])}`;
    const text = make(name);
    this.#scope.push(name);
    return text;
  }

  #branches(word: 'if' | 'with', depth: number): string {
    const before = this.#scope.length;
    const condition = (): string =>
      this.#is(0.25)
        ? this.#declared((name) => `${name} := ${this.#pipeline(depth)}`)
        : this.#pipeline(depth);
    let text = this.#action(`${word} ${condition()}`) + this.#list(depth - 1);
    while (this.#is(0.25)) text += this.#action(`else ${word} ${condition()}`) + this.#list(depth - 1);
    if (this.#is(0.5)) text += this.#action('else') + this.#list(depth - 1);
    this.#scope.length = before;
    return text + this.#end();
  }

  #range(depth: number): string {
    const before = this.#scope.length;
    // Only over known values: a range over a large number would take too long.
    const over = this.#pick(RANGED);
    const declaration = this.#pick(['', '$v := ', '$k, $v := ', '$k, $v := ']);
    if (declaration !== '') this.#scope.push('$v');
    if (declaration.startsWith('$k')) this.#scope.push('$k');
    this.#loops++;
    let text = this.#action(`range ${declaration}${over}`) + this.#list(depth - 1);
    this.#loops--;
    this.#scope.length = before;
    if (this.#is(0.3)) text += this.#action('else') + this.#list(depth - 1);
    return text + this.#end();
  }

  /** Calls a template that was defined before. A recursive template would run until Go's limit, which takes long. */
  #reference(): string {
    if (this.#callable === 0) return this.#pipeline(1);
    const name = this.#is(0.97) ? this.#upTo(this.#callable) : 9;
    return `template "T${String(name)}"${this.#is(0.7) ? ` ${this.#pipeline(1)}` : ''}`;
  }

  #define(): string {
    const name = `T${String(this.#callable)}`;
    const text = `${this.#action(`define "${name}"`)}${this.#alone(2)}${this.#end()}`;
    this.#callable++;
    return text;
  }

  /** The body of a definition sees no outer variables and is not in a loop. */
  #alone(depth: number): string {
    const [scope, loops] = [this.#scope, this.#loops];
    this.#scope = [];
    this.#loops = 0;
    const text = this.#list(Math.max(0, depth));
    this.#scope = scope;
    this.#loops = loops;
    return text;
  }

  #end(): string {
    return this.#is(0.995) ? this.#action('end') : '';
  }

  #pipeline(depth: number): string {
    let text = this.#is(0.4) ? this.#operand('o', depth) : this.#call(depth);
    while (this.#is(0.2)) text += ` | ${this.#piped(depth)}`;
    return text;
  }

  #piped(depth: number): string {
    return this.#is(0.2) ? this.#format() : this.#call(depth, true);
  }

  #format(): string {
    const flags = this.#pick(['', '', '-', '+', '0', '#', ' ']);
    const verb = this.#pick(
      words('v ~ d ~ s ~ q ~ f ~ g ~ t ~ T ~ 5d ~ -4s ~ .2f ~ 6.1f ~ 03d ~ e ~ U ~ c ~ % ~ o'),
    );
    return `printf "%${flags}${verb}"`;
  }

  #call(depth: number, isPiped = false): string {
    if (this.#is(0.1)) return `${this.#format()} ${this.#pick(PRINTED)}`;
    const [name = '', ...kinds] = this.#pick(CALLS).split(' ');
    const given = isPiped ? kinds.slice(0, -1) : kinds;
    return [name, ...given.map((kind) => this.#operand(kind, depth))].join(' ');
  }

  #operand(kind: string, depth: number): string {
    if (this.#is(0.006)) return this.#pick(BROKEN);
    if (depth > 0 && this.#is(0.15)) return `(${this.#pipeline(depth - 1)})${this.#is(0.1) ? '.a' : ''}`;
    if (this.#scope.length > 0 && this.#is(0.3))
      return this.#pick(this.#scope) + (this.#is(0.05) ? '.a' : '');
    switch (this.#is(0.92) ? kind : 'o') {
      case 's':
        return this.#pick([...STRINGS, '.name', '$.name']);
      case 'n':
        return this.#pick([...NUMBERS, '.num', '(len .l)', '(int .num)']);
      case 'l':
        return this.#pick(['.l', '.nums', '.mixed', '$.nums', '(list 1 2)', '(until 3)']);
      case 'm':
        return this.#pick(['.m', '.deep', '$.m', '(dict "a" 1)', '(dict)']);
      default:
        return this.#pick([...STRINGS, ...NUMBERS, ...FIELDS, ...FIELDS, 'true', 'false']);
    }
  }
}

export const grammar = (rng: Rng, count: number): TemplateRequest[] =>
  times(count, () => ({ template: new Grammar(rng).template(), values: VALUES }));
