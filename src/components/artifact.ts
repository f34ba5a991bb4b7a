/** Artifacts in registries and transport archives: a manifest that references a configuration and layers. */
import { z } from 'zod';
import { parseDocument } from './document.ts';
import { ContentInvalid } from './errors.ts';
import { sha256 } from './digest.ts';

const blobRef = z.looseObject({
  mediaType: z.string(),
  digest: z.string(),
  size: z.number().int().nonnegative(),
});
export type BlobRef = Readonly<z.output<typeof blobRef>>;

const manifest = z.looseObject({
  schemaVersion: z.literal(2),
  mediaType: z.string().optional(),
  config: blobRef,
  layers: z
    .array(blobRef)
    .nullish()
    .transform((layers) => layers ?? []),
});

export interface Artifact {
  readonly digest: string;
  readonly config: BlobRef;
  readonly layers: readonly BlobRef[];
}

/** A source of artifacts: a registry, or an archive. */
export interface ArtifactStore {
  /** For messages. */
  readonly name: string;
  /** @param reference a tag or digest; the result is undefined if the artifact does not exist */
  artifact(repository: string, reference: string): Promise<Artifact | undefined>;
  /** @throws ContentInvalid if the blob does not exist or does not match its digest */
  blob(repository: string, blob: Pick<BlobRef, 'digest'> & { readonly size?: number }): Promise<Uint8Array>;
}

export const mediaTypes = {
  ociManifest: 'application/vnd.oci.image.manifest.v1+json',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  ociIndex: 'application/vnd.oci.image.index.v1+json',
  componentConfig: 'application/vnd.ocm.software.component.config.v1+json',
  descriptorTar: 'application/vnd.ocm.software.component-descriptor.v2+yaml+tar',
  blueprintTgz: 'application/vnd.gardener.landscaper.blueprint.layer.v1.tar+gzip',
  jsonSchema: 'application/vnd.gardener.landscaper.jsonschema.layer.v1.json',
} as const;

/** @throws ContentInvalid */
export function parseManifest(bytes: Uint8Array, what: string): Artifact {
  const document = parseDocument(bytes, `the manifest of ${what}`);
  const result = manifest.safeParse(document);
  if (result.success) {
    const { config, layers } = result.data;
    return { digest: sha256(bytes), config, layers };
  }
  if (typeof document === 'object' && document !== null && 'manifests' in document) {
    throw new ContentInvalid(`${what} is an index of several artifacts; name one of them by its digest`);
  }
  throw new ContentInvalid(
    `the manifest of ${what} is not valid: ${result.error.issues[0]?.path.join('.') ?? ''}`,
  );
}

/** An artifact to store. */
export interface NewArtifact {
  readonly manifest: Uint8Array;
  readonly digest: string;
  /** Configuration and layers, keyed by digest. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

export interface NewBlob {
  readonly mediaType: string;
  readonly content: Uint8Array;
}

export function buildArtifact(config: NewBlob, layers: readonly NewBlob[]): NewArtifact {
  const refOf = ({ mediaType, content }: NewBlob): BlobRef => ({
    mediaType,
    digest: sha256(content),
    size: content.length,
  });
  const document = {
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    config: refOf(config),
    layers: layers.map(refOf),
  };
  const bytes = Buffer.from(JSON.stringify(document));
  const blobs = new Map([config, ...layers].map(({ content }) => [sha256(content), content]));
  return { manifest: bytes, digest: sha256(bytes), blobs };
}
