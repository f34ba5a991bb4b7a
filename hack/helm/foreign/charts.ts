/** Renders foreign charts with the helm program and with our engine, with each file of values in their folder `ci`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { systemClock } from '../../../src/lib/clock.ts';
import { messageOf } from '../../../src/lib/message-of.ts';
import type { Fields } from '../../../src/lib/objects.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { textOfYaml } from '../../../src/lib/yaml-bytes.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { filesOfArchive, unpackBudget } from '../../../src/templating/helm/archive.ts';
import type { Chart } from '../../../src/templating/helm/chart.ts';
import { chartOfArchive, chartOfFolder } from '../../../src/templating/helm/load.ts';
import { printRendering, renderChart } from '../../../src/templating/helm/render.ts';
import { filesIn, NAMESPACE, RELEASE } from '../../../test/support/charts.ts';
import { rowOf, type Outcome, type Row } from './table.ts';

const isArchive = (path: string): boolean => path.endsWith('.tgz');

/** Folders with a Chart.yaml, and packed charts, at any depth; charts within charts belong to these. */
export function chartsIn(folder: string): readonly string[] {
  if (existsSync(join(folder, 'Chart.yaml'))) return [folder];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? chartsIn(path) : isArchive(path) ? [path] : [];
    });
}

/** The files of values of a chart; those of a packed one are written to a folder. */
function valuesOf(chart: string, scratch: string): readonly string[] {
  if (!isArchive(chart)) {
    const ci = join(chart, 'ci');
    return existsSync(ci)
      ? readdirSync(ci)
          .filter(isYaml)
          .sort()
          .map((name) => join(ci, name))
      : [];
  }
  try {
    return filesOfArchive(readFileSync(chart), unpackBudget())
      .filter(({ name }) => /^ci\/[^/]+$/.test(name) && isYaml(name))
      .map(({ name, content }) => {
        const file = join(scratch, basename(name));
        writeFileSync(file, content);
        return file;
      })
      .sort();
  } catch {
    return []; // the rendering reports it
  }
}

const isYaml = (name: string): boolean => /\.ya?ml$/.test(name);

const SOURCE = /^---\n# Source: (.*)\n/m;

/** Documents by the path of their template, and their number in it. */
export function documentsIn(text: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const [before = '', ...pages] = text.split(SOURCE);
  if (before.trim() !== '') parts.set('the beginning', before);
  for (let i = 0; i < pages.length; i += 2) {
    const source = pages[i] ?? '';
    let number = 1;
    while (parts.has(`${source} (${String(number)})`)) number++;
    parts.set(`${source} (${String(number)})`, pages[i + 1] ?? '');
  }
  return parts;
}

function byHelm(helm: string, chart: string, values: string | undefined): Outcome {
  const args = ['template', RELEASE, chart, '--namespace', NAMESPACE, '--include-crds'];
  if (values !== undefined) args.push('--values', values);
  const run = spawnSync(helm, args, { encoding: 'utf8', maxBuffer: 256 << 20 });
  return run.status === 0 ? { parts: documentsIn(run.stdout) } : { error: run.stderr };
}

async function byUs(path: string, values: string | undefined): Promise<Outcome> {
  try {
    const chart: Chart = isArchive(path) ? chartOfArchive(readFileSync(path)) : chartOfFolder(filesIn(path));
    const given =
      values === undefined ? {} : parseYaml(textOfYaml(readFileSync(values)), { integers: 'exact' });
    const release = { name: RELEASE, namespace: NAMESPACE, revision: 1, isUpgrade: false };
    const inputs = { release, values: (given ?? {}) as Fields };
    const rendering = await renderChart(chart, inputs, { clock: systemClock, rng: seededRng(1) });
    return { parts: documentsIn(printRendering(rendering)) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** Leaves out the documents that differ between two runs of helm: they contain random values, or the time. */
function withoutRandom(first: Outcome, second: Outcome, ours: Outcome): readonly [Outcome, Outcome] {
  if ('error' in first || 'error' in second || 'error' in ours) return [first, ours];
  const isStable = (name: string): boolean => first.parts.get(name) === second.parts.get(name);
  const stable = ({ parts }: { readonly parts: ReadonlyMap<string, string> }): Outcome => ({
    parts: new Map([...parts].filter(([name]) => isStable(name))),
  });
  return [stable(first), stable(ours)];
}

export async function compareCharts(helm: string, folder: string, done: (row: Row) => void): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'espalier-charts-'));
  try {
    for (const chart of chartsIn(folder)) {
      const name = relative(folder, chart) || basename(chart);
      for (const values of [undefined, ...valuesOf(chart, scratch)]) {
        const ours = await byUs(chart, values);
        let original = byHelm(helm, chart, values);
        let compared = ours;
        const title = values === undefined ? name : `${name} (ci/${basename(values)})`;
        if (rowOf(title, original, ours).verdict === 'different')
          [original, compared] = withoutRandom(original, byHelm(helm, chart, values), ours);
        done(rowOf(title, original, compared));
      }
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
