/** Generated templates, documents and calls: our answers are those of the originals, which hack/go-oracle/record.ts recorded. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { answerTo, isSame, restored, type RecordedCases } from '../../../hack/go-oracle/generated.ts';

const GROUP = 20;
const file = new URL('./originals.json', import.meta.url);
const cases = restored(JSON.parse(readFileSync(file, 'utf8')) as RecordedCases);

describe('the answers of the originals', () => {
  for (let start = 0; start < cases.length; start += GROUP) {
    const some = cases.slice(start, start + GROUP);
    it(`are ours: cases ${String(start)} to ${String(start + some.length - 1)}`, () => {
      const different = some.flatMap(({ request, answer }) => {
        const ours = answerTo(request);
        return isSame(request, answer, ours) ? [] : [{ request, answer, ours }];
      });
      expect(different).to.deep.equal([]);
    });
  }
});
