/**
 * What the chart of the product renders, as tables in test/fixtures/product-chart: all fields of its objects, and the effect
 * of each value on them. The tables say what is meant: after an intended change of a template, change them by hand.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { wordsFor } from '../../../../src/cli/commands/install/names.ts';
import { withSetOption } from '../../../../src/cli/commands/install/set-option.ts';
import { isObject, ownField, type Fields } from '../../../../src/lib/objects.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { productChartFolder, renderUnchecked } from '../../../support/product-chart.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/product-chart');
const yamlOf = (name: string): Fields =>
  parseYaml(readFileSync(join(productChartFolder, name), 'utf8')) as Fields;
const { version, appVersion } = yamlOf('Chart.yaml') as Readonly<Record<string, string>>;

/** The lines below each heading of a table. */
const sectionsOf = (table: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    readFileSync(join(fixtures, table), 'utf8')
      .split(/^# /m)
      .slice(1)
      .map((section) => section.trimEnd().split('\n'))
      .map(([heading = '', ...lines]) => [heading, lines]),
  );

/** One line for each field: `spec.ports[metrics].port: 8080`; and one for each rule of a role. */
function linesOf(value: unknown, path: string): readonly string[] {
  const lists = ['apiGroups', 'resources', 'resourceNames', 'verbs'].map((key) => ownField(value, key));
  if (Array.isArray(lists.at(-1)))
    return [`rule: ${lists.map((list) => (Array.isArray(list) ? list.join(', ') : '')).join(' | ')}`];
  if (Array.isArray(value))
    return value.flatMap((entry: unknown, i) => {
      const name = ownField(entry, 'name');
      const index = isObject(entry) ? String(i) : '';
      return linesOf(entry, `${path}[${typeof name === 'string' ? name : index}]`);
    });
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, each]) =>
      linesOf(each, path === '' ? key : `${path}.${key}`),
    );
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${path}: ${text}`.trimEnd().split('\n');
}

const HASH = 'espalier.dev/configuration: ';
const releaseLabels = {
  'app.kubernetes.io/managed-by': 'Helm',
  'app.kubernetes.io/instance': 'espalier',
  'app.kubernetes.io/version': appVersion,
  'helm.sh/chart': `espalier-${version}`,
};

/** The fields of an object, without those in its heading or its file, and without labels that every object has. */
function fieldsOf(object: Obj): readonly string[] {
  const { kind: _kind, metadata, ...rest } = object;
  const { name, namespace: _namespace, labels = {}, ...others } = metadata;
  expect(labels, wordsFor(object)).to.include(releaseLabels);
  const own = Object.entries(labels).filter(([key]) => !(key in releaseLabels));
  // chart.test.ts compares the content with that of the documentation.
  const isCopied = object.kind === 'PrometheusRule' || name.startsWith('espalier-dashboard-');
  const shown = isCopied ? { apiVersion: object.apiVersion } : rest;
  return linesOf({ ...shown, metadata: { ...others, labels: Object.fromEntries(own) } }, '')
    .map((line) => line.replace(`:${appVersion ?? ''}`, ':VERSION'))
    .map((line) => (line.includes(HASH) ? line.replace(/: .*/, ': HASH') : line));
}

const rendered = new Map<string, ReadonlyMap<string, readonly string[]>>();

/** The lines of each object, and of the notes. */
function render(values: Fields): ReadonlyMap<string, readonly string[]> {
  const key = JSON.stringify(values);
  const result = rendered.get(key) ?? renderAgain(values);
  rendered.set(key, result);
  return result;
}

function renderAgain(values: Fields): ReadonlyMap<string, readonly string[]> {
  const { manifests, notes } = renderUnchecked(values);
  const objects = manifests.map(({ document }) => document as Obj);
  return new Map([
    ...objects.map((object) => [wordsFor(object), fieldsOf(object)] as const),
    [
      'notes',
      notes
        .replaceAll(appVersion ?? '', 'VERSION')
        .trimEnd()
        .split('\n'),
    ],
  ]);
}

/** `+ Service a/b` for a new object, `- Deployment a/b: spec.replicas: 1` for a field that is gone. */
function changesBetween(before: Fields, after: Fields): readonly string[] {
  const [was, is] = [render(before), render(after)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((words) => {
    const [old, now] = [was.get(words), is.get(words)];
    if (!old) return [`+ ${words}`];
    if (!now) return [`- ${words}`];
    return [
      ...old.filter((line) => !now.includes(line)).map((line) => `- ${words}: ${line}`),
      ...now.filter((line) => !old.includes(line)).map((line) => `+ ${words}: ${line}`),
    ];
  });
}

describe('the objects of the chart of the product', () => {
  const files: readonly (readonly [table: string, values: Fields])[] = [
    ['full.txt', yamlOf('ci/full-values.yaml')],
    ['namespaces.txt', yamlOf('ci/namespaces-values.yaml')],
  ];
  for (const [table, values] of files)
    it(`have the fields of ${table}`, () => {
      expect(Object.fromEntries(render(values))).to.deep.equal(Object.fromEntries(sectionsOf(table)));
    });
});

describe('a value of the chart of the product', () => {
  /** The chart needs a decision about namespaces. */
  const decided: Fields = { rbac: { allNamespaces: true } };
  const options = (line: string): Fields =>
    line.split(' ').filter(Boolean).reduce<Fields>(withSetOption, decided);
  for (const [heading, changes] of sectionsOf('values.txt')) {
    const [given = '', changed = ''] = heading.includes(' => ') ? heading.split(' => ') : ['', heading];
    it(`changes these fields: ${heading}`, () => {
      expect(changesBetween(options(given), options(`${given} ${changed}`))).to.deep.equal(changes);
    });
  }

  it('replaces the pods if it changes the configuration', () => {
    const { manifests } = renderUnchecked(yamlOf('ci/full-values.yaml'));
    const [map] = manifests.filter(({ kind }) => kind === 'ConfigMap');
    const text = String(ownField(ownField(map?.document, 'data'), 'configuration.yaml'));
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const marks = manifests
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ content }) => content.includes(`${HASH}"${hash}"`));
    expect(marks).to.deep.equal([true, true, true, true]);
  });
});
