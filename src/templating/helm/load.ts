/** Loads a chart from its files, with the charts below `charts/`, packed or not. */
import { byCodePoint } from '../../lib/gojson.ts';
import { isObject, type Fields } from '../../lib/objects.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import { textOfYaml } from '../../lib/yaml-bytes.ts';
import { filesOfArchive, unpackBudget, withoutMark, type UnpackBudget } from './archive.ts';
import type { Chart, ChartFile } from './chart.ts';
import { ChartInvalid } from './errors.ts';
import { ignoreRules } from './ignore.ts';
import { readMetadata } from './metadata.ts';

/** Maximum depth of nested charts. */
const MAX_DEPTH = 32;

/** @throws ChartInvalid if the bytes are not a `.tgz` or `.tar` archive with a chart */
export function chartOfArchive(bytes: Uint8Array): Chart {
  const budget = unpackBudget();
  return loadChart(filesOfArchive(bytes, budget), { where: '', depth: 0, budget });
}

/**
 * Loads a chart from a folder; `.helmignore` applies only here, as in Helm.
 * @param files contents, keyed by path relative to the chart
 * @throws ChartInvalid
 */
export function chartOfFolder(files: ReadonlyMap<string, Uint8Array>): Chart {
  const isIgnored = ignoreRules(textOf(files.get('.helmignore')));
  const kept = [...files]
    .filter(([name]) => !isIgnored(name))
    .sort(([a], [b]) => byWalk(a, b))
    .map(([name, content]) => ({ name, content: withoutMark(content) }));
  return loadChart(kept, { where: '', depth: 0, budget: unpackBudget() });
}

/** The order in which a folder is walked: entries by name, folders recursively. */
function byWalk(a: string, b: string): number {
  const x = a.split('/');
  const y = b.split('/');
  const at = x.findIndex((part, i) => part !== y[i]);
  return at < 0 ? x.length - y.length : byCodePoint(x[at] ?? '', y[at] ?? '');
}

const textOf = (content: Uint8Array | undefined): string => textOfYaml(content ?? new Uint8Array());

/** The position of a chart in the tree. */
interface Place {
  /** Its path, with `/` at the end; empty for the root chart. */
  readonly where: string;
  readonly depth: number;
  readonly budget: UnpackBudget;
}

/** @throws ChartInvalid */
function loadChart(files: readonly ChartFile[], { where, depth, budget }: Place): Chart {
  if (depth > MAX_DEPTH)
    throw new ChartInvalid(`${where}charts lie within charts more than ${String(MAX_DEPTH)} deep`);
  const find = (name: string): Uint8Array | undefined => files.find((f) => f.name === name)?.content;
  const chartYaml = find('Chart.yaml');
  if (!chartYaml) throw new ChartInvalid(`${where}Chart.yaml file is missing`);
  const requirements = find('requirements.yaml');
  const metadata = readMetadata(textOf(chartYaml), where, requirements && textOf(requirements));
  const below = `${where}${metadata.name}/`;
  const isOld = metadata.apiVersion === 'v1';
  return {
    metadata,
    values: readValues(find('values.yaml'), below),
    hasValues: find('values.yaml') !== undefined,
    schema: find('values.schema.json'),
    lock: find('Chart.lock') ?? (isOld ? find('requirements.lock') : undefined),
    templates: files.filter(({ name }) => name.startsWith('templates/')),
    files: files.filter(({ name }) => isPlainFile(name, isOld)),
    dependencies: subcharts(files, { where: below, depth: depth + 1, budget }),
  };
}

const READ_OTHERWISE = new Set(['Chart.yaml', 'Chart.lock', 'values.yaml', 'values.schema.json']);
const OLD_ONLY = new Set(['requirements.yaml', 'requirements.lock']);

/** Files that templates can read with `.Files`. */
function isPlainFile(name: string, isOld: boolean): boolean {
  if (READ_OTHERWISE.has(name) || name.startsWith('templates/')) return false;
  if (OLD_ONLY.has(name)) return isOld;
  return !name.startsWith('charts/') || name.endsWith('.prov');
}

function readValues(content: Uint8Array | undefined, where: string): Fields {
  if (!content) return {};
  try {
    const values = parseYaml(textOf(content), { integers: 'exact' });
    if (values === null) return {};
    if (isObject(values)) return values;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ChartInvalid(
      `cannot load ${where}values.yaml: error converting YAML to JSON: ${error.message}`,
      {
        cause: error,
      },
    );
  }
  throw new ChartInvalid(`cannot load ${where}values.yaml: it holds no map`);
}

/** The charts below `charts/`, sorted by file or folder name; the order is random in Helm. */
function subcharts(files: readonly ChartFile[], place: Place): readonly Chart[] {
  const groups = new Map<string, ChartFile[]>();
  for (const { name, content } of files) {
    if (!name.startsWith('charts/') || name.endsWith('.prov')) continue;
    const path = name.slice('charts/'.length);
    const [top = ''] = path.split('/');
    if (top.startsWith('_') || top.startsWith('.')) continue;
    groups.set(top, [...(groups.get(top) ?? []), { name: path.slice(top.length + 1), content }]);
  }
  return [...groups]
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([name, members]) => {
      try {
        const [first] = members;
        const inside = name.endsWith('.tgz') && first ? filesOfArchive(first.content, place.budget) : members;
        return loadChart(
          inside.filter((f) => f.name !== ''),
          place,
        );
      } catch (error) {
        if (!(error instanceof ChartInvalid)) throw error;
        throw new ChartInvalid(`error unpacking subchart ${name}: ${error.message}`, { cause: error });
      }
    });
}
