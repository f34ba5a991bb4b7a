/** The charts that our rendering is compared with, and the recorded output of helm for them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { systemClock } from '../../src/lib/clock.ts';
import type { Fields } from '../../src/lib/objects.ts';
import { seededRng } from '../../src/lib/rng.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import { chartOfFolder } from '../../src/templating/helm/load.ts';
import { printRendering, renderChart } from '../../src/templating/helm/render.ts';

const fixtures = join(import.meta.dirname, '../fixtures');
export const chartsFolder = join(fixtures, 'charts');
export const outputFolder = join(fixtures, 'helm-output');

/** A chart with one set of values. */
export interface ChartCase {
  readonly name: string;
  readonly chart: string;
  /** File with values; undefined to use the defaults alone. */
  readonly values: string | undefined;
}

export const RELEASE = 'demo';
export const NAMESPACE = 'shop';

/** A chart with its default values, and with each file of values in its folder `ci`. */
export function casesOf(chart: string): readonly ChartCase[] {
  const name = basename(chart);
  const ci = join(chart, 'ci');
  const files = existsSync(ci) ? readdirSync(ci).sort() : [];
  const more = files.map((file) => ({
    name: `${name}-${file.replace('-values.yaml', '')}`,
    chart,
    values: join(ci, file),
  }));
  return [{ name, chart, values: undefined }, ...more];
}

export const chartCases: readonly ChartCase[] = readdirSync(chartsFolder)
  .sort()
  .flatMap((name) => casesOf(join(chartsFolder, name)));

/** The result of rendering: the output, or the error. */
export interface Printed {
  readonly text?: string;
  readonly error?: string;
}

/** Contents by path. */
export const filesIn = (folder: string): ReadonlyMap<string, Uint8Array> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(folder, path), readFileSync(path)] as const;
      }),
  );

export async function printNatively({ chart, values }: ChartCase): Promise<Printed> {
  try {
    const given = values === undefined ? {} : (parseYaml(readFileSync(values, 'utf8')) as Fields);
    const release = { name: RELEASE, namespace: NAMESPACE, revision: 1, isUpgrade: false };
    const world = { clock: systemClock, rng: seededRng(1) };
    const rendering = await renderChart(chartOfFolder(filesIn(chart)), { release, values: given }, world);
    return { text: printRendering(rendering) };
  } catch (error) {
    if (error instanceof HelmError) return { error: error.message };
    throw error;
  }
}

/** The recorded output of helm. */
export function recorded({ name }: ChartCase): Printed {
  const at = join(outputFolder, name);
  if (existsSync(`${at}.yaml`)) return { text: readFileSync(`${at}.yaml`, 'utf8') };
  return { error: readFileSync(`${at}.error`, 'utf8').trimEnd() };
}
