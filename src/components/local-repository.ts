/**
 * Components as plain files: descriptors in one folder, blobs in another. For the repository types `local` and
 * `inline`.
 */
import { writeTar } from '../lib/tar.ts';
import { nameOf, type JsonMap } from './descriptor.ts';
import { descriptorsHere, type DescriptorRunner, type SizedComponent } from './descriptor-work.ts';
import { BlobMissing, ContentInvalid } from './errors.ts';
import { filesBelow, type Files } from './files.ts';
import { inRepository, type Repository } from './repository.ts';

interface LocalPlace {
  readonly descriptors: Files;
  readonly descriptorFolder: string;
  readonly blobs: Files;
  readonly blobFolder: string;
  readonly context: JsonMap;
  /** For messages. */
  readonly name: string;
  /** Default: in this thread. */
  readonly runner?: DescriptorRunner | undefined;
}

/** Each lookup of a component searches all files. */
const MAX_FILES = 10_000;

export function localRepository(place: LocalPlace): Repository {
  const { name, context, descriptors, descriptorFolder, blobs, blobFolder } = place;
  const { runner = descriptorsHere } = place;
  let listing: Promise<readonly string[]> | undefined;
  const read = new Map<string, Promise<SizedComponent>>();
  /** A file without the wanted name is skipped, even if it is invalid. */
  const descriptorIn = async (file: string, wanted: string): Promise<SizedComponent | undefined> => {
    const bytes = await descriptors.read(`${descriptorFolder}/${file}`);
    const text = Buffer.from(bytes ?? []).toString('utf8');
    if (!text.includes(wanted)) return undefined;
    const reading =
      read.get(file) ?? runner.readDescriptor({ source: { text }, what: `file ${file} of ${name}` });
    read.set(file, reading);
    return reading;
  };
  return {
    name,
    context,
    async find(component, version) {
      listing ??= filesIn(place);
      for (const file of await listing) {
        const found = await descriptorIn(file, component);
        if (found?.component.name !== component || found.component.version !== version) continue;
        return { ...found, component: inRepository(found.component, context), repository: this };
      }
      return undefined;
    },
    async localBlob(component, reference) {
      const path = `${blobFolder}/${reference}`;
      const bytes = await blobs.read(path);
      if (bytes) return { bytes };
      if (await blobs.list(path)) return { bytes: writeTar(await filesBelow(blobs, path)) };
      throw new BlobMissing(`component ${nameOf(component)} in ${name} has no blob "${reference}"`);
    },
  };
}

/** @throws ContentInvalid */
async function filesIn({ name, descriptors, descriptorFolder }: LocalPlace): Promise<readonly string[]> {
  const entries = await descriptors.list(descriptorFolder);
  if (!entries) throw new ContentInvalid(`${name} cannot be read: there is no folder "${descriptorFolder}"`);
  const files = entries.filter(({ isDirectory }) => !isDirectory);
  if (files.length <= MAX_FILES) return files.map((file) => file.name);
  throw new ContentInvalid(
    `${name} cannot be read: the folder "${descriptorFolder}" has more than ${String(MAX_FILES)} files; this limit is fixed`,
  );
}
