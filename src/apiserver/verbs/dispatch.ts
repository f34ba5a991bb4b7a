/** From a request to its answer: selects kind, subresource and verb. */
import type { Admission, Answer, Call, World } from '../api.ts';
import { decodeObject } from '../http/body.ts';
import { deleteCollection, deleteObject } from './delete.ts';
import { discoveryAnswer } from '../openapi/discovery.ts';
import { openApiAnswer } from '../openapi/pages.ts';
import type { Kind } from '../kinds/kinds.ts';
import { listOptions, writeOptions } from '../http/options.ts';
import { patchObject } from './patching.ts';
import { get, list, watch } from './read.ts';
import { ApiError, badRequest, methodNotAllowed, noSuchResource, notFound } from '../status.ts';
import type { SubresourceHandlers } from './subresources.ts';
import { createObject } from './create.ts';
import { updateObject } from './update.ts';
import { normalize } from './writer.ts';
import type { Writer } from './writer.ts';

export interface Services {
  readonly world: World;
  readonly admission: Admission;
  readonly subresources: SubresourceHandlers;
  /** Virtual kinds, by `group/plural`. */
  readonly virtual: ReadonlyMap<string, (call: Call, kind: Kind) => Answer>;
  /** Paths outside the resources, such as /version; undefined for an unknown path. */
  readonly page: (call: Call) => Answer | undefined;
}

export async function dispatch(services: Services, call: Call): Promise<Answer> {
  const { world } = services;
  const { info } = call;
  if (!info.isResource) {
    const answer = services.page(call) ?? discoveryAnswer(world, call) ?? openApiAnswer(world, call);
    if (answer) return answer;
    if (isBuiltInVersionPath(world, info.path)) throw noSuchResource();
    return pageNotFound();
  }
  const kind = world.registry.find(info.group, info.version, info.plural);
  if (!kind) {
    if (world.registry.isBuiltInGroup(info.group)) throw noSuchResource();
    return pageNotFound();
  }
  if (info.subresource !== '') return subresource(services, call, kind);
  if (kind.virtual) return virtual(services, call, kind);
  checkScope(call, kind);
  return info.name === '' ? collection(services, call, kind) : item(services, call, kind);
}

const pageNotFound = (): Answer => ({
  type: 'bytes',
  code: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  body: Buffer.from('404 page not found\n'),
});

function isBuiltInVersionPath(world: World, path: string): boolean {
  const [root, group] = path.split('/').slice(1);
  return root === 'api' || (root === 'apis' && group !== undefined && world.registry.isBuiltInGroup(group));
}

function checkScope({ info, method }: Call, kind: Kind): void {
  if (kind.namespaced) {
    if (info.namespace === '' && (info.name !== '' || (method !== 'GET' && method !== 'DELETE')))
      throw methodNotAllowed();
    if (info.namespace === '' && method === 'DELETE') throw methodNotAllowed();
  } else if (info.namespace !== '' && kind.resource !== '/namespaces') throw noSuchResource();
}

function virtual(services: Services, call: Call, kind: Kind): Answer {
  if (call.method !== 'POST' || call.info.name !== '') throw methodNotAllowed();
  const handler = services.virtual.get(kind.resource);
  if (!handler) throw methodNotAllowed();
  return handler(call, kind);
}

async function collection(services: Services, call: Call, kind: Kind): Promise<Answer> {
  const { world, admission } = services;
  switch (call.method) {
    case 'GET':
      return call.info.verb === 'watch' ? watch(world, call, kind) : list(world, call, kind);
    case 'POST': {
      const options = writeOptions('CreateOptions', call.query);
      const { object, duplicates } = decodeObject(call, kind, options.fieldValidation !== 'Ignore');
      return createObject({ world, call, kind, admission, options }, object, duplicates);
    }
    case 'DELETE':
      if (!kind.verbs.includes('deletecollection')) throw methodNotAllowed();
      listOptions(call.query, false);
      return deleteCollection({ world, call, kind, admission });
    default:
      throw methodNotAllowed();
  }
}

async function item(services: Services, call: Call, kind: Kind): Promise<Answer> {
  const { world, admission } = services;
  switch (call.method) {
    case 'GET':
      return call.info.verb === 'watch' ? watch(world, call, kind) : get(world, call, kind);
    case 'PUT':
      return putObject(services, call, kind, '');
    case 'PATCH':
      return patchObject({ world, call, kind, admission }, '');
    case 'DELETE':
      return deleteObject({ world, call, kind, admission });
    default:
      throw methodNotAllowed();
  }
}

async function putObject(services: Services, call: Call, kind: Kind, sub: string): Promise<Answer> {
  const { world, admission } = services;
  const options = writeOptions('UpdateOptions', call.query);
  const writer: Writer = { world, call, kind, admission, options };
  const { object, duplicates } = decodeObject(call, kind, options.fieldValidation !== 'Ignore');
  try {
    // An attempt consumes the body; a repeated one starts from the bytes again.
    let first: ReturnType<typeof normalize> | undefined = normalize(writer, object, duplicates);
    return await updateObject(writer, {
      isPut: true,
      subresource: sub,
      mutate: () => {
        const mine =
          first ??
          normalize(
            { ...writer, call: { ...call, warnings: [] } },
            decodeObject(call, kind, false).object,
            [],
          );
        first = undefined;
        return mine;
      },
    });
  } catch (error) {
    const isMissing = error instanceof ApiError && error.code === 404 && error.reason === 'NotFound';
    if (!isMissing || !kind.createOnUpdate || sub !== '') throw error;
    const { object: again } = decodeObject(call, kind, false);
    const name = (again['metadata'] as { name?: string } | undefined)?.name ?? '';
    if (name !== call.info.name)
      throw badRequest(
        name === ''
          ? `the name of the object (${call.info.name} based on URL) was undeterminable: name must be provided`
          : `the name of the object (${name}) does not match the name on the URL (${call.info.name})`,
      );
    call.demand('create');
    return createObject(writer, again);
  }
}

async function subresource(services: Services, call: Call, kind: Kind): Promise<Answer> {
  const { world, admission, subresources } = services;
  const { info } = call;
  const isServed = kind.subresources.includes(info.subresource);
  if (!isServed) throw kind.builtIn ? noSuchResource() : notFound(kind, info.name);
  if (kind.namespaced && info.namespace === '') throw methodNotAllowed();
  if (info.subresource === 'status')
    switch (call.method) {
      case 'GET':
        return get(world, call, kind);
      case 'PUT':
        return putObject(services, call, kind, 'status');
      case 'PATCH':
        return patchObject({ world, call, kind, admission }, 'status');
      default:
        throw methodNotAllowed();
    }
  const handler = subresources[info.subresource];
  if (!handler) throw noSuchResource();
  return handler(call, kind);
}
