/** The common transport format: a folder, or an archive of a folder, with an index of artifacts and their blobs. */
import { z } from 'zod';
import { FileTreeError, fileTreeOf } from '../lib/file-tree.ts';
import { UnpackError, unpacked } from '../lib/gzip.ts';
import { readTar, TarError } from '../lib/tar.ts';
import { parseManifest, type ArtifactStore } from './artifact.ts';
import { verifyDigest } from './digest.ts';
import { parseDocument } from './document.ts';
import { BlobMissing, ContentInvalid } from './errors.ts';
import { filesInMemory, type Files } from './files.ts';

export const CTF_INDEX = 'artifact-index.json';
const MAX_ARCHIVE_BYTES = 256 * 2 ** 20;

const index = z.looseObject({
  schemaVersion: z.literal(1),
  artifacts: z
    .array(z.looseObject({ repository: z.string(), tag: z.string().optional(), digest: z.string() }))
    .nullish()
    .transform((artifacts) => artifacts ?? []),
});
export interface CtfEntry {
  readonly repository: string;
  readonly tag?: string | undefined;
  readonly digest: string;
}

/** Path of a blob. */
export const blobPath = (digest: string): string => `blobs/${digest.replace(':', '.')}`;

/** @throws ContentInvalid */
export async function readIndex(files: Files, name: string): Promise<readonly CtfEntry[]> {
  const bytes = await files.read(CTF_INDEX);
  if (!bytes) throw new ContentInvalid(`${name} is not a transport archive: it has no file ${CTF_INDEX}`);
  const result = index.safeParse(parseDocument(bytes, `${CTF_INDEX} of ${name}`));
  if (!result.success) throw new ContentInvalid(`${CTF_INDEX} of ${name} is not valid`);
  return result.data.artifacts;
}

export function ctfStore(files: Files, name: string): ArtifactStore {
  const blob = async (digest: string): Promise<Uint8Array> => {
    const bytes = await files.read(blobPath(digest));
    if (!bytes) throw new BlobMissing(`${name} has no blob ${digest}`);
    verifyDigest(bytes, digest, `blob ${digest} in ${name}`);
    return bytes;
  };
  return {
    name,
    async artifact(repository, reference) {
      const entries = (await readIndex(files, name)).filter((entry) => entry.repository === repository);
      const entry = entries.find(({ tag, digest }) => tag === reference || digest === reference);
      return entry && parseManifest(await blob(entry.digest), `${repository}:${reference} in ${name}`);
    },
    blob: (_repository, { digest }) => blob(digest),
  };
}

/**
 * The files of an archive file, compressed or not.
 * @throws ContentInvalid
 */
export async function filesOfArchive(bytes: Uint8Array, name: string): Promise<Files> {
  try {
    const files = new Map<string, Uint8Array>();
    for (const { path, type, content } of readTar(await unpacked(bytes, MAX_ARCHIVE_BYTES))) {
      if (type === 'file') files.set(path.replace(/^\.?\/+/, ''), content);
    }
    return filesInMemory(fileTreeOf(files));
  } catch (cause) {
    if (!(cause instanceof TarError || cause instanceof UnpackError || cause instanceof FileTreeError)) {
      throw cause;
    }
    throw new ContentInvalid(`${name} is not a valid archive: ${cause.message}`, { cause });
  }
}
