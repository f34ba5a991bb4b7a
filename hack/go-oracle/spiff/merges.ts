/** Compares executions with stored state: generated documents that merge, mark, inherit and instantiate. */
import { systemClock } from '../../../src/lib/clock.ts';
import { toYaml } from '../../../src/lib/yaml.ts';
import { seededRng, type Rng } from '../../../src/lib/rng.ts';
import { noFiles } from '../../../src/templating/files.ts';
import { renderWithState } from '../../../src/templating/render.ts';
import { messageOf } from '../../../test/support/blueprints.ts';
import { describe } from '../comparison.ts';
import { pick, times } from '../random-parts.ts';
import type { Answer, Oracle } from '../oracle.ts';
import { isSame, show, VALUES } from './documents.ts';

const KEYS = ['a', 'b', 'c', 'd', 'key', 'list'];
const NAMES = ['p', 'q', 'r'];

/** Values of fields; `K` is the name of another field. */
const FIELDS = [
  'merge',
  'merge || "d"',
  'merge // "d"',
  'v.name',
  '.K',
  'K',
  'K.a',
  '.K.b',
  'K || "none"',
  '.list.p.v || "none"',
  'merge none // 5',
  'stub()',
  'stub(K) || 1',
  'stub(K.a) || 2',
  '&temporary(v.m)',
  '&state(merge || "new")',
  '&state(K || 1)',
  '&local(v.name)',
  '&default("def")',
  '&inject(7)',
  '*K',
  'map[K|x|->x]',
  'keys(K)',
  'merge(.K, .key) || "unmerged"',
  'valid(K)',
  'defined(.K.a)',
  'K.[0] || ~~',
  'length(K) || 0',
  'merge replace',
  'prefer "x"',
  'merge .K',
  'merge required || "req"',
  '.t || 1',
  '&tag:here(5)',
  'here::. || 4',
  'K == ~',
  'K ? "yes" :"no"',
  '~~',
  '~',
  'v.l',
  'v.m',
];
/** Values after `<<` in a map or a list. */
const INSERTED = [
  'merge',
  'merge replace',
  'merge none',
  'merge on key',
  'merge on b',
  'K',
  'v.m',
  'merge(v.m) || ~',
  '.K',
  'v.m merge',
  '&temporary',
  '&template',
  '&state',
  '&state(merge none)',
  '&temporary &state',
  '&local',
  '&inject',
  '&default',
  '&template(merge)',
  '&state &temporary(merge)',
  'merge || ~',
  'merge || v.m',
  'v.deep',
  'merge required',
  'merge .K',
  'prefer merge',
  '&tag:here',
];
const SPLICED = [
  'merge',
  'merge on key',
  'merge on v',
  'merge replace',
  'merge none',
  'v.l',
  '.list',
  'K',
  'merge || []',
  'map[v.l|x|->{"name" = x}]',
  '&temporary',
  '&state',
  '[1]',
  'v.l merge',
  'prefer merge',
];

class Documents {
  readonly #rng: Rng;

  constructor(rng: Rng) {
    this.#rng = rng;
  }

  /** A document, and the stored state of a similar one. */
  both(): { readonly document: unknown; readonly stored: unknown } {
    return { document: this.#map(3, true), stored: this.#rng.next() < 0.2 ? {} : this.#map(3, false) };
  }

  #is(probability: number): boolean {
    return this.#rng.next() < probability;
  }

  #expression(from: readonly string[]): string {
    return `(( ${pick(this.#rng, from).replace('K', () => pick(this.#rng, KEYS))} ))`;
  }

  #map(depth: number, isDocument: boolean): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    if (isDocument && this.#is(depth === 3 ? 0.15 : 0.35)) {
      fields[pick(this.#rng, ['<<', '<<<'])] = this.#expression(INSERTED);
    }
    for (const key of KEYS) if (this.#is(0.55)) fields[key] = this.#field(key, depth, isDocument);
    return fields;
  }

  #field(key: string, depth: number, isDocument: boolean): unknown {
    if (key === 'list' && this.#is(0.8)) return this.#list(depth, isDocument);
    if (depth > 0 && this.#is(0.4)) return this.#map(depth - 1, isDocument);
    if (isDocument && this.#is(0.6)) return this.#expression(FIELDS);
    return pick<unknown>(this.#rng, [1, 'text', true, null, ['x'], isDocument ? 'own' : 'stored', 2.5, {}]);
  }

  #list(depth: number, isDocument: boolean): unknown[] {
    const items = times(Math.floor(this.#rng.next() * 3), () => this.#item(depth, isDocument));
    if (!isDocument || this.#is(0.4)) return items;
    const spliced = { [pick(this.#rng, ['<<', '<<<'])]: this.#expression(SPLICED) };
    return this.#is(0.7) ? [spliced, ...items] : [...items, spliced];
  }

  #item(depth: number, isDocument: boolean): unknown {
    if (this.#is(0.25)) return this.#field('', depth - 1, isDocument);
    const by = pick(this.#rng, ['name', 'name', 'name', 'key']);
    const name = pick(this.#rng, NAMES);
    return { [by]: name, v: this.#field('v', depth - 2, isDocument), ...this.#map(0, isDocument) };
  }
}

/** The difference for each document, or undefined. */
export function compareMerges(ask: Oracle, rng: Rng, count: number): readonly (string | undefined)[] {
  const documents = new Documents(rng);
  const cases = times(count, () => documents.both());
  const answers = ask(
    cases.map(({ document, stored }) => ({
      document: toYaml(document),
      stored: toYaml(stored),
      bindings: VALUES,
    })),
  );
  return cases.map(({ document, stored }, i) => {
    const go = answers[i] as Answer;
    const ours = evaluateExecution(document, stored);
    if (isSame(go, ours)) return undefined;
    return describe(`${toYaml(document)}stored: ${JSON.stringify(stored)}`, show(go), show(ours));
  });
}

/** Our result and state. */
export function evaluateExecution(template: unknown, stored: unknown): Answer {
  const options = { clock: systemClock, rng: seededRng(1), files: noFiles };
  try {
    const { output, state } = renderWithState({ type: 'Spiff', template }, VALUES, options, stored);
    return { output: JSON.stringify({ result: output, state: state?.state }) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
