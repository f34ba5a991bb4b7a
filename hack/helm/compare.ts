/**
 * Compares our rendering of the charts in test/fixtures/charts with the helm program and with its recorded output, and
 * our rendering of the product's own chart with the helm program, which also checks it with `helm lint`. Then it compares
 * releases, see compare-releases.ts.
 *
 *     npx tsx hack/helm/compare.ts [--record]
 *     npx tsx hack/helm/compare.ts --charts DIR      # foreign files, see --help
 *
 * With --record the output of helm is written to test/fixtures/helm-output, and the results of releases to
 * test/fixtures/helm-releases.json; `make test` uses both. Exit code 1 if
 * there is a difference, 3 if helm is not available and cannot be built.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  casesOf,
  chartCases,
  NAMESPACE,
  outputFolder,
  printNatively,
  recorded,
  RELEASE,
  type ChartCase,
  type Printed,
} from '../../test/support/charts.ts';
import { recordedSmallCharts, smallChartOutput, withSmallCharts } from '../../test/support/small-charts.ts';
import { productChartFolder } from '../../test/support/product-chart.ts';
import { GoUnavailable } from '../go/build.ts';
import { ensureHelm } from './binary.ts';
import { compareReleases } from './compare-releases.ts';
import { compareSchemas } from './compare-schemas.ts';
import { compareFolders } from './foreign/main.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function printByHelm(helm: string, { chart, values }: ChartCase): Printed {
  const args = ['template', RELEASE, chart, '--namespace', NAMESPACE, '--include-crds'];
  if (values !== undefined) args.push('--values', values);
  const run = spawnSync(helm, args, { encoding: 'utf8', maxBuffer: 64 << 20 });
  if (run.status === 0) return { text: run.stdout };
  return { error: errorMessageOf(run.stderr) };
}

/** The error message of helm, without hints and log lines. */
const errorMessageOf = (stderr: string): string =>
  stderr
    .slice(Math.max(0, stderr.indexOf('Error: ')))
    .replace(/^Error: /, '')
    .replace(/\n\nUse --debug flag[^]*$/, '')
    .trimEnd();

function record(cases: readonly (readonly [ChartCase, Printed])[]): void {
  rmSync(outputFolder, { recursive: true, force: true });
  mkdirSync(outputFolder, { recursive: true });
  for (const [{ name }, { text, error }] of cases) {
    const file = join(outputFolder, name);
    // Removes paths of this machine from the comparison.
    if (text === undefined) writeFileSync(`${file}.error`, `${error ?? ''}\n`);
    else writeFileSync(`${file}.yaml`, text);
  }
}

function firstDifference(a: Printed, b: Printed): string {
  const left = (a.text ?? `ERROR ${a.error ?? ''}`).split('\n');
  const right = (b.text ?? `ERROR ${b.error ?? ''}`).split('\n');
  const at = left.findIndex((line, i) => line !== right[i]);
  const line = at < 0 ? left.length : at;
  return `  line ${String(line + 1)}\n    helm: ${JSON.stringify(left[line])}\n    ours: ${JSON.stringify(right[line])}`;
}

/** Error messages may differ, but both must fail. */
const isSame = (helm: Printed, other: Printed): boolean =>
  helm.text === undefined ? other.text === undefined : helm.text === other.text;

/** Helm lists schema violations in random order. */
const isRecorded = (helm: Printed, known: Printed): boolean =>
  helm.text === known.text && sortedLines(helm.error) === sortedLines(known.error);

const sortedLines = (text = ''): string => text.split('\n').sort().join('\n');

/** @returns the number of differences between helm, our engine, and what is recorded */
async function checkSmallCharts(helm: string, records: boolean): Promise<number> {
  return withSmallCharts(async (cases) => {
    const originals = cases.map((each) => [each.name, printByHelm(helm, each).text ?? null] as const);
    if (records)
      writeFileSync(smallChartOutput, `${JSON.stringify(Object.fromEntries(originals), null, 1)}\n`);
    const known = recordedSmallCharts();
    let wrong = 0;
    for (const [i, each] of cases.entries()) {
      const text = originals[i]?.[1] ?? undefined;
      const ours = await printNatively(each);
      if (text === ours.text && text === (known[each.name] ?? undefined)) continue;
      wrong++;
      say(`✗ ${each.name}\n${firstDifference({ text: text ?? '' }, { text: ours.text ?? '' })}`);
    }
    if (wrong === 0) say(`small charts: ${String(cases.length)} renderings are the same as helm's`);
    return wrong;
  });
}

/** @returns the number of differences and complaints */
async function checkProduct(helm: string): Promise<number> {
  let wrong = 0;
  // With its defaults alone it asks for the namespaces.
  const cases = casesOf(productChartFolder).filter(({ values }) => values !== undefined);
  for (const each of cases) {
    const [original, ours] = [printByHelm(helm, each), await printNatively(each)];
    // This chart must render; that both engines fail is not enough.
    if (original.text === undefined || !isSame(original, ours)) {
      wrong++;
      say(`✗ ${each.name}\n${firstDifference(original, ours)}`);
    }
    const complaints = lint(helm, each);
    if (complaints === undefined) continue;
    wrong++;
    say(`✗ helm lint ${each.name}\n${complaints}`);
  }
  if (wrong === 0)
    say(`the chart of the product: ${String(cases.length)} renderings are the same, and helm lint is clean`);
  return wrong;
}

/** The output of `helm lint`, which also reports warnings; undefined if it is clean. */
function lint(helm: string, { chart, values }: ChartCase): string | undefined {
  const args = ['lint', '--strict', chart, ...(values === undefined ? [] : ['--values', values])];
  const run = spawnSync(helm, args, { encoding: 'utf8' });
  return run.status === 0 ? undefined : run.stdout + run.stderr;
}

/** @returns the exit code */
async function compareAll(): Promise<number> {
  const helm = ensureHelm((line) => void process.stderr.write(`${line}\n`));
  const printed = chartCases.map((each) => [each, printByHelm(helm, each)] as const);
  if (process.argv.includes('--record')) record(printed);
  let different = 0;
  for (const [each, original] of printed) {
    const ours = await printNatively(each);
    const known = recorded(each);
    if (isSame(original, ours) && isRecorded(original, known)) continue;
    different++;
    say(`✗ ${each.name}\n${firstDifference(original, isSame(original, ours) ? known : ours)}`);
  }
  const same = printed.length - different;
  say(`${String(same)} of ${String(printed.length)} renderings are the same as helm's, byte for byte`);
  const records = process.argv.includes('--record');
  const wrong =
    (await checkProduct(helm)) + (await compareSchemas(helm)) + (await checkSmallCharts(helm, records));
  const releases = await compareReleases(helm, { records });
  return different + wrong + releases === 0 ? 0 : 1;
}

try {
  process.exitCode = (await compareFolders(process.argv.slice(2))) ?? (await compareAll());
} catch (error) {
  if (!(error instanceof GoUnavailable)) throw error;
  process.stderr.write(`charts are not compared: ${error.message}\n`);
  process.exitCode = 3;
}
