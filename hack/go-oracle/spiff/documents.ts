/** Generates Spiff documents from a grammar, and compares our results with the original's. */
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRng, type Rng } from '../../../src/lib/rng.ts';
import { noFiles } from '../../../src/templating/files.ts';
import { standardFunctions } from '../../../src/templating/spiff/functions/index.ts';
import { fromJsonValue } from '../../../src/templating/spiff/json.ts';
import { renderSpiff } from '../../../src/templating/spiff/spiff.ts';
import type { SpiffMap } from '../../../src/templating/spiff/value.ts';
import { readSpiffYaml } from '../../../src/templating/spiff/yaml/index.ts';
import { messageOf } from '../../../test/support/blueprints.ts';
import { describe } from '../comparison.ts';
import { pick, times } from '../random-parts.ts';
import type { Answer, Oracle } from '../oracle.ts';
import { plain } from './plain.ts';

export const VALUES = {
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

/** Productions of the grammar; `E` is an expression, `L` a list, `S` a string. */
const RULES: Readonly<Record<'E' | 'L' | 'S', readonly string[]>> = {
  E: [
    'S',
    'S',
    'L',
    '1',
    '5',
    '-2',
    '1.5',
    'true',
    'false',
    '~',
    '{ "k" = E }',
    'v.m',
    'v.num',
    'v.f',
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
    '(E)',
    'E + E',
    'E - E',
    'E * E',
    'E / E',
    'E % E',
    'E == E',
    'E != E',
    'E < E',
    'E >= E',
    'E || E',
    'E // E',
    'E ? E :E',
    '!E',
    'E -and E',
    'E -or E',
    'E E',
    'S "-" S',
    'integer(v.num)',
    'type(E)',
    'defined(E)',
    'valid(E)',
    'catch(E)',
    'length(L)',
    'sum[L|0|s,x|->s + length(x)]',
    'sum[L|""|s,x|->s x]',
    '(|x|->x E)(E)',
    '(|x,y=1|->x y)(E)',
    'v.objs.[*].v',
    'asjson(E)',
    'require(E)',
    'merge(v.m, { "c" = E })',
    '( $q = E ) q',
    'map{v.m|k,x|->k S}',
    'select{v.m|k,x|->k == "a"}',
    'error("n %d", 5)',
    'stub(a)',
    '~~',
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

/** The difference for each document, or undefined. */
export function compareDocuments(ask: Oracle, rng: Rng, count: number): readonly (string | undefined)[] {
  const documents = times(count, () => documentText(rng));
  const answers = ask(documents.map((document) => ({ document, bindings: VALUES })));
  return documents.map((document, i) => difference(document, answers[i] as Answer));
}

/** Our result of a document. @param bindings names that it can refer to besides its own */
export function evaluateDocument(document: string, bindings: object = VALUES): Answer {
  try {
    const { value } = renderSpiff(
      {
        document: readSpiffYaml(document),
        values: fromJsonValue(bindings, 'input') as SpiffMap,
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
    return { error: messageOf(error) };
  }
}

function difference(document: string, go: Answer): string | undefined {
  const ours = evaluateDocument(document);
  return isSame(go, ours) ? undefined : describe(document, show(go), show(ours));
}

export function isSame(go: Answer, ours: Answer): boolean {
  if (go.error === undefined && ours.error === undefined) {
    return isDeepStrictEqual(JSON.parse(go.output ?? ''), JSON.parse(ours.output ?? ''));
  }
  const [theirs, is] = [go, ours].map(({ error }) => error && inOrder(error));
  return theirs === is;
}

/** Sorts the problems of an error, because the original lists them in random order. */
function inOrder(error: string): string {
  const [head = '', ...entries] = error.split(/\n\t(?!\t)/);
  return [head, ...entries.sort()].join('\n\t');
}

export const show = ({ output, error }: Answer): string =>
  error === undefined ? (output ?? '') : `ERR ${error}`;
