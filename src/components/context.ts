/** Opens the repository that a repository context describes. */
import { join } from 'node:path';
import { FileTreeError, inlineFileTree } from '../lib/file-tree.ts';
import { ownField } from '../lib/objects.ts';
import type { ArtifactStore } from './artifact.ts';
import { ctfStore, filesOfArchive } from './ctf.ts';
import type { DescriptorRunner } from './descriptor-work.ts';
import type { JsonMap } from './descriptor.ts';
import { RepositoryUnusable } from './errors.ts';
import { filesInMemory, filesOnDisk, type Files } from './files.ts';
import { localRepository } from './local-repository.ts';
import { ociRepository } from './oci-repository.ts';
import type { Repository } from './repository.ts';
import { trimmedEnds } from '../lib/trim.ts';

interface RepositoryPorts {
  /** The folder that contains all file-based repositories; undefined: they are not available. */
  readonly localRoot?: string | undefined;
  readonly maxFileBytes: number;
  /** A registry, accessed with the credentials of the request. */
  registry(address: string): ArtifactStore;
  /** Parses descriptors; default: in this thread. */
  readonly runner?: DescriptorRunner | undefined;
}

/** Types may have a version suffix; the case of the first letter does not matter. */
const kindOf = (type: string): string => type.replace(/\/v\d+\w*$/, '').toLowerCase();

/** @throws RepositoryUnusable, ContentInvalid */
export async function openRepository(context: JsonMap, ports: RepositoryPorts): Promise<Repository> {
  const type = text(context, 'type');
  switch (kindOf(type)) {
    case 'ociregistry':
      return registryRepository(context, ports);
    case 'commontransportformat':
    case 'ctf':
      return ctfRepository(context, ports);
    case 'local': {
      const folder = text(context, 'filePath');
      const files = localFiles(ports, `local repository ${folder}`);
      return localRepository({
        runner: ports.runner,
        context,
        name: `local repository ${folder}`,
        descriptors: files,
        blobs: files,
        descriptorFolder: folder,
        blobFolder: join(folder, 'blobs'),
      });
    }
    case 'inline':
      return inlineRepository(context, ports);
    default:
      throw new RepositoryUnusable(
        `repository type "${type}" is unknown; known are OCIRegistry, CommonTransportFormat, local and inline`,
      );
  }
}

function registryRepository(context: JsonMap, ports: RepositoryPorts): Repository {
  const { host, path } = addressOf(text(context, 'baseUrl'));
  const subPath = trimmed(text(context, 'subPath'));
  const mapping = text(context, 'componentNameMapping') || 'urlPath';
  if (mapping !== 'urlPath' && mapping !== 'sha256-digest') {
    throw new RepositoryUnusable(
      `componentNameMapping "${mapping}" is unknown; known are urlPath and sha256-digest`,
    );
  }
  const prefix = [path, subPath].filter((part) => part !== '').join('/');
  const store = ports.registry(host);
  return ociRepository({
    store,
    prefix,
    mapping,
    context,
    runner: ports.runner,
    name: prefix === '' ? store.name : `${store.name}/${prefix}`,
  });
}

/** The registry, with its scheme if it has one, and the path of repositories in it. */
export function addressOf(baseUrl: string): { readonly host: string; readonly path: string } {
  const [, scheme = '', host = '', path = ''] = /^((?:https?|oci):\/\/)?([^/]*)(.*)$/s.exec(baseUrl) ?? [];
  if (host === '' || host.includes('@') || /[\n\r\u2028\u2029]/.test(path)) {
    throw new RepositoryUnusable(
      'the repository context has no valid registry: baseUrl must look like registry.example.org/path',
    );
  }
  return { host: scheme === 'oci://' ? host : scheme + host, path: trimmed(path) };
}

async function ctfRepository(context: JsonMap, ports: RepositoryPorts): Promise<Repository> {
  const path = text(context, 'filePath');
  const name = `transport archive ${path}`;
  const files = localFiles(ports, name);
  const archive = await files.read(path);
  if (!archive && !(await files.list(path))) throw new RepositoryUnusable(`${name} does not exist`);
  const inside = archive ? await filesOfArchive(archive, name) : below(files, path);
  const store = ctfStore(inside, name);
  return ociRepository({ store, prefix: '', mapping: 'urlPath', context, name, runner: ports.runner });
}

const below = (files: Files, folder: string): Files => ({
  read: (path) => files.read(`${folder}/${path}`),
  list: (path) => files.list(`${folder}/${path}`),
});

function localFiles({ localRoot, maxFileBytes }: RepositoryPorts, name: string): Files {
  if (localRoot !== undefined) return filesOnDisk(localRoot, maxFileBytes);
  throw new RepositoryUnusable(
    `${name} cannot be used: it must be below registry.local.rootPath, which the configuration does not set`,
  );
}

function inlineRepository(context: JsonMap, { runner }: RepositoryPorts): Repository {
  const files = inlineFiles(ownField(context, 'fileSystem'), 'fileSystem');
  const own = ownField(context, 'blobFs');
  return localRepository({
    runner,
    context,
    name: 'inline repository',
    descriptors: files,
    descriptorFolder: text(context, 'compDescDirPath') || '/',
    blobs: own === undefined || own === null ? files : inlineFiles(own, 'blobFs'),
    blobFolder: text(context, 'blobDirPath') || 'blobs',
  });
}

/** @param field of the repository context, for messages */
function inlineFiles(filesystem: unknown, field: string): Files {
  try {
    return filesInMemory(inlineFileTree(filesystem));
  } catch (cause) {
    if (!(cause instanceof FileTreeError)) throw cause;
    throw new RepositoryUnusable(`${field} of the repository context cannot be used: ${cause.message}`, {
      cause,
    });
  }
}

function text(context: JsonMap, key: string): string {
  const value = ownField(context, key);
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new RepositoryUnusable(`the field ${key} of the repository context must be a string`);
}

const trimmed = (path: string): string => trimmedEnds(path, '/');
