/** Exports: values that JSON paths select from cluster objects, combined under dotted keys. */
import { z } from 'zod';
import { define } from '../../src/lib/json.ts';
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import type { Problem } from '../../src/machine/decision.ts';
import { CodecError, optionalList, optionalObject, optionalString } from '../sdk/codec.ts';
import { ConfigurationError, isDefinite, messageOf } from '../sdk/errors.ts';
import { evaluate } from './json-path.ts';
import { ExportBudget, PathBudget } from './path-budget.ts';
import type { KubeAccess } from '../sdk/access.ts';

interface ResourceSource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface ExportSpec {
  readonly key: string;
  readonly jsonPath: string;
  /** Absent if the value does not come from the cluster. */
  readonly from?: ResourceSource | undefined;
  /** The first path selects a reference; the value is read from the referenced object. */
  readonly objectRef?:
    { readonly apiVersion: string; readonly kind: string; readonly jsonPath: string } | undefined;
  readonly targetName?: string | undefined;
}

const source = z.object({
  apiVersion: z.string().describe('API version of the object, such as "v1".'),
  kind: z.string().describe('Kind of the object.'),
  name: z.string().describe('Name of the object.'),
  namespace: z.string().nullish().describe('Namespace of the object; none for cluster-scoped kinds.'),
});
export const exportSchema = z.object({
  key: z.string().describe('Key in the exports of the item; dots create nested maps.'),
  jsonPath: z.string().nullish().describe('Field to read: ".data.url".'),
  targetName: z.string().nullish().describe('Target to read from. Default: the target of the item.'),
  fromResource: source.nullish().describe('Object on the target cluster to read from.'),
  fromObjectRef: z
    .object({
      apiVersion: z.string().describe('API version of the referenced object.'),
      kind: z.string().describe('Kind of the referenced object.'),
      jsonPath: z.string().describe('Field of the referenced object to read.'),
    })
    .nullish()
    .describe('Reads from the object that the field refers to by name and namespace.'),
});
export const exportsSchema = z
  .object({ exports: z.array(exportSchema).nullish().describe('Values to export.') })
  .nullish()
  .describe('Values of cluster objects that the item exports. The job waits until all exist.');

/**
 * An export from a cluster must specify its source, otherwise the job would wait for its timeout. An empty key is
 * valid, because upstream accepts it.
 * @throws CodecError
 */
export function decodeExports(value: unknown, path: string): readonly ExportSpec[] | undefined {
  const fields = optionalObject(value, path);
  if (!fields) return undefined;
  return (optionalList(fields['exports'], `${path}.exports`) ?? []).map((entry, i) =>
    decodeExport(entry, `${path}.exports[${String(i)}]`),
  );
}

