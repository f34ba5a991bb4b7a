/** Which subcharts are used, and whose schemas are checked, as tables. */
import { expect } from 'chai';
import { inThisThread } from '../../../../src/blueprint/work.ts';
import type { Fields } from '../../../../src/lib/objects.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { packChart } from '../../../support/helm-charts.ts';

const charts = inThisThread({ clock: systemClock, rng: seededRng(1) });
const chartYaml = (name: string, dependencies: readonly object[] = [], version = '1.0.0'): string =>
  JSON.stringify({ apiVersion: 'v2', name, version, dependencies });
const MARK = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Chart.Name }}"}\n';

/** The parent has a subchart `mid`, which has a subchart `leaf`. */
const nested = (mid: object, leaf: object, files: Readonly<Record<string, string>> = {}) => {
  const bytes = packChart(
    {
      'Chart.yaml': chartYaml('top', [{ name: 'mid', version: '1.x.x', ...mid }]),
      'charts/mid/Chart.yaml': chartYaml('mid', [{ name: 'leaf', version: '1.x.x', ...leaf }]),
      'charts/mid/templates/m.yaml': MARK,
      'charts/mid/charts/leaf/Chart.yaml': chartYaml('leaf'),
      'charts/mid/charts/leaf/templates/m.yaml': MARK,
      ...files,
    },
    'top',
  );
  return { bytes, digest: bytes.toString('base64') };
};

type Chart = ReturnType<typeof nested>;

async function used(chart: Chart, values: Fields): Promise<string[]> {
  const release = { name: 'r', namespace: 'n', revision: 1, isUpgrade: false };
  const { manifests } = await charts.renderChart({ chart, inputs: { release, values } });
  return manifests.map(({ document }) => (document as { metadata: { name: string } }).metadata.name).sort();
}

const BOTH = ['leaf', 'mid'];
const rows: readonly (readonly [
  title: string,
  mid: object,
  leaf: object,
  values: Fields,
  names: readonly string[],
])[] = [
  ['are used without a condition', {}, {}, {}, BOTH],
  ['are used if their condition has no value', { condition: 'mid.on' }, {}, {}, BOTH],
  [
    'are used if their condition is not a boolean',
    { condition: 'mid.on' },
    {},
    { mid: { on: 'false' } },
    BOTH,
  ],
  ['are not used if their condition is false', { condition: 'mid.on' }, {}, { mid: { on: false } }, []],
  [
    'of subcharts have conditions below those',
    {},
    { condition: 'leaf.on' },
    { mid: { leaf: { on: false } } },
    ['mid'],
  ],
  [
    'of subcharts have no conditions in the values of the parent',
    {},
    { condition: 'leaf.on' },
    { leaf: { on: false } },
    BOTH,
  ],
  [
    'have conditions of which the first boolean counts',
    { condition: 'a.x,mid.on,b.on' },
    {},
    { mid: { on: false }, b: { on: true } },
    [],
  ],
  [
    'have conditions that win over tags',
    { condition: 'mid.on', tags: ['t'] },
    {},
    { mid: { on: true }, tags: { t: false } },
    BOTH,
  ],
  [
    'are not used if all their tags are false',
    { tags: ['t', 'u'] },
    {},
    { tags: { t: false, u: false } },
    [],
  ],
  ['are used if one of their tags is true', { tags: ['t', 'u'] }, {}, { tags: { t: false, u: true } }, BOTH],
  [
    'are not used if one tag is false and the others have no value',
    { tags: ['t', 'u'] },
    {},
    { tags: { t: false } },
    [],
  ],
  [
    'of subcharts have tags in the values of the parent',
    {},
    { tags: ['t'] },
    { tags: { t: false } },
    ['mid'],
  ],
  [
    'are used under their alias',
    { alias: 'other', condition: 'other.on' },
    {},
    { mid: { on: false } },
    ['leaf', 'other'],
  ],
  [
    'have conditions under their alias',
    { alias: 'other', condition: 'other.on' },
    {},
    { other: { on: false } },
    [],
  ],
];

describe('the subcharts of a chart', () => {
  for (const [title, mid, leaf, values, names] of rows)
    it(title, async () => {
      expect(await used(nested(mid, leaf), values)).to.deep.equal(names);
    });

  it('have conditions with defaults in the values of the chart', async () => {
    const chart = nested({ condition: 'mid.enabled' }, {}, { 'values.yaml': 'mid: {enabled: false}\n' });
    expect(await used(chart, {})).to.deep.equal([]);
    expect(await used(chart, { mid: { enabled: true } })).to.deep.equal(BOTH);
  });

  it('have no alias in another version than the chart lists', async () => {
    const files = {
      'charts/mid/Chart.yaml': chartYaml('mid', [{ name: 'leaf', version: '1.x.x' }], '2.0.0'),
    };
    expect(await used(nested({ alias: 'other' }, {}, files), {})).to.deep.equal(BOTH);
  });
});

describe('the schemas of subcharts', () => {
  const schema = JSON.stringify({ type: 'object', properties: { port: { type: 'integer' } } });
  const chart = (mid: object = {}): Chart =>
    nested(
      mid,
      {},
      { 'charts/mid/values.schema.json': schema, 'charts/mid/charts/leaf/values.schema.json': schema },
    );
  const problem = (mid: object, values: Fields): Promise<string> =>
    charts.checkChartValues({ chart: chart(mid), values }).then(
      () => '',
      (error: unknown) => (error as Error).message.split('\n').slice(1).join('; '),
    );
  const port = "- at '/port': must be integer";

  const checks: readonly (readonly [title: string, mid: object, values: Fields, message: string])[] = [
    ['apply to the values below their name', {}, { mid: { port: 'x' } }, `mid:; ${port}`],
    [
      'of subcharts apply to the values below both names',
      {},
      { mid: { leaf: { port: 'x' } } },
      `leaf:; ${port}`,
    ],
    ['do not apply to the values of the parent', {}, { port: 'x', leaf: { port: 'x' } }, ''],
    ['are all reported', {}, { mid: { port: 'x', leaf: { port: 'x' } } }, `mid:; ${port}; leaf:; ${port}`],
    [
      'do not apply to subcharts that are not used',
      { condition: 'mid.on' },
      { mid: { on: false, port: 'x' } },
      '',
    ],
    [
      'apply under their alias',
      { alias: 'other' },
      { other: { port: 'x' }, mid: { port: 'x' } },
      `other:; ${port}`,
    ],
    ['accept what fits', {}, { mid: { port: 1, leaf: { port: 2 } } }, ''],
  ];
  for (const [title, mid, values, message] of checks)
    it(title, async () => {
      expect(await problem(mid, values)).to.equal(message);
    });
});
