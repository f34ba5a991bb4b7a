/**
 * The work that blueprints ask for and that users can make as long as they like: executions, mappings and schemas.
 * Each is a pure function of plain data, so it can be done here or aside, in a thread that can be stopped.
 */
import type { Clock } from '../lib/clock.ts';
import type { Rng } from '../lib/rng.ts';
import type { TemplateLimits } from '../templating/budget.ts';
import {
  renderExecution,
  renderWithState,
  type EngineOptions,
  type Rendering,
  type TemplateExecution,
} from '../templating/render.ts';
import { checkSchema, type SchemaSources, type SchemaVerdict } from './jsonschema.ts';
import { evaluateMapping, type MappingName } from './mapping.ts';
import type { JsonMap } from './model.ts';
import type { IssuedByKey } from './kubeconfigs/request.ts';
import { spiffKubeconfigFunctions } from './kubeconfigs/engines.ts';
import { spiffFunctionsFor } from './spifffunctions.ts';
import { templateFunctions } from './templatefunctions.ts';

/** What a piece of work may use of the world. */
export interface WorkWorld {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly limits?: Partial<TemplateLimits>;
}

export interface RenderJob {
  readonly execution: TemplateExecution;
  /** root values */
  readonly values: JsonMap;
  readonly blueprint: SchemaSources;
  /** What the execution remembered in the last job, an empty map at first; without it nothing is remembered. */
  readonly stored?: unknown;
  readonly refuseNoValueIn?: EngineOptions['refuseNoValueIn'];
  /** Kubeconfigs issued so far; undefined where there is no cluster to ask for them. */
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

/** Does the work: in this thread or in others. All of it may be interrupted, see interruptions.ts. */
export interface TemplateRunner {
  /** The result of an execution, read as JSON, and what it wants to remember. @throws RenderError */
  render(job: RenderJob): Promise<Rendering>;
  /** The value of a mapping. @throws MappingFailed */
  map(job: MappingJob): Promise<unknown>;
  /** Whether a value is as a schema wants it. */
  check(job: SchemaJob): Promise<SchemaVerdict>;
}

function renderWork(job: RenderJob, world: WorkWorld): Rendering {
  const { execution, values, blueprint, stored, refuseNoValueIn, kubeconfigs } = job;
  const options: EngineOptions = {
    ...world,
    files: blueprint.files,
    functions: templateFunctions(blueprint.component, kubeconfigs),
    spiffFunctions: {
      ...spiffFunctionsFor(blueprint.component),
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
} as const;

export type WorkKind = keyof typeof work;

/** Everything at once in this thread: for virtual time, where order must not depend on other threads. */
export const inThisThread = (world: WorkWorld): TemplateRunner => ({
  render: (job) => settled(() => work.render(job, world)),
  map: (job) => settled(() => work.map(job, world)),
  check: (job) => settled(() => work.check(job)),
});

const settled = <T>(run: () => T): Promise<T> => new Promise((resolve) => resolve(run()));
