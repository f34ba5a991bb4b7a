/** Converts each kind of work to messages and back. */
import type { DescriptorJob, ReferenceJob, SignatureJob } from '../../components/descriptor-work.ts';
import * as componentErrors from '../../components/errors.ts';
import * as yamlErrors from '../../lib/yaml-error.ts';
import * as textErrors from '../../lib/yaml-texts.ts';
import * as helmErrors from '../../templating/helm/errors.ts';
import type {
  ChartRoundJob,
  ChartValuesJob,
  MentionsJob,
  PackedChart,
  ReleaseRoundJob,
} from '../../templating/helm/work.ts';
import * as renderErrors from '../../templating/errors.ts';
import * as templateErrors from '../../templating/gotemplate/errors.ts';
import type { RecordChangeJob } from '../../templating/helm/record-view.ts';
import type { RecordJob } from '../../templating/helm/record.ts';
import type { Load } from '../../templating/worker/worker-process.ts';
import { classesOf, type WireError } from '../../templating/worker/errors-on-the-wire.ts';
import * as executionErrors from '../../api/kinds/execution.ts';
import * as blueprintErrors from '../errors.ts';
import * as kubeconfigErrors from '../kubeconfigs/request.ts';
import * as mappingErrors from '../mapping.ts';
import type { MappingJob, RenderJob, SchemaJob, WorkKind } from '../work.ts';
import type { TextsJob } from '../../lib/yaml-texts.ts';
import type { NamesJob } from '../match-names.ts';
import type { UnpackJob } from '../unpack-items.ts';
import {
  pack,
  packBlueprint,
  packChart,
  unpack,
  unpackBlueprint,
  type Packed,
  type PackedBlueprint,
} from './messages.ts';

/** A job: its data, and the blueprint that it belongs to. */
export interface WireJob {
  readonly kind: WorkKind;
  readonly data: Packed;
  readonly blueprint?: PackedBlueprint;
  /** Id of its shared data. */
  readonly chart?: string;
}

/**
 * A result that is `tooLarge` stays in the worker: reading it would block the thread of the controllers for too long.
 */
export type WireAnswer =
  { readonly result: Packed } | { readonly error: WireError } | { readonly tooLarge: true };

type ComponentJob = DescriptorJob | ReferenceJob | SignatureJob;
type ChartJob = RecordJob | RecordChangeJob | MentionsJob | ChartValuesJob | ChartRoundJob | ReleaseRoundJob;
export type AnyJob =
  RenderJob | TextsJob | NamesJob | UnpackJob | MappingJob | SchemaJob | ComponentJob | ChartJob;

export function packJob(kind: WorkKind, job: AnyJob): Load & { readonly work: WireJob } {
  if ('chart' in job) {
    const { chart, ...data } = job;
    const sharedData = packChart(chart);
    return { work: { kind, data: pack(data), chart: sharedData.id }, shared: [sharedData] };
  }
  if (!('blueprint' in job)) return { work: { kind, data: pack(job) } };
  const { blueprint, ...data } = job;
  const { packed, shared } = packBlueprint(blueprint);
  return { work: { kind, data: pack(data), blueprint: packed }, shared };
}

export function unpackJob({ data, blueprint, chart }: WireJob, found: (id: string) => unknown): AnyJob {
  return {
    ...(unpack(data) as AnyJob),
    ...(blueprint && { blueprint: unpackBlueprint(blueprint, found) }),
    ...(chart !== undefined && { chart: found(chart) as PackedChart }),
  };
}

/** All errors of work that callers distinguish by class. */
export const errorClasses = classesOf(
  renderErrors,
  helmErrors,
  templateErrors,
  blueprintErrors,
  mappingErrors,
  kubeconfigErrors,
  componentErrors,
  yamlErrors,
  textErrors,
  executionErrors,
);
