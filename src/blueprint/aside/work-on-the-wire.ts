/** The three kinds of work as messages, and back. */
import * as componentErrors from '../../components/errors.ts';
import * as yamlErrors from '../../lib/yaml-error.ts';
import * as renderErrors from '../../templating/errors.ts';
import * as templateErrors from '../../templating/gotemplate/errors.ts';
import type { Parcel } from '../../templating/worker/pool.ts';
import { classesOf, type WireError } from '../../templating/worker/errors-on-the-wire.ts';
import * as blueprintErrors from '../errors.ts';
import * as kubeconfigErrors from '../kubeconfigs/request.ts';
import * as mappingErrors from '../mapping.ts';
import type { MappingJob, RenderJob, SchemaJob, WorkKind } from '../work.ts';
import {
  pack,
  packBlueprint,
  unpack,
  unpackBlueprint,
  type Packed,
  type PackedBlueprint,
} from './parcels.ts';

/** A job: its data, and the blueprint it belongs to. */
export interface WireJob {
  readonly kind: WorkKind;
  readonly data: Packed;
  readonly blueprint: PackedBlueprint | undefined;
}

export type WireAnswer = { readonly result: Packed } | { readonly error: WireError };

export type AnyJob = RenderJob | MappingJob | SchemaJob;

export function packJob(kind: WorkKind, job: AnyJob): { work: WireJob; parcels: readonly Parcel[] } {
  if (!('blueprint' in job)) return { work: { kind, data: pack(job), blueprint: undefined }, parcels: [] };
  const { blueprint, ...data } = job;
  const { packed, parcels } = packBlueprint(blueprint);
  return { work: { kind, data: pack(data), blueprint: packed }, parcels };
}

export function unpackJob({ data, blueprint }: WireJob, found: (id: string) => unknown): AnyJob {
  return {
    ...(unpack(data) as AnyJob),
    ...(blueprint && { blueprint: unpackBlueprint(blueprint, found) }),
  };
}

/** All errors that work may end with and that somebody tells apart. */
export const errorClasses = classesOf(
  renderErrors,
  templateErrors,
  blueprintErrors,
  mappingErrors,
  kubeconfigErrors,
  componentErrors,
  yamlErrors,
);
