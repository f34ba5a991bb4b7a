/**
 * Work on charts as pure functions of plain data. Charts are untrusted, so they are unpacked, parsed, validated and
 * rendered in a worker that can be stopped. Results are limited to the size of a template's output.
 */
import type { Fields } from '../../lib/objects.ts';
import { crdFiles, type Chart } from './chart.ts';
import { coalesceValues } from './coalesce.ts';
import { definitionsIn, type Definition } from './definitions.ts';
import { withDependencies } from './dependencies.ts';
import type { World } from './engine.ts';
import { chartOfArchive } from './load.ts';
import type { ReadLookup, Round, RoundResult } from './lookups.ts';
import type { Hook, RenderedManifest } from './manifests.ts';
import { recordOf, type RecordInfo } from './record-content.ts';
import {
  changeRecord,
  packRecord,
  viewRecord,
  type RecordChangeJob,
  type RecordView,
} from './record-view.ts';
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

export interface ReleaseRoundJob extends ChartRoundJob {
  readonly info: RecordInfo;
  /** Number of the revision in the record; default: the one that templates see. */
  readonly version: number;
}

interface ReleaseRenderJob extends ChartRenderJob, Pick<ReleaseRoundJob, 'info' | 'version'> {}

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
  readonly definitions: readonly Definition[];
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
  /** The CRD files of a chart, including those of dependencies that the values enable. */
  chartDefinitions(job: ChartValuesJob): Promise<readonly ChartDefinitions[]>;
  /** The record of a new revision, as `data.release` of its secret. @throws the errors of `lookup` */
  renderRelease(job: ReleaseRenderJob): Promise<string>;
  /** Undefined if the record is damaged. */
  viewRecord(job: RecordJob): Promise<RecordView | undefined>;
  /** The changed record, as `data.release` of its secret; undefined if it is damaged. */
  changeRecord(job: RecordChangeJob): Promise<string | undefined>;
}

/** A CRD file: its objects, or the error of a part. */
export interface ChartDefinitions {
  /** Path within its chart. */
  readonly name: string;
  readonly definitions: readonly Definition[];
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
  viewRecord,
  changeRecord,
  chartDefinitions: ({ chart, values }: ChartValuesJob): readonly ChartDefinitions[] => {
    const active = withDependencies(chartOf(chart), values);
    return crdFiles(active).map((file) => ({
      name: file.source.slice(file.source.lastIndexOf('/crds/') + 1),
      definitions: definitionsIn(file),
    }));
  },
  releaseRound: (
    { chart, inputs, round, info, version }: ReleaseRoundJob,
    world: World,
  ): RoundResult<string> => {
    const outcome = renderRound(chartOf(chart), inputs, round, world);
    if (outcome.kind === 'asked') return outcome;
    const at = { ...inputs.release, revision: version };
    return { kind: 'rendered', result: packRecord(recordOf(outcome.result, at, inputs.values, info)) };
  },
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

const objectsIn = ({ manifests, hooks, definitions }: Rendering): ChartObjects => ({
  manifests: manifests.map(({ source, document }) => ({ source, document })),
  hooks: hooks.map(({ source, kind, document, events }) => ({ source, kind, document, events })),
  definitions: definitions(),
});
