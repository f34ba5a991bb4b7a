/** Checks with random objects that conversions between versions lose nothing. */
import { compileSchema, type CompiledSchema, type JsonSchema } from '../apiserver/schema/schema.ts';
import { equal } from '../lib/json.ts';
import { mergeDiff } from '../lib/merge.ts';
import type { Conversion } from '../runtime/conversion/conversion.ts';
import { ServedConversion, type DefinitionSchemas } from '../runtime/conversion/served.ts';
import type { Obj } from '../runtime/types.ts';
import { Chance } from './engine/chance.ts';
import { sampleObject } from './sample.ts';

/** What is checked, and with how many objects. */
export interface ConversionCheck {
  readonly conversion: Conversion;
  /** The definition of the kind, such as the result of `crdOf`. */
  readonly crd: object;
  /** Number of objects of each version; default 200. */
  readonly samples?: number;
  /** Default 1. */
  readonly seed?: number;
  /**
   * Changes a random object, for example because values must have a pattern or fit together. Without it, the check fails
   * for a schema for which no values can be generated.
   * @param version such as `v1`
   */
  sample?(object: Obj, version: string, chance: Chance): Obj;
}

/** A conversion failed, has an invalid result, or loses a value. The message contains the object. */
export class ConversionFailure extends Error {
  override readonly name = 'ConversionFailure';
}

const SAMPLES = 200;
const MAX_TRIES = 50;

/**
 * Converts random objects of each version to each other version and back. The result in the other version must be valid, and
 * the object must be the same at the end. As an API server does, it drops unknown fields and sets defaults in between.
 * @returns the number of conversions
 * @throws ConversionFailure for the first object that fails; SampleError if no values can be generated
 */
export function checkConversion(check: ConversionCheck): number {
  const { conversion, samples = SAMPLES, seed = 1 } = check;
  const { group, kind } = conversion.hub;
  const schemas = schemasOf(check.crd);
  const served = new ServedConversion(conversion);
  served.learn(check.crd as DefinitionSchemas);
  for (const version of schemas.keys())
    if (!conversion.versions.includes(version))
      throw new ConversionFailure(
        `the conversion of ${kind} does not have version ${version} of the definition`,
      );
  let count = 0;
  for (const [from, schema] of schemas) {
    for (let i = 0; i < samples; i++) {
      const chance = new Chance(seed + i, from);
      const object = sampleOf(check, { version: from, apiVersion: `${group}/${from}`, schema }, chance);
      for (const [to, other] of schemas) {
        if (to === from) continue;
        checkRoundTrip(conversion, object, { apiVersion: `${group}/${to}`, schema: other }, schema);
        count++;
      }
    }
    for (const to of schemas.keys())
      if (to !== from) checkIncomplete(served, `${group}/${from}`, `${group}/${to}`);
  }
  return count;
}

/** API servers also convert objects from which server-side apply has removed all fields. */
function checkIncomplete(served: ServedConversion, apiVersion: string, to: string): void {
  const { kind, namespaced } = served.conversion.hub;
  const metadata = { name: 'incomplete', ...(namespaced && { namespace: 'default' }) };
  try {
    served.convert({ apiVersion, kind, metadata }, to);
  } catch (error) {
    throw new ConversionFailure(
      `${kind} ${apiVersion} → ${to} failed for an object with empty values: ${(error as Error).message}; API servers convert such objects in server-side apply`,
    );
  }
}

interface Version {
  readonly apiVersion: string;
  readonly schema: CompiledSchema;
}

function checkRoundTrip(conversion: Conversion, object: Obj, to: Version, own: CompiledSchema): void {
  const fail = (why: string): never => {
    const path = `${object.kind} ${object.apiVersion} → ${to.apiVersion}`;
    throw new ConversionFailure(`${path}${why}\nthe object: ${JSON.stringify(object)}`);
  };
  const convert = (from: Obj, apiVersion: string): Obj => {
    try {
      return conversion.convert(from, apiVersion);
    } catch (error) {
      return fail(` failed: ${(error as Error).message}`);
    }
  };
  const raw = plain(convert(object, to.apiVersion));
  const unknown = to.schema.unknownFields(raw);
  if (unknown.length > 0) fail(` has fields that ${to.apiVersion} does not have: ${unknown.join(', ')}`);
  const there = to.schema.applyDefaults(raw);
  const [error] = to.schema.validate(there);
  if (error) fail(` is invalid: ${error.field}: ${error.message}\nthe result: ${JSON.stringify(there)}`);
  const back = own.applyDefaults(own.prune(plain(convert(there, object.apiVersion))));
  if (equal(back, object)) return;
  const difference = JSON.stringify(mergeDiff(object, back));
  fail(` → ${object.apiVersion} changes the object: ${difference}\nthe result: ${JSON.stringify(there)}`);
}

/** A valid object of a version, with defaults. */
function sampleOf(
  check: ConversionCheck,
  { version, apiVersion, schema }: Version & { readonly version: string },
  chance: Chance,
): Obj {
  const { kind, namespaced } = check.conversion.hub;
  let problem = '';
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const metadata = {
      name: `sample-${String(chance.between(0, 999))}`,
      ...(namespaced && { namespace: 'default' }),
      ...(chance.happens(0.3) && { labels: { tier: 'front' } }),
      ...(chance.happens(0.3) && { annotations: { note: 'kept' } }),
    };
    const raw = {
      apiVersion,
      kind,
      metadata,
      ...sampleObject(schema.schema, chance, check.sample !== undefined),
    };
    const object = schema.applyDefaults(plain(check.sample?.(raw, version, chance) ?? raw));
    const [error] = schema.validate(object);
    if (!error) return object;
    problem = `${error.field}: ${error.message}`;
  }
  throw new ConversionFailure(
    `no valid ${kind} of ${apiVersion} can be generated; set the values with "sample": ${problem}`,
  );
}

/** As it is sent: without undefined fields. */
const plain = (object: Obj): Obj => JSON.parse(JSON.stringify(object)) as Obj;

function schemasOf(crd: object): Map<string, CompiledSchema> {
  const { spec } = crd as {
    readonly spec: {
      readonly versions: readonly {
        readonly name: string;
        readonly schema: { openAPIV3Schema: JsonSchema };
      }[];
    };
  };
  return new Map(spec.versions.map(({ name, schema }) => [name, compileSchema(schema.openAPIV3Schema)]));
}
