/**
 * Work on charts as pure functions of plain data. Charts are untrusted, so they are unpacked, parsed, validated and
 * rendered in a worker that can be stopped. Results are limited to the size of a template's output.
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

/** A packed chart, and a key that depends only on its bytes. */
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
  /** The user's values. */
  readonly values: Fields;
}

export interface ChartRoundJob extends ChartJob {
  readonly inputs: Inputs;
  readonly round: Round;
}

interface ChartRenderJob extends ChartJob {
  readonly inputs: Inputs;
  /** Absent: without a cluster, every lookup is empty. */
  readonly lookup?: ReadLookup;
}

/** The values of a chart for templates and exports. */
export interface ChartValues {
  readonly metadata: {
    readonly document: Fields;
    readonly name: string;
    readonly version: string;
  };
  /** The values including all defaults. */
  readonly values: Fields;
}

/** The rendered objects of a chart, without their source text. */
export interface ChartObjects {
  readonly manifests: readonly Pick<RenderedManifest, 'source' | 'document'>[];
  readonly hooks: readonly Omit<Hook, 'content'>[];
  /** The objects of CRD files, or the error of a file. */
  readonly definitions: readonly ({ readonly document: unknown } | { readonly problem: string })[];
}

/** Runs the work, in this process or in a worker. All functions throw HelmError for errors in the chart or values. */
export interface ChartRunner {
  /** Which of these words occur in templates, files or defaults. */
  mentions(job: MentionsJob): Promise<readonly string[]>;
  chartValues(job: ChartValuesJob): Promise<ChartValues>;
  /** @throws ValuesInvalid if the values violate a schema */
  checkChartValues(job: ChartValuesJob): Promise<void>;
  /** The documents of a release, each as JSON. */
  recordDocuments(job: RecordJob): Promise<readonly string[]>;
  /** @throws the errors of `lookup` */
  renderChart(job: ChartRenderJob): Promise<ChartObjects>;
}

/** Returns the chart runner for the users of a namespace. */
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

/** A chart is parsed once for several consecutive jobs. */
const charts = new WeakMap<PackedChart, Chart>();

function chartOf(packed: PackedChart): Chart {
  const chart = charts.get(packed) ?? chartOfArchive(packed.bytes);
  charts.set(packed, chart);
  return chart;
}

/** Whether a word occurs in templates, files or defaults. */
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