function decodeExport(entry: unknown, path: string): ExportSpec {
  if (!isObject(entry)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const text = (fields: Fields, key: string): string => optionalString(fields[key], `${path}.${key}`) ?? '';
  const from = optionalObject(entry['fromResource'], `${path}.fromResource`);
  const ref = optionalObject(entry['fromObjectRef'], `${path}.fromObjectRef`);
  if (from) {
    required(entry, ['jsonPath'], path);
    required(from, ['apiVersion', 'kind', 'name'], `${path}.fromResource`);
    if (ref) required(ref, ['apiVersion', 'kind', 'jsonPath'], `${path}.fromObjectRef`);
  }
  return {
    key: text(entry, 'key'),
    jsonPath: text(entry, 'jsonPath'),
    targetName: text(entry, 'targetName') || undefined,
    ...(from && {
      from: {
        apiVersion: text(from, 'apiVersion'),
        kind: text(from, 'kind'),
        name: text(from, 'name'),
        namespace: text(from, 'namespace') || undefined,
      },
    }),
    ...(ref && {
      objectRef: {
        apiVersion: text(ref, 'apiVersion'),
        kind: text(ref, 'kind'),
        jsonPath: text(ref, 'jsonPath'),
      },
    }),
  };
}

function required(fields: Fields, keys: readonly string[], path: string): void {
  for (const key of keys) {
    if (!optionalString(fields[key], `${path}.${key}`))
      throw new CodecError({
        step: 'validate',
        message: `${path}.${key}: Required value: must not be empty`,
      });
  }
}

export interface ExportPorts {
  readonly access: KubeAccess;
  secondary(name: string): Promise<KubeAccess>;
  readonly signal: AbortSignal;
  assertTimeLeft(name: string): unknown;
}

/** All values, or the first export that is not available yet. */
export type ExportReading =
  | { readonly isComplete: true; readonly value: Fields }
  | { readonly isComplete: false; readonly key: string; readonly why: string };

/**
 * Reads all exports from clusters once, one after the other.
 * @param known values from other sources, keyed by dotted key
 */
export async function readExports(
  specs: readonly ExportSpec[],
  ports: ExportPorts,
  known: ReadonlyMap<string, unknown> = new Map(),
): Promise<ExportReading> {
  const value: Fields = {};
  const size = new ExportBudget();
  const budget = new PathBudget();
  for (const [key, given] of known) {
    size.spend(key, given);
    setAt(value, key, given);
  }
  for (const spec of specs) {
    if (!spec.from) continue;
    ports.assertTimeLeft(checkpointOf(spec.key));
    try {
      const found = await read(spec, spec.from, ports, budget);
      size.spend(spec.key, found);
      setAt(value, spec.key, found);
    } catch (error) {
      if (ports.signal.aborted || error instanceof ConfigurationError || isDefinite(error)) throw error;
      return { isComplete: false, key: spec.key, why: messageOf(error) };
    }
  }
  return { isComplete: true, value };
}

const checkpointOf = (key: string): string => `deployer: during export - key: ${key}`;

/** The value does not exist (yet). */
class NoValue extends Error {
  override readonly name = 'NotThere';
}

async function read(
  spec: ExportSpec,
  from: ResourceSource,
  ports: ExportPorts,
  budget: PathBudget,
): Promise<unknown> {
  const access = spec.targetName ? await ports.secondary(spec.targetName) : ports.access;
  const first = single(spec.jsonPath, await get(from, access, ports.signal), from, budget);
  if (!spec.objectRef) return first;
  const name = ownField(first, 'name');
  const namespace = ownField(first, 'namespace');
  if (typeof name !== 'string' || name === '')
    throw new NoValue(`JSON path ${spec.jsonPath} does not select a reference with a name`);
  const { apiVersion, kind, jsonPath } = spec.objectRef;
  const referenced: ResourceSource = {
    apiVersion,
    kind,
    name,
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : from.namespace,
  };
  return single(jsonPath, await get(referenced, access, ports.signal), referenced, budget);
}

async function get(source: ResourceSource, access: KubeAccess, signal: AbortSignal): Promise<unknown> {
  const kind = await access.kindOf(source.apiVersion, source.kind);
  return access.client.get(
    kind,
    source.namespace ? `${source.namespace}/${source.name}` : source.name,
    signal,
  );
}

function single(
  path: string,
  object: unknown,
  { kind, namespace, name }: ResourceSource,
  budget: PathBudget,
): unknown {
  const results = evaluate(path, object, budget);
  if (results && results.length > 0) return results[0];
  throw new NoValue(`${kind} ${namespace ? `${namespace}/` : ''}${name} has no field with JSON path ${path}`);
}

/** Sets a value at a dotted key; existing maps are kept. */
function setAt(into: Fields, key: string, value: unknown): void {
  const steps = key.split('.');
  const last = steps.pop() ?? '';
  let at = into;
  for (const step of steps) {
    const inner = Object.hasOwn(at, step) ? at[step] : undefined;
    const next = isObject(inner) ? inner : {};
    define(at, step, next);
    at = next;
  }
  define(at, last, value);
}

/** The error of a job whose export does not appear in time. @param operation of the deployer */
export const exportTimeout = (operation: string, key: string): Problem => ({
  operation,
  reason: 'ReadExportValues',
  message: `Op: Export - Reason: ProgressingTimeout - Message: timeout at: "${checkpointOf(key)}": context deadline exceeded`,
  codes: ['ERR_TIMEOUT'],
});

/** The status of the job while it waits for an export. */
export const exportWait = (operation: string, key: string, why: string): Problem => ({
  operation,
  reason: 'ReadExportValues',
  message: `export ${key} is not available yet: ${why}`,
});
