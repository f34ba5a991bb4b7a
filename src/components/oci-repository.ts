/** Components as OCI artifacts, in registries and in transport archives. */
import { createHash } from 'node:crypto';
import { ownField } from '../lib/objects.ts';
import { sizeText } from '../lib/sizes.ts';
import { readTar, TarError } from '../lib/tar.ts';
import { UnpackError, unpacked } from '../lib/gzip.ts';
import type { Artifact, ArtifactStore, BlobRef } from './artifact.ts';
import { nameOf, type JsonMap } from './descriptor.ts';
import { descriptorsHere, MAX_DESCRIPTOR_BYTES, type DescriptorRunner } from './descriptor-work.ts';
import { isDigest } from './digest.ts';
import { parseDocument } from './document.ts';
import { BlobMissing, ContentInvalid, ContentTooLarge, ReferenceInvalid } from './errors.ts';
import { isRepositoryPath } from './image-reference.ts';
import { inRepository, type Content, type Repository } from './repository.ts';

interface OciPlace {
  readonly store: ArtifactStore;
  /** Path prefix of component names. */
  readonly prefix: string;
  readonly mapping: 'urlPath' | 'sha256-digest';
  readonly context: JsonMap;
  /** For messages. */
  readonly name: string;
  /** Default: in this thread. */
  readonly runner?: DescriptorRunner | undefined;
}

const MAX_ARTIFACT_BYTES = 128 * 2 ** 20;
const DESCRIPTOR_FILE = 'component-descriptor.yaml';

/** Tags must not contain `+`. */
export const tagOf = (version: string): string => version.replaceAll('+', '.build-');

export function repositoryPathOf(
  { prefix, mapping }: Pick<OciPlace, 'prefix' | 'mapping'>,
  component: string,
): string {
  const path =
    mapping === 'urlPath'
      ? `component-descriptors/${component}`
      : createHash('sha256').update(component).digest('hex');
  const full = prefix === '' ? path : `${prefix}/${path}`;
  if (isRepositoryPath(full)) return full;
  throw new ReferenceInvalid(
    `component ${component} has a name that cannot be the path of a repository: ${full}`,
  );
}

/** The component versions in the index of an archive. */
export const componentsIn = (
  entries: readonly { readonly repository: string; readonly tag?: string | undefined }[],
): readonly { readonly name: string; readonly version: string; readonly tag: string }[] =>
  entries.flatMap(({ repository, tag }) => {
    const name = /^component-descriptors\/(.+)$/.exec(repository)?.[1];
    return name === undefined || tag === undefined
      ? []
      : [{ name, tag, version: tag.replaceAll('.build-', '+') }];
  });

export function ociRepository(place: OciPlace): Repository {
  const { store, context, name, runner = descriptorsHere } = place;
  const pathOf = (component: string): string => repositoryPathOf(place, component);
  /** Each artifact is fetched once, so that a version does not change while this repository is open. */
  const known = new Map<string, Artifact>();
  const artifactOf = async (path: string, tag: string): Promise<Artifact | undefined> => {
    const artifact = known.get(`${path}:${tag}`) ?? (await store.artifact(path, tag));
    if (artifact) known.set(`${path}:${tag}`, artifact);
    return artifact;
  };
  return {
    name,
    context,
    async find(component, version) {
      const path = pathOf(component);
      const artifact = await artifactOf(path, tagOf(version));
      if (!artifact) return undefined;
      const what = `the component descriptor of ${component}:${version}`;
      const text = await descriptorIn(store, path, artifact, what);
      const { component: found, bytes } = await runner.readDescriptor({ source: { text }, what });
      if (found.name !== component || found.version !== version) {
        throw new ContentInvalid(`${what} describes ${nameOf(found)}`);
      }
      return { component: inRepository(found, context), bytes, repository: this };
    },
    async localBlob(component, reference) {
      const path = pathOf(component.name);
      // Only blobs that the version's manifest references; other blobs of the registry do not belong to it.
      const artifact = await artifactOf(path, tagOf(component.version));
      const layer = artifact?.layers.find(({ digest }) => digest === reference);
      if (!layer) throw new BlobMissing(`component ${nameOf(component)} in ${name} has no blob ${reference}`);
      return { bytes: await store.blob(path, layer), mediaType: layer.mediaType };
    },
    relativeArtifact: (reference) => relativeArtifact(place, reference),
  };
}

async function relativeArtifact({ store, prefix }: OciPlace, reference: string): Promise<Content> {
  const [path = '', digest] = reference.split('@');
  const tag = digest ?? /:([^:/]+)$/.exec(path)?.[1] ?? 'latest';
  const name = path.replace(/:[^:/]+$/, '');
  return artifactContent(store, prefix === '' ? name : `${prefix}/${name}`, tag);
}

/** All layers of an artifact. @throws ContentInvalid if it does not exist */
export async function artifactContent(
  store: ArtifactStore,
  repository: string,
  reference: string,
): Promise<Content> {
  const artifact = await store.artifact(repository, reference);
  if (!artifact) {
    throw new ContentInvalid(
      `${store.name} has no ${repository}${isDigest(reference) ? '@' : ':'}${reference}`,
    );
  }
  const layers = [];
  let size = 0;
  for (const layer of artifact.layers) {
    const bytes = await store.blob(repository, layer);
    size += bytes.length;
    if (size > MAX_ARTIFACT_BYTES) {
      throw new ContentInvalid(
        `${repository} in ${store.name} has layers of more than ${String(MAX_ARTIFACT_BYTES)} bytes together`,
      );
    }
    layers.push({ mediaType: layer.mediaType, bytes });
  }
  return { kind: 'artifact', digest: artifact.digest, layers };
}

/** The configuration references the layer; in older artifacts, its media type identifies it. */
async function descriptorIn(
  store: ArtifactStore,
  path: string,
  artifact: Artifact,
  what: string,
): Promise<string> {
  const { config, layers } = artifact;
  const isTyped = ({ mediaType }: BlobRef): boolean => /component-?descriptor/i.test(mediaType);
  let named: unknown;
  if (config.mediaType.includes('component')) {
    const document = parseDocument(await store.blob(path, config), `the configuration of ${what}`);
    named = ownField(ownField(document, 'componentDescriptorLayer'), 'digest');
  }
  const layer = layers.find(({ digest }) => digest === named) ?? layers.find(isTyped);
  if (!layer)
    throw new ContentInvalid(`${what} is missing: none of the ${String(layers.length)} layers contains it`);
  const bytes = await store.blob(path, layer);
  return textOf(layer.mediaType.includes('tar') ? await fileIn(bytes, what) : bytes, what);
}

async function fileIn(archive: Uint8Array, what: string): Promise<Uint8Array> {
  try {
    for (const { path, content } of readTar(await unpacked(archive, MAX_DESCRIPTOR_BYTES))) {
      if (path.replace(/^\.\//, '') === DESCRIPTOR_FILE) return content;
    }
  } catch (cause) {
    if (!(cause instanceof TarError || cause instanceof UnpackError)) throw cause;
    throw new ContentInvalid(`${what} cannot be unpacked: ${cause.message}`, { cause });
  }
  throw new ContentInvalid(`${what} is missing: its layer has no file ${DESCRIPTOR_FILE}`);
}

function textOf(bytes: Uint8Array, what: string): string {
  if (bytes.length > MAX_DESCRIPTOR_BYTES) {
    throw new ContentTooLarge(`${what} has more than ${sizeText(MAX_DESCRIPTOR_BYTES)}`);
  }
  return Buffer.from(bytes).toString('utf8');
}
