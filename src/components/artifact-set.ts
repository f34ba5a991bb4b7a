/** Artifacts packed as one blob: a tar archive with an index, a manifest, and the blobs of the manifest. */
import { z } from 'zod';
import { parseManifest, type BlobRef } from './artifact.ts';
import { blobPath, filesOfArchive } from './ctf.ts';
import { verifyDigest } from './digest.ts';
import { parseDocument } from './document.ts';
import { ContentInvalid } from './errors.ts';
import type { Files } from './files.ts';

/** Annotation with the digest of the main artifact. */
const MAIN_ARTIFACT = 'software.ocm/main';

const index = z.looseObject({
  manifests: z.array(z.looseObject({ digest: z.string() })).min(1),
  annotations: z.record(z.string(), z.string()).nullish(),
});

/**
 * The digest of the artifact; verifies the digests of all its blobs.
 * @throws ContentInvalid if the blob is not such an archive, or damaged
 */
export async function artifactDigest(blob: Uint8Array, what: string): Promise<string> {
  const files = await filesOfArchive(blob, what);
  const document = (await files.read('artifact-descriptor.json')) ?? (await files.read('index.json'));
  const found = document && index.safeParse(jsonOrNothing(document)).data;
  if (!found)
    throw new ContentInvalid(`${what} has the digest of an artifact, but is not an artifact archive`);
  const digest = found.annotations?.[MAIN_ARTIFACT] ?? (found.manifests[0] as { digest: string }).digest;
  if (!found.manifests.some((one) => one.digest === digest)) {
    throw new ContentInvalid(`${what}: the archive names ${digest} as its artifact, which is not in it`);
  }
  const { config, layers } = parseManifest(await checkedBlob(files, digest, what), what);
  for (const part of [config, ...layers] satisfies BlobRef[]) await checkedBlob(files, part.digest, what);
  return digest;
}

async function checkedBlob(files: Files, digest: string, what: string): Promise<Uint8Array> {
  const bytes =
    (await files.read(blobPath(digest))) ?? (await files.read(`blobs/${digest.replace(':', '/')}`));
  if (!bytes) throw new ContentInvalid(`${what}: the archive has no blob ${digest.slice(0, 200)}`);
  verifyDigest(bytes, digest, `blob ${digest} in ${what}`);
  return bytes;
}

function jsonOrNothing(bytes: Uint8Array): unknown {
  try {
    return parseDocument(bytes, 'the index');
  } catch {
    return undefined;
  }
}
