/** Server-side apply as a request: checks the configuration, computes the result, and creates or updates the object. */
import { timestamp } from '../../lib/clock.ts';
import { parseYaml } from '../../lib/yaml.ts';
import { applyServerSide, ApplyTypeError } from '../apply/apply.ts';
import type { Answer } from '../api.ts';
import { splitApiVersion } from '../kinds/catalogue.ts';
import type { Kind } from '../kinds/kinds.ts';
import { objectTypeOf, ownedMembers, versionsFor } from '../apply/managed.ts';
import type { Conversions } from '../apply/versions.ts';
import { shape } from './patch-engine.ts';
import { ApiError, badRequest, conflict, notFound, plainFailure } from '../status.ts';
import type { StatusDetails } from '../status.ts';
import { isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { storeKey } from '../store/view.ts';
import { insert } from './create.ts';
import { updateObject } from './update.ts';
import { settleNamespace, withDefaults } from './writer.ts';
import type { Writer } from './writer.ts';

export async function applyConfiguration(writer: Writer, subresource: string): Promise<Answer> {
  const { world, call, kind } = writer;
  const { namespace, name } = call.info;
  const applied = readConfiguration(writer);
  const exists = (): boolean => world.store.get(kind.resource, storeKey(kind, namespace, name)) !== undefined;
  if (!exists()) {
    if (subresource !== '') throw notFound(kind, name);
    call.demand('create');
    return create(writer, applied);
  }
  return updateObject(writer, {
    isPut: false,
    subresource,
    mutate: (live, conversions) =>
      shape(kind, call, writer.options, outcome(writer, applied, { live, subresource, conversions }), live),
    track: () => undefined,
  });
}

async function create(writer: Writer, applied: KubeObject): Promise<Answer> {
  const { call, kind, options } = writer;
  const { name, namespace } = call.info;
  const { uid } = applied.metadata;
  if (uid !== undefined)
    throw conflict(
      kind,
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  if (!applied.metadata.name)
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (applied.metadata.name !== name)
    throw badRequest(
      `the name of the object (${applied.metadata.name}) does not match the name on the URL (${name})`,
    );
  const object = shape(kind, call, options, outcome(writer, applied, { subresource: '' }), undefined);
  settleNamespace(kind, object, namespace);
  return insert(writer, withDefaults(kind, object), () => undefined);
}

/** @throws ApiError 400 for bodies that are not a configuration of this kind */
function readConfiguration({ call, kind }: Writer): KubeObject {
  let value: unknown;
  try {
    value = parseYaml(call.body.toString('utf8'));
  } catch (error) {
    throw badRequest(`error decoding YAML: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw badRequest('error decoding YAML: the configuration is not an object');
  const metadata: JsonObject = isObject(value['metadata']) ? value['metadata'] : {};
  if (metadata['managedFields'] != null) throw badRequest('metadata.managedFields must be nil');
  checkType(kind, value);
  return { ...value, kind: kind.kind, apiVersion: kind.apiVersion, metadata } as unknown as KubeObject;
}

function checkType(kind: Kind, value: JsonObject): void {
  const apiVersion = typeof value['apiVersion'] === 'string' ? value['apiVersion'] : '';
  const name = typeof value['kind'] === 'string' ? value['kind'] : '';
  if (apiVersion === kind.apiVersion && name === kind.kind) return;
  const { group, version } = splitApiVersion(apiVersion);
  throw badRequest(`invalid object type: ${group === '' ? '' : `${group}/`}${version}, Kind=${name}`);
}

function outcome(
  { world, kind, options }: Writer,
  applied: KubeObject,
  {
    live,
    subresource,
    conversions,
  }: { readonly live?: KubeObject; readonly subresource: string; readonly conversions?: Conversions },
): KubeObject {
  try {
    const result = applyServerSide({
      live,
      applied,
      manager: options.fieldManager,
      force: options.force,
      type: objectTypeOf(kind),
      apiVersion: kind.apiVersion,
      time: timestamp(world.clock),
      subresource,
      owns: ownedMembers(kind, subresource),
      versionOf: versionsFor(kind, subresource, conversions),
    });
    if ('object' in result) return result.object;
    throw new ApiError(409, 'Conflict', result.message, {
      causes: result.conflicts.map((c) => ({
        reason: 'FieldManagerConflict',
        message: `conflict with ${c.manager}`,
        field: c.field,
      })),
    } satisfies StatusDetails);
  } catch (error) {
    if (error instanceof ApplyTypeError) throw plainFailure(error.message);
    throw error;
  }
}
