/** Packs component versions as artifacts into transport archives, and pushes these to registries. */
import { goJson } from '../lib/gojson.ts';
import { packed } from '../lib/gzip.ts';
import { writeTar } from '../lib/tar.ts';
import { toYaml } from '../lib/yaml.ts';
import { buildArtifact, mediaTypes, type NewArtifact, type NewBlob } from './artifact.ts';
import type { PackedComponent } from './component-file.ts';
import { blobPath, CTF_INDEX, ctfStore, readIndex, type CtfEntry } from './ctf.ts';
import { descriptorOf, type Component, type JsonMap } from './descriptor.ts';
import { sha256 } from './digest.ts';
import { ContentInvalid } from './errors.ts';
import type { Files } from './files.ts';
import { componentsIn, ociRepository, repositoryPathOf, tagOf } from './oci-repository.ts';
import type { Registry } from './registry.ts';

export function componentArtifact({ component, layers }: PackedComponent): NewArtifact {
  const descriptor: NewBlob = {
    mediaType: mediaTypes.descriptorTar,
    content: writeTar([
      ['component-descriptor.yaml', Buffer.from(toYaml(descriptorOf(component, component.schemaVersion)))],
    ]),
  };
  const layer = {
    mediaType: descriptor.mediaType,
    digest: sha256(descriptor.content),
    size: descriptor.content.length,
  };
  const config: NewBlob = {
    mediaType: mediaTypes.componentConfig,
    content: Buffer.from(goJson({ componentDescriptorLayer: layer })),
  };
  return buildArtifact(config, [descriptor, ...layers]);
}

const PLACE = { prefix: '', mapping: 'urlPath' } as const;

export interface CtfContent {
  readonly entries: readonly CtfEntry[];
  /** Keyed by path in the archive, without the index. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}
export const emptyCtf: CtfContent = { entries: [], blobs: new Map() };

/** @throws ContentInvalid if the files are not a transport archive */
export async function readCtf(files: Files, name: string): Promise<CtfContent> {
  const entries = await readIndex(files, name);
  const blobs = new Map<string, Uint8Array>();
  for (const { name: file } of (await files.list('blobs')) ?? []) {
    const content = await files.read(`blobs/${file}`);
    if (content) blobs.set(`blobs/${file}`, content);
  }
  return { entries, blobs };
}

/**
 * Adds a component version.
 * @throws ContentInvalid if the version exists with different content and must not be replaced
 */
export function withComponent(ctf: CtfContent, component: PackedComponent, mayReplace: boolean): CtfContent {
  const artifact = componentArtifact(component);
  const { name, version } = component.component;
  const entry = { repository: repositoryPathOf(PLACE, name), tag: tagOf(version), digest: artifact.digest };
  const isSame = (one: CtfEntry): boolean => one.repository === entry.repository && one.tag === entry.tag;
  const before = ctf.entries.find(isSame);
  if (before && before.digest !== entry.digest && !mayReplace) {
    throw new ContentInvalid(
      `component ${name}:${version} is already in the archive with different content; increase the version, or replace it with --force`,
    );
  }
  const blobs = new Map([
    ...ctf.blobs,
    [blobPath(artifact.digest), artifact.manifest] as const,
    ...[...artifact.blobs].map(([digest, content]) => [blobPath(digest), content] as const),
  ]);
  return { entries: [...ctf.entries.filter((one) => !isSame(one)), entry], blobs };
}

/** All files of the archive, keyed by path. */
export const ctfFiles = ({ entries, blobs }: CtfContent): ReadonlyMap<string, Uint8Array> =>
  new Map([
    [CTF_INDEX, Buffer.from(`${JSON.stringify({ schemaVersion: 1, artifacts: entries })}\n`)],
    ...[...blobs].sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);

/** The archive as one file. */
export function ctfArchive(ctf: CtfContent, format: 'tar' | 'tgz'): Uint8Array {
  const tar = writeTar(ctfFiles(ctf));
  return format === 'tgz' ? packed(tar) : tar;
}

/**
 * Stores every component version of an archive in a registry, and adds the registry to each descriptor.
 * @param context repository context of the registry
 * @returns the versions, in the order of the archive
 */
export async function pushAll(
  files: Files,
  name: string,
  to: { readonly registry: Registry; readonly prefix: string; readonly context: JsonMap },
): Promise<readonly Component[]> {
  const store = ctfStore(files, name);
  const repository = ociRepository({ ...PLACE, store, context: {}, name });
  const pushed: Component[] = [];
  for (const { name: component, version, tag } of componentsIn(await readIndex(files, name))) {
    const found = await repository.find(component, version);
    const path = repositoryPathOf(PLACE, component);
    const artifact = await store.artifact(path, tag);
    if (!found || !artifact)
      throw new ContentInvalid(`${name} has no ${path}:${tag}, although its index lists it`);
    const known = found.component.repositoryContexts.filter((one) => Object.keys(one).length > 0);
    const moved: Component = { ...found.component, repositoryContexts: [...known, to.context] };
    const layers: NewBlob[] = [];
    for (const layer of artifact.layers) {
      if (/component-?descriptor/i.test(layer.mediaType)) continue;
      layers.push({ mediaType: layer.mediaType, content: await store.blob(path, layer) });
    }
    const target = repositoryPathOf({ prefix: to.prefix, mapping: 'urlPath' }, component);
    await to.registry.push(target, tag, componentArtifact({ component: moved, layers }));
    pushed.push(moved);
  }
  return pushed;
}
