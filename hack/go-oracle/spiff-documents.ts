/** Whole Spiff documents made from a grammar, evaluated by our engine and by the original. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../src/lib/clock.ts';
import { seededRng, type Rng } from '../../src/lib/rng.ts';
import { noFiles } from '../../src/templating/files.ts';
import { standardFunctions } from '../../src/templating/spiff/functions/index.ts';
import type { SpiffValue } from '../../src/templating/spiff/value.ts';
import { readSpiffYaml } from '../../src/templating/spiff/yaml/index.ts';
import { plain, type SpiffAnswer, type SpiffRequest } from './spiff-answers.ts';

/** Where the engine is, and what of it is used here. */
const ENGINE = new URL('../../src/templating/spiff/spiff.ts', import.meta.url);

interface Engine {
  renderSpiff(
    input: { document: SpiffValue; values: ReadonlyMap<string, SpiffValue>; source: string },
    world: object,
  ): { value: SpiffValue };
}

const VALUES = {
  v: {
    name: 'web',
    num: 3,
    f: 0.1,
    e: '',
    nul: null,
    yes: true,
    no: false,
    l: ['one', 'two'],
    nums: [1, 2, 3],
    m: { b: 2, a: 1 },
    deep: { x: null, y: { z: 'end' } },
    objs: [
      { name: 'p', v: 'x' },
      { name: 'q', v: 'y' },
    ],
  },
};

/** Productions of the grammar; `E` is an expression, `L` a list, `S` a text. */
const RULES: Readonly<Record<'E' | 'L' | 'S', readonly string[]>> = {
  E: [
    ...['S', 'S', 'L', '1', '5', '-2', '1.5', 'true', 'false', '~', '{ "k" = E }', 'v.m', 'v.num', 'v.f'],
    ...[
      'v.nul',
      'v.yes',
      'v.deep',
      'v.deep.y.z',
      'v.nope',
      'v.l.[0]',
      'v.l[1]',
      'v.objs.q.v',
      'v.m.a',
      'a',
      'b',
    ],
    ...['(E)', 'E + E', 'E - E', 'E * E', 'E / E', 'E % E', 'E == E', 'E != E', 'E < E', 'E >= E', 'E || E'],
    ...['E // E', 'E ? E :E', '!E', 'E -and E', 'E -or E', 'E E', 'S "-" S', 'integer(v.num)', 'type(E)'],
    ...[
      'defined(E)',
      'valid(E)',
      'catch(E)',
      'length(L)',
      'sum[L|0|s,x|->s + length(x)]',
      'sum[L|""|s,x|->s x]',
    ],
    ...[
      '(|x|->x E)(E)',
      '(|x,y=1|->x y)(E)',
      'v.objs.[*].v',
      'asjson(E)',
      'require(E)',
      'merge(v.m, { "c" = E })',
    ],
    ...[
      '( $q = E ) q',
      'map{v.m|k,x|->k S}',
      'select{v.m|k,x|->k == "a"}',
      'error("n %d", 5)',
      'stub(a)',
      '~~',
    ],
  ],
  L: [
    'v.l',
    '[ E, E ]',
    '[]',
    '[1 .. 3]',
    'map[L|x|->x S]',
    'select[v.l|x|->x == S]',
    'L L',
    'map[v.m|k,x|->k]',
  ],
  S: [
    'v.name',
    '"x"',
    '"a b"',
    'v.e',
    '"1"',
    'join(",", L)',
    'string(1)',
    'upper(S)',
    'v.l.[0]',
    'v.deep.y.z',
  ],
};

const pick = <T>(rng: Rng, from: readonly T[]): T => from[Math.floor(rng.next() * from.length)] as T;

function expression(rng: Rng, symbol: keyof typeof RULES, depth: number): string {
  const rules = RULES[symbol];
  const rule =
    depth > 0
      ? pick(rng, rules)
      : pick(
          rng,
          rules.filter((text) => !/\b[ELS]\b/.test(text)),
        );
  return rule.replace(/\b[ELS]\b/g, (next) => expression(rng, next as keyof typeof RULES, depth - 1));
}

const NODES = ['E', 'E', 'E', 'plain', '{ x: E, y: [E] }', '[E, { <<<: L }]', '{ <<<: M, a: 9 }'];

function documentText(rng: Rng): string {
  const quoted = (text: string): string => `'(( ${text.replaceAll("'", "''")} ))'`;
  const node = (): string =>
    pick(rng, NODES).replace(/\b[ELM]\b/g, (symbol) =>
      quoted(symbol === 'M' ? 'v.m' : expression(rng, symbol as 'E' | 'L', 2)),
    );
  return ['a', 'b', 'c'].map((key) => `${key}: ${node()}\n`).join('');
}

const DOCUMENTS = 600;

/** One text per document: its difference, or undefined. None when the engine is not there, which is said. */
export async function compareDocuments(
  rng: Rng,
  ask: (requests: readonly SpiffRequest[]) => readonly SpiffAnswer[],
): Promise<readonly (string | undefined)[]> {
  if (!existsSync(fileURLToPath(ENGINE))) {
    process.stdout.write(`documents are not compared: there is no ${fileURLToPath(ENGINE)}\n`);
    return [];
  }
  const engine = (await import(ENGINE.href)) as Engine;
  const requests = Array.from({ length: DOCUMENTS }, () => ({
    document: documentText(rng),
    bindings: VALUES,
  }));
  const answers = ask(requests);
  return requests.map((request, i) =>
    difference(request, answers[i] as SpiffAnswer, evaluate(engine, request)),
  );
}

function evaluate(engine: Engine, { document }: SpiffRequest): SpiffAnswer {
  try {
    const { value } = engine.renderSpiff(
      {
        document: readSpiffYaml(document),
        values: doubles(VALUES) as ReadonlyMap<string, SpiffValue>,
        source: 'template',
      },
      { clock: systemClock, rng: seededRng(1), files: noFiles, functions: standardFunctions },
    );
    return {
      output: JSON.stringify(plain(value), (_key, item: unknown) =>
        typeof item === 'bigint' ? Number(item) : item,
      ),
    };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** JSON as values: what comes from outside has no integers. */
function doubles(value: unknown): SpiffValue {
  if (Array.isArray(value)) return value.map(doubles);
  if (typeof value !== 'object' || value === null) return value as SpiffValue;
  return new Map(Object.entries(value).map(([key, item]) => [key, doubles(item)]));
}

function difference({ document }: SpiffRequest, go: SpiffAnswer, ours: SpiffAnswer): string | undefined {
  if (go.error !== undefined || ours.error !== undefined) {
    const [theirs, is] = [go, ours].map(({ output, error }) =>
      error === undefined ? output : inOrder(error),
    );
    return theirs === is ? undefined : describe(document, go, ours);
  }
  const same = isDeepStrictEqual(JSON.parse(go.output ?? ''), JSON.parse(ours.output ?? ''));
  return same ? undefined : describe(document, go, ours);
}

/** The entries of a list of problems in an order of their own: the original leaves it to chance. */
function inOrder(error: string): string {
  const [head = '', ...entries] = error.split(/\n\t(?=\(\( )/);
  return [head, ...entries.sort()].join('\n\t');
}

const describe = (document: string, go: SpiffAnswer, ours: SpiffAnswer): string =>
  `${document}  Go:   ${show(go)}\n  ours: ${show(ours)}`;

const show = ({ output, error }: SpiffAnswer): string =>
  error === undefined ? (output ?? '') : `ERR ${error}`;
