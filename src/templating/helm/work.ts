/**
 * The work that charts ask for, as pure functions of plain data: charts come from strangers, so they are unpacked, read,
 * checked and rendered where that can be stopped. What comes back is no larger than the output of a template may be.
 */
import type { Fields } from '../../lib/objects.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';
import type { Chart } from './chart.ts';
import { coalesceValues } from './coalesce.ts';
import { withDependencies } from './dependencies.ts';
import type { World } from './engine.ts';
import { chartOfArchive } from './load.ts';
import type { ReadLookup, Round, RoundResult } from './lookups.ts';
import { splitManifests, type Hook, type RenderedManifest } from './manifests.ts';
import { recordDocuments, type RecordJob } from './record.ts';
import { renderRound, type Inputs, type Rendering } from './render.ts';
import { checkValues } from './schema.ts';

/** A packed chart, and what is the same for the same bytes alone. */
export interface PackedChart {
  readonly bytes: Uint8Array;
  readonly digest: string;
}

interface ChartJob {
  readonly chart: PackedChart;
}

export interface MentionsJob extends ChartJob {
  readonly words: readonly string[];
}

export interface ChartValuesJob extends ChartJob {
  /** What the user gives. */
  readonly values: Fields;
}

export interface ChartRoundJob extends ChartJob {
  readonly inputs: Inputs;
  readonly round: Round;
}

interface ChartRenderJob extends ChartJob {
  readonly inputs: Inputs;
  /** Absent: there is no cluster, and every answer is empty. */
  readonly lookup?: ReadLookup;
}

/** What templates and exports see of a chart. */
export interface ChartValues {
  readonly metadata: {
    readonly document: Fields;
    readonly name: string;
    readonly version: string;
  };
  /** With all defaults. */
  readonly values: Fields;
}

/** What a chart prints, without the texts. */
export interface ChartObjects {
  readonly manifests: readonly Pick<RenderedManifest, 'source' | 'document'>[];
  readonly hooks: readonly Omit<Hook, 'content'>[];
  /** The definitions that lie beside the templates, or what is wrong with one. */
  readonly definitions: readonly ({ readonly document: unknown } | { readonly problem: string })[];
}

/** Does the work: here or aside. All of it throws HelmError for what is wrong with chart or values. */
export interface ChartRunner {
  /** Which of these words occur in what may be executed. */
  mentions(job: MentionsJob): Promise<readonly string[]>;
  chartValues(job: ChartValuesJob): Promise<ChartValues>;
  /** @throws ValuesInvalid when the values are not what the schemas ask for */
  checkChartValues(job: ChartValuesJob): Promise<void>;
  /** What a release was made of, each document as JSON. */
  recordDocuments(job: RecordJob): Promise<readonly string[]>;
  /** @throws what `lookup` throws */
  renderChart(job: ChartRenderJob): Promise<ChartObjects>;
}

/** The chart runner for what users of a namespace have written. */
export type ChartsOf = (namespace: string) => ChartRunner;

export const chartWork = {
  mentions: ({ chart, words }: MentionsJob): readonly string[] => {
    const read = chartOf(chart);
    return words.filter((word) => mentions(read, word));
  },
  chartValues: ({ chart, values }: ChartValuesJob): ChartValues => {
    const active = withDependencies(chartOf(chart), values);
    const { document, name, version } = active.metadata;
    return { metadata: { document, name, version }, values: coalesceValues(active, values) };
  },
  checkChartValues: ({ chart, values }: ChartValuesJob): undefined => {
    const active = withDependencies(chartOf(chart), values);
    checkValues(active, coalesceValues(active, values));
  },
  recordDocuments,
  chartRound: ({ chart, inputs, round }: ChartRoundJob, world: World): RoundResult<ChartObjects> => {
    const outcome = renderRound(chartOf(chart), inputs, round, world);
    return outcome.kind === 'asked' ? outcome : { kind: 'rendered', result: objectsIn(outcome.result) };
  },
} as const;

/** One chart is read once for several jobs in a row. */
const charts = new WeakMap<PackedChart, Chart>();

function chartOf(packed: PackedChart): Chart {
  const chart = charts.get(packed) ?? chartOfArchive(packed.bytes);
  charts.set(packed, chart);
  return chart;
}

/** Whether a word occurs in what may be executed: templates, files and defaults. */
function mentions(chart: Chart, word: string): boolean {
  const { templates, files, values, dependencies } = chart;
  return (
    [...templates, ...files].some(({ content }) => Buffer.from(content).includes(word)) ||
    JSON.stringify(values, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ).includes(word) ||
    dependencies.some((dependency) => mentions(dependency, word))
  );
}

const objectsIn = ({ manifests, hooks, crds }: Rendering): ChartObjects => ({
  manifests: manifests.map(({ source, document }) => ({ source, document })),
  hooks: hooks.map(({ source, kind, document, events }) => ({ source, kind, document, events })),
  definitions: crds.flatMap(({ source, content }) =>
    splitManifests(content).map((text) => definition(source, text)),
  ),
});

function definition(source: string, text: string): ChartObjects['definitions'][number] {
  try {
    return { document: parseYaml(text) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { problem: `YAML parse error on ${source}: ${error.message}` };
  }
}
