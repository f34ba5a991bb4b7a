/** What the original answers to the same calls; hack/go-oracle/spiff-record.ts wrote it down. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { goJson } from '../../../../../src/lib/gojson.ts';
import { isSpiffList, isSpiffMap, type SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { readSpiffYaml } from '../../../../../src/templating/spiff/yaml/index.ts';
import { call, complaint } from './support.ts';

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

describe('functions of Spiff, called as the original was', () => {
  for (const [topic, calls] of Object.entries(recorded)) {
    describe(topic, () => {
      for (const { call: source, args, result, error } of calls) {
        const name = source.slice(0, source.indexOf('('));
        const values = readSpiffYaml(args) as readonly SpiffValue[];
        const title = `${name} ${args}`;
        if (error === undefined) {
          it(`${title} is ${JSON.stringify(result)}`, () => {
            expect(JSON.parse(goJson(plain(call(name, ...values))))).to.deep.equal(result);
          });
        } else {
          it(`${title} fails: ${error}`, () => {
            expect(complaint(name, ...values)).to.equal(error.split('\n')[0]);
          });
        }
      }
    });
  }
});
