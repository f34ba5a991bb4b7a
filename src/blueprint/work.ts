/**
 * Work whose length users decide: executions, mappings and schemas of blueprints, and charts. Each is a pure function
 * of plain data, so it can run in this process or in a worker process that can be stopped.
 */
import type { Clock } from '../lib/clock.ts';
import type { Rng } from '../lib/rng.ts';
import type { WayListener } from '../templating/fork.ts';
import {
  renderExecution,
  renderWithState,
  type EngineOptions,
  type Rendering,
  type TemplateExecution,
} from '../templating/render.ts';
import { withLookups } from '../templating/helm/lookups.ts';
import { readTexts, type TextReader, type TextsJob } from '../lib/yaml-texts.ts';
import { DEFAULT_LIMITS, type TemplateLimits } from '../templating/budget.ts';
import { chartWork, type ChartRunner } from '../templating/helm/work.ts';
import { checkSchema, type SchemaSources, type SchemaVerdict } from './json-schema.ts';
import { evaluateMapping, type MappingName } from './mapping.ts';
import type { JsonMap } from './model.ts';
import type { IssuedByKey } from './kubeconfigs/request.ts';
import { spiffKubeconfigFunctions } from './kubeconfigs/engines.ts';
import { spiffFunctionsFor } from './spiff-functions.ts';
import { matchNames, type NameMatcher } from './match-names.ts';
import { unpackItems, type ItemsUnpacker } from './unpack-items.ts';
import type { SchemaVersion } from '../components/descriptor.ts';
import { componentValues } from '../components/functions.ts';
import { descriptorsHere, descriptorWork, type DescriptorRunner } from '../components/descriptor-work.ts';
import { templateFunctions } from './template-functions.ts';

/** The data from outside that work may use. */
export interface WorkWorld {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly limits?: Partial<TemplateLimits>;
  readonly onWay?: WayListener;
}

export interface RenderJob {
  readonly execution: TemplateExecution;
  /** root values without those of the component */
  readonly values: JsonMap;
  readonly blueprint: SchemaSources;
  /** Descriptor format of the component for templates; undefined without a component. */
  readonly form?: SchemaVersion | undefined;
  /** The state that the execution stored in the last job, an empty map at first; without it no state is stored. */
  readonly stored?: unknown;
  readonly refuseNoValueIn?: EngineOptions['refuseNoValueIn'];
  /** Kubeconfigs issued so far; undefined if there is no cluster to request them from. */
  readonly kubeconfigs?: IssuedByKey | undefined;
}

export interface MappingJob extends MappingName {
  readonly document: unknown;
  readonly bindings: JsonMap;
}

export interface SchemaJob {
  readonly schema: unknown;
  readonly value: unknown;
  readonly blueprint: SchemaSources;
}

/** Runs work here or in a worker. All of it may be interrupted, see interruptions.ts. */
export interface TemplateRunner {
  /** The result of an execution, read as JSON, and its new state. @throws RenderError */
  render(job: RenderJob): Promise<Rendering>;
  /** The value of a mapping. @throws MappingFailed */
  map(job: MappingJob): Promise<unknown>;
  /** Whether a value matches a schema. */
  check(job: SchemaJob): Promise<SchemaVerdict>;
}

export interface Runner
  extends TemplateRunner, ChartRunner, ItemsUnpacker, DescriptorRunner, TextReader, NameMatcher {}

/** The runner for the work of users of a namespace: each namespace has its own share of the workers. */
export type RunnerOf = (namespace: string) => Runner;

function renderWork(job: RenderJob, world: WorkWorld): Rendering {
  const { execution, blueprint, form, stored, refuseNoValueIn, kubeconfigs } = job;
  const { component } = blueprint;
  // A copy, because templates can change it.
  const given = component && form ? structuredClone(componentValues(component, form)) : {};
  const values = { ...job.values, ...given };
  const options: EngineOptions = {
    ...world,
    files: blueprint.files,
    functions: templateFunctions(component, kubeconfigs),
    spiffFunctions: {
      ...spiffFunctionsFor(component),
      ...spiffKubeconfigFunctions(kubeconfigs),
    },
    ...(refuseNoValueIn && { refuseNoValueIn }),
  };
  return stored === undefined
    ? { output: renderExecution(execution, values, options) }
    : renderWithState(execution, values, options, stored);
}

export const work = {
  render: renderWork,
  map: ({ document, bindings, ...name }: MappingJob, world: WorkWorld): unknown =>
    evaluateMapping(document, bindings, name, world),
  check: ({ schema, value, blueprint }: SchemaJob): SchemaVerdict => checkSchema(schema, value, blueprint),
  ...chartWork,
  ...descriptorWork,
  unpackItems,
  matchNames,
  readTexts: (job: TextsJob, { limits }: WorkWorld) => readTexts(job, bytesFor(limits)),
} as const;

const bytesFor = (limits: Partial<TemplateLimits> = {}): number =>
  limits.maxOutputBytes ?? DEFAULT_LIMITS.maxOutputBytes;

export type WorkKind = keyof typeof work;

/** Runs everything immediately in this thread: for virtual time, where the order must not depend on other processes. */
export const inThisThread = (world: WorkWorld): Runner => ({
  ...descriptorsHere,
  render: (job) => settled(() => work.render(job, world)),
  map: (job) => settled(() => work.map(job, world)),
  check: (job) => settled(() => work.check(job)),
  mentions: (job) => settled(() => work.mentions(job)),
  chartValues: (job) => settled(() => work.chartValues(job)),
  checkChartValues: (job) => settled(() => work.checkChartValues(job)),
  unpackItems: (job) => settled(() => work.unpackItems(job)),
  matchNames: (job) => settled(() => work.matchNames(job)),
  readTexts: (job) => settled(() => work.readTexts(job, world)),
  recordDocuments: (job) => settled(() => work.recordDocuments(job)),
  chartDefinitions: (job) => settled(() => work.chartDefinitions(job)),
  viewRecord: (job) => settled(() => work.viewRecord(job)),
  changeRecord: (job) => settled(() => work.changeRecord(job)),
  renderRelease: ({ lookup, ...job }) =>
    withLookups(lookup, (round) => settled(() => work.releaseRound({ ...job, round }, world))),
  renderChart: ({ lookup, ...job }) =>
    withLookups(lookup, (round) => settled(() => work.chartRound({ ...job, round }, world))),
});

const settled = <T>(run: () => T): Promise<T> => new Promise((resolve) => resolve(run()));
