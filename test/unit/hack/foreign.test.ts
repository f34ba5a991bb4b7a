/** The table that a comparison of foreign files prints. */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chartsIn, documentsIn } from '../../../hack/helm/foreign/charts.ts';
import { comparable, definitionsIn } from '../../../hack/helm/foreign/crds.ts';
import { compareFolders } from '../../../hack/helm/foreign/main.ts';
import { objectOf, type Shape } from '../../../hack/helm/foreign/objects-of.ts';
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

  const schema = {
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      metadata: { type: 'object' },
      status: { type: 'object', properties: { at: { type: 'string', format: 'date-time' } } },
      spec: {
        type: 'object',
        required: ['mode', 'count', 'name'],
        properties: {
          mode: { type: 'string', enum: ['On', 'Off'] },
          count: { type: 'integer', minimum: 3 },
          name: { type: 'string', minLength: 2 },
          port: { 'x-kubernetes-int-or-string': true },
          list: { type: 'array', items: { type: 'boolean' } },
          map: { type: 'object', additionalProperties: { type: 'number', maximum: 0.5 } },
        },
      },
    },
  };
  const needed = { mode: 'On', count: 3, name: 'aa' };
  const full = { ...needed, port: 1, list: [true], map: { key: 0.5 } };
  const status = { at: '2026-01-02T03:04:05Z' };
  const objects: readonly (readonly [Shape, object])[] = [
    ['required', { spec: needed }],
    ['full', { status, spec: full }],
    ['wrong', { status: { at: 1 }, spec: full }],
  ];
  for (const [shape, object] of objects)
    it(`creates the ${shape} object of a definition`, () => {
      expect(objectOf(schema, shape)).to.deep.equal(object);
    });

  it('creates no object that has no end', () => {
    const self: Record<string, unknown> = { type: 'object' };
    self['properties'] = { self };
    expect(JSON.stringify(objectOf(self, 'full'))).to.have.length.below(200);
  });

  it('compares objects without what differs between servers, and whatever the order of conditions', () => {
    const conditions = [
      { type: 'B', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'A', status: 'False' },
    ];
    const one = { metadata: { uid: '1', name: 'x' }, status: { conditions } };
    const other = { status: { conditions: conditions.toReversed() }, metadata: { name: 'x', uid: '2' } };
    expect(comparable(one)).to.equal(comparable(other));
    expect(comparable(one)).not.to.equal(comparable({ ...one, status: { conditions: [conditions[0]] } }));
  });

  it('finds definitions in lists and among other documents', () => {
    const crd = (name: string) => ({ kind: 'CustomResourceDefinition', metadata: { name } });
    const text = [{ kind: 'List', items: [crd('a'), { kind: 'Pod' }] }, { kind: 'Pod' }, crd('b')]
      .map((document) => JSON.stringify(document))
      .join('\n---\n');
    expect(definitionsIn(text).map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b']);
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
