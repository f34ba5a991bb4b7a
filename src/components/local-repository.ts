/**
 * Components as plain files: descriptors in one folder, blobs in another. For the repository types `local` and
 * `inline`.
 */
import { writeTar } from '../lib/tar.ts';
import { parseYaml, YamlError } from '../lib/yaml.ts';
import { nameOf, readDescriptor, type Component, type JsonMap } from './descriptor.ts';
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
}

export function localRepository(place: LocalPlace): Repository {
  const { name, context, descriptors, descriptorFolder, blobs, blobFolder } = place;
  return {
    name,
    context,
    async find(component, version) {
      const entries = await descriptors.list(descriptorFolder);
      if (!entries)
        throw new ContentInvalid(`${name} cannot be read: there is no folder "${descriptorFolder}"`);
      for (const entry of entries.filter(({ isDirectory }) => !isDirectory)) {
        const bytes = await descriptors.read(`${descriptorFolder}/${entry.name}`);
        const found =
          bytes && descriptorFrom(bytes, `file ${entry.name} of ${name}`, { name: component, version });
        if (found) return { component: inRepository(found, context), repository: this };
      }
      return undefined;
    },
    async localBlob(component, reference) {
      const path = `${blobFolder}/${reference}`;
      const bytes = await blobs.read(path);
      if (bytes) return bytes;
      if (await blobs.list(path)) return writeTar(await filesBelow(blobs, path));
      throw new BlobMissing(`component ${nameOf(component)} in ${name} has no blob "${reference}"`);
    },
  };
}

/** A file without the wanted name is skipped, even if it is invalid. */
function descriptorFrom(
  bytes: Uint8Array,
  what: string,
  wanted: { readonly name: string; readonly version: string },
): Component | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  if (!text.includes(wanted.name)) return undefined;
  try {
    const found = readDescriptor(parseYaml(text), what);
    return found.name === wanted.name && found.version === wanted.version ? found : undefined;
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    throw new ContentInvalid(`${what} is not valid YAML: ${cause.message}`, { cause });
  }
}
