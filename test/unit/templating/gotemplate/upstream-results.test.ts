/** What the real Landscaper rendered from the same templates and values. */
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { render } from './support.ts';

interface Recorded {
  readonly values: unknown;
  readonly groups: Readonly<
    Record<string, Readonly<Record<string, { readonly template: string; readonly output: string }>>>
  >;
}

const file = new URL('./upstream-results.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded;

describe('results recorded from upstream', () => {
  for (const [group, cases] of Object.entries(recorded.groups)) {
    describe(group, () => {
      for (const [name, { template, output }] of Object.entries(cases)) {
        it(`are the same: ${name}`, () => {
          expect(render(template, recorded.values)).to.equal(output);
        });
      }
    });
  }
});
