/** The table that a comparison of foreign files prints. */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartsIn, documentsIn } from '../../../hack/helm/foreign/charts.ts';
import { compareFolders } from '../../../hack/helm/foreign/main.ts';
import { isSame, rowOf, tableOf, type Outcome } from '../../../hack/helm/foreign/table.ts';

const parts = (entries: Readonly<Record<string, string>>): Outcome => ({
  parts: new Map(Object.entries(entries)),
});
const error = { error: 'no\n  good' };

describe('a comparison of foreign files', () => {
  const rows: readonly (readonly [string, Outcome, Outcome, verdict: string, difference: string])[] = [
    ['equal parts', parts({ a: 'x' }), parts({ a: 'x' }), 'same', ''],
    ['two errors', error, { error: 'other' }, 'both refuse', ''],
    ['an error of ours', parts({}), error, 'only we refuse', 'no good'],
    ['an error of the original', error, parts({}), 'only the original refuses', 'no good'],
    ['a part that is missing', parts({ a: 'x' }), parts({}), 'different', 'a: only the original has it'],
    ['a part that is ours', parts({}), parts({ a: 'x' }), 'different', 'a: only ours has it'],
    [
      'another line',
      parts({ a: 'x\ny' }),
      parts({ a: 'x\nz' }),
      'different',
      'a: line 2: original "y", ours "z"',
    ],
    [
      'more lines',
      parts({ a: 'x' }),
      parts({ a: 'x\n' }),
      'different',
      'a: line 2: original the end, ours ""',
    ],
  ];
  for (const [title, original, ours, verdict, difference] of rows)
    it(`has a verdict for ${title}`, () => {
      const row = rowOf('f', original, ours);
      expect(row).to.deep.equal({ file: 'f', verdict, difference });
      expect(isSame(row)).to.equal(difference === '');
    });

  it('is a table with the sums', () => {
    const found = [rowOf('a.yaml', parts({}), parts({})), rowOf('b', parts({}), { error: 'x'.repeat(300) })];
    expect(tableOf(found).split('\n')).to.deep.equal([
      'FILE    VERDICT         FIRST DIFFERENCE',
      'a.yaml  same',
      `b       only we refuse  ${'x'.repeat(200)}…`,
      '1 of 2 are the same, 1 differ',
    ]);
  });

  it('names the documents of a chart by their templates', () => {
    const text = '---\n# Source: c/a.yaml\nx\n---\n# Source: c/a.yaml\ny\n---\n# Source: c/b.yaml\nz\n';
    expect([...documentsIn(text)]).to.deep.equal([
      ['c/a.yaml (1)', 'x\n'],
      ['c/a.yaml (2)', 'y\n'],
      ['c/b.yaml (1)', 'z\n'],
    ]);
    expect([...documentsIn('a: b\n')]).to.deep.equal([['the beginning', 'a: b\n']]);
  });

  it('finds charts at any depth, but none within charts', () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
    try {
      for (const chart of ['a', 'a/charts/sub', 'deep/b']) {
        mkdirSync(join(folder, chart), { recursive: true });
        writeFileSync(join(folder, chart, 'Chart.yaml'), '');
      }
      writeFileSync(join(folder, 'deep/c.tgz'), '');
      writeFileSync(join(folder, 'deep/other.txt'), '');
      const found = chartsIn(folder).map((path) => path.slice(folder.length + 1));
      expect(found).to.deep.equal(['a', 'deep/b', 'deep/c.tgz']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is of folders only if one is named, and refuses other arguments', async () => {
    expect(await compareFolders([])).to.equal(undefined);
    expect(await compareFolders(['--record'])).to.equal(undefined);
    const refused: unknown = await compareFolders(['--chart', 'x']).catch((thrown: unknown) => thrown);
    expect(String(refused)).to.contain('--chart');
  });
});
