/**
 * Which dependencies are used, under which names, and which of their values a chart imports. A dependency that is not
 * listed in `Chart.yaml` is used unchanged; a listed one may have aliases, a condition, tags and imports.
 */
import { copy, define } from '../../lib/json.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { sprintValue } from '../gotemplate/format.ts';
import { fromJson } from '../gotemplate/values.ts';
import type { Chart } from './chart.ts';
import { coalesceValues, mergeTables, mergeValues, tableAt } from './coalesce.ts';
import { isInRange, type Dependency } from './metadata.ts';

/** The chart to render with these values. @throws ValuesInvalid */
export const withDependencies = (chart: Chart, values: Fields): Chart =>
  withImports(withEnabled(chart, values, ''));

// ---------------------------------------------------------------- enabled subcharts

function withEnabled(chart: Chart, values: Fields, path: string): Chart {
  const { dependencies: wanted } = chart.metadata;
  if (wanted.length === 0) return chart;
  const isListed = (present: Chart): boolean => wanted.some((w) => isMeant(w, present));
  const unlisted = chart.dependencies.filter((present) => !isListed(present));
  const listed = wanted.flatMap((w) => {
    const present = chart.dependencies.find((d) => isMeant(w, d));
    return present ? [renamed(present, w.alias)] : [];
  });
  const named = wanted.map((w) => ({ ...w, name: w.alias || w.name }));
  const all = [...unlisted, ...listed];
  const known = coalesceValues(withDependencyList(chart, all, named), values);
  const off = new Set(named.filter((w) => !isEnabled(w, known, path)).map(({ name }) => name));
  const on = all
    .filter(({ metadata }) => !off.has(metadata.name))
    .map((d) => withEnabled(d, known, `${path}${d.metadata.name}.`));
  return withDependencyList(
    chart,
    on,
    named.filter(({ name }) => !off.has(name)),
  );
}

const isMeant = ({ name, version }: Dependency, { metadata }: Chart): boolean =>
  metadata.name === name && isInRange(version, metadata.version);

const renamed = (chart: Chart, alias: string): Chart =>
  alias === '' ? chart : { ...chart, metadata: { ...chart.metadata, name: alias } };

const withDependencyList = (
  chart: Chart,
  dependencies: readonly Chart[],
  listed: readonly Dependency[],
): Chart => ({ ...chart, dependencies, metadata: { ...chart.metadata, dependencies: listed } });

/** The first condition that is a boolean decides; without one, the tags decide. */
function isEnabled(dependency: Dependency, values: Fields, path: string): boolean {
  for (const condition of dependency.condition.trim().split(',')) {
    if (condition === '') continue;
    const value = valueAt(values, path + condition);
    if (typeof value === 'boolean') return value;
  }
  const tags = ownField(values, 'tags');
  const said = dependency.tags.map((tag) => ownField(tags, tag)).filter((v) => typeof v === 'boolean');
  return said.length === 0 || said.includes(true);
}

function valueAt(values: Fields, path: string): unknown {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  return ownField(steps.length === 0 ? values : tableAt(values, steps.join('.')), last);
}

// ---------------------------------------------------------------- imports

function withImports(chart: Chart): Chart {
  const own = { ...chart, dependencies: chart.dependencies.map(withImports) };
  if (chart.metadata.dependencies.length === 0) return own;
  const known = mergeValues(own, {});
  let imported: Fields = {};
  for (const { name, importValues } of chart.metadata.dependencies) {
    for (const wish of importValues) {
      const { child, parent } = importOf(wish);
      const table = child === undefined ? undefined : tableAt(known, `${name}.${child}`);
      if (table) imported = mergeTables(imported, under(parent, table), 'merge');
    }
  }
  return { ...own, values: mergeTables(copy(known), imported, 'merge') };
}

/** An import is the name of an export, or a source and a destination. */
export function importOf(wish: unknown): { readonly child: string | undefined; readonly parent: string } {
  if (typeof wish === 'string') return { child: `exports.${wish}`, parent: '.' };
  if (!isObject(wish)) return { child: undefined, parent: '.' };
  const text = (key: string): string => sprintValue(fromJson(ownField(wish, key) ?? null));
  return { child: text('child'), parent: text('parent') };
}

/** The map at a dotted path. */
function under(path: string, table: Fields): Fields {
  if (path === '.') return table;
  return path
    .split('.')
    .reverse()
    .reduce<Fields>((inner, step) => {
      const outer: Fields = {};
      define(outer, step, inner);
      return outer;
    }, table);
}
