/** The results of the original for the same calls; hack/go-oracle/record.ts recorded them. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { goJson } from '../../../../../src/lib/gojson.ts';
import { standardFunctions } from '../../../../../src/templating/spiff/functions/index.ts';
import { SpiffProblem } from '../../../../../src/templating/spiff/problem.ts';
import { renderSpiff } from '../../../../../src/templating/spiff/spiff.ts';
import {
  isSpiffList,
  isSpiffMap,
  type SpiffMap,
  type SpiffValue,
} from '../../../../../src/templating/spiff/value.ts';
import { readSpiffYaml } from '../../../../../src/templating/spiff/yaml/index.ts';
import { world } from './support.ts';

interface Recorded {
  readonly call: string;
  readonly args: string;
  readonly result?: unknown;
  readonly error?: string;
}

const file = new URL('./recorded.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, readonly Recorded[]>>;

function plain(value: SpiffValue): unknown {
  if (isSpiffList(value)) return value.map(plain);
  return isSpiffMap(value) ? Object.fromEntries([...value].map(([key, item]) => [key, plain(item)])) : value;
}

/** The value of `x` in the document, the same as in the original. */
function answerTo({ call, args }: Recorded): SpiffValue | undefined {
  const document = readSpiffYaml(`args: ${args}\nx: (( ${call} ))\n`);
  const input = { document, values: new Map(), source: 'template' };
  return (renderSpiff(input, { ...world(), functions: standardFunctions }).value as SpiffMap).get('x');
}

function complaintOf(row: Recorded): string | undefined {
  try {
    answerTo(row);
  } catch (error) {
    if (error instanceof SpiffProblem) return /\tx\t\(\)\t\*(.*)/.exec(error.message)?.[1];
    throw error;
  }
  return 'no complaint';
}

describe('functions of Spiff, called as in the original', () => {
  for (const [topic, calls] of Object.entries(recorded)) {
    describe(topic, () => {
      for (const row of calls) {
        const { call, args, result, error } = row;
        const title = `${call} with ${args}`;
        if (error === undefined) {
          it(`${title} is ${JSON.stringify(result)}`, () => {
            expect(JSON.parse(goJson(plain(answerTo(row) ?? null)))).to.deep.equal(result);
          });
        } else {
          it(`${title} fails: ${error}`, () => {
            expect(complaintOf(row)).to.equal(error.split('\n')[0]);
          });
        }
      }
    });
  }
});
