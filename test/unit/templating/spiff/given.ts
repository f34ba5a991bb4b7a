/** Renders documents with the values of the recorded scenarios, and a few functions of our own. */
import { parseYaml } from '../../../../src/lib/yaml.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import type { TemplateLimits } from '../../../../src/templating/budget.ts';
import { noFiles, type TemplateFiles } from '../../../../src/templating/files.ts';
import { Unresolvable, type SpiffFunctionTable } from '../../../../src/templating/spiff/function.ts';
import { fromJsonValue, toJsonValue } from '../../../../src/templating/spiff/json.ts';
import { standardFunctions } from '../../../../src/templating/spiff/functions/index.ts';
import { renderSpiff } from '../../../../src/templating/spiff/spiff.ts';
import type { SpiffMap } from '../../../../src/templating/spiff/value.ts';
import { FakeClock } from '../../../support/clock.ts';

const imports = {
  name: 'web',
  num: 3,
  f: 0.1,
  nul: null,
  e: '',
  yes: true,
  no: false,
  l: ['one', 'two'],
  nums: [1, 2, 3],
  m: { a: 1, b: 2 },
  objs: [
    { name: 'p', v: 'x' },
    { name: 'q', v: 'y' },
  ],
  uni: 'Grüße, 世界 🌍',
};

const functions: SpiffFunctionTable = {
  ...standardFunctions,
  applied: ([lambda, value = null], { call }) => call(lambda as never, [value]),
  refused: () => {
    throw new Unresolvable('refused, as ever');
  },
};

export interface More {
  readonly state?: unknown;
  readonly files?: TemplateFiles;
  readonly limits?: Partial<TemplateLimits>;
  readonly seed?: number;
}

/** @param document a tree, or its text */
export function rendered(document: unknown, { state, files = noFiles, limits, seed = 1 }: More = {}) {
  const tree = typeof document === 'string' ? parseYaml(document) : document;
  const result = renderSpiff(
    {
      document: fromJsonValue(tree, 'document'),
      values: fromJsonValue({ imports }, 'input') as SpiffMap,
      state: state === undefined ? undefined : fromJsonValue(state, 'document'),
      source: 'template',
    },
    { clock: new FakeClock(), rng: seededRng(seed), files, limits, functions },
  );
  return { value: toJsonValue(result.value), state: toJsonValue(result.state) };
}

export const valueOf = (document: unknown, more?: More): unknown => rendered(document, more).value;

/** The field `r`, whose value is this expression. */
export const answerTo = (expression: string, more?: More): unknown =>
  (valueOf({ r: `(( ${expression} ))` }, more) as { r?: unknown }).r;
