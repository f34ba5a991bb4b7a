/** Small charts with constructs that many charts use, one table of files, and what helm makes of them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ChartCase } from './charts.ts';

const fixture = (name: string): string => join(import.meta.dirname, '../fixtures', name);
export const smallChartOutput = fixture('small-chart-output.json');

type Content = string | { readonly base64: string };
type Files = Readonly<Record<string, Content>>;

const charts = JSON.parse(readFileSync(fixture('small-charts.json'), 'utf8')) as Readonly<
  Record<string, Files>
>;

/** The output of helm for each case; null if it refuses the chart. */
export type SmallChartOutput = Readonly<Record<string, string | null>>;

export const recordedSmallCharts = (): SmallChartOutput =>
  JSON.parse(readFileSync(smallChartOutput, 'utf8')) as SmallChartOutput;

export const smallChartNames: readonly string[] = Object.entries(charts).flatMap(([name, files]) => [
  name,
  ...Object.keys(files)
    .filter((path) => path.startsWith('ci/'))
    .map((path) => `${name} ${path}`),
]);

/** Writes the charts to a folder for as long as they are used. */
export async function withSmallCharts<T>(use: (cases: readonly ChartCase[]) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-small-charts-'));
  try {
    for (const [name, files] of Object.entries(charts)) {
      for (const [path, content] of Object.entries(files)) {
        const file = join(folder, name, path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'));
      }
    }
    return await use(
      smallChartNames.map((title) => {
        const [name = '', values] = title.split(' ');
        const chart = join(folder, name);
        return { name: title, chart, values: values === undefined ? undefined : join(chart, values) };
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
