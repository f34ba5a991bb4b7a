/** What blueprints use from components: other blueprints, and JSON schemas. */
import { parseBoundedJson } from '../lib/json-bounds.ts';
import { unpackedSmall } from '../lib/gzip.ts';
import type { FileTree } from '../lib/file-tree.ts';
import { unpackArchives } from '../components/archive.ts';
import { nameOf } from '../components/descriptor.ts';
import { ContentInvalid, ReferenceInvalid } from '../components/errors.ts';
import type { ComponentView, ResourcePlace } from '../components/view.ts';

const BLUEPRINT_TYPES = ['landscaper.gardener.cloud/blueprint', 'blueprint'];
const BLUEPRINT_CONFIG = 'application/vnd.gardener.landscaper.blueprint.config.v1';
const BLUEPRINT_MEDIA_TYPES = [
  'application/x-tar',
  'application/gzip',
  'application/x-gzip',
  'application/x-tgz',
  'application/x-tar+gzip',
  'application/tar',
  'application/tar+gzip',
  'application/vnd.oci.image.layer.v1.tar',
  'application/vnd.oci.image.layer.v1.tar+gzip',
  'application/vnd.docker.image.rootfs.diff.tar.gzip',
  ...['layer.v1.tar', 'v1+tar'].flatMap((form) => {
    const type = `application/vnd.gardener.landscaper.blueprint.${form}`;
    return [type, `${type}+gzip`];
  }),
];
const SCHEMA_TYPE = 'landscaper.gardener.cloud/jsonschema';
const MAX_SCHEMA_BYTES = 2 ** 20;

/** @throws ReferenceInvalid, ContentInvalid; ContentNeeded */
export function blueprintArchives(view: ComponentView, place: ResourcePlace): readonly Uint8Array[] {
  const { resource } = place;
  if (!BLUEPRINT_TYPES.includes(resource.type)) {
    throw new ReferenceInvalid(
      `no handler found for resource type ${resource.type}; a blueprint has the type ${String(BLUEPRINT_TYPES[0])}`,
    );
  }
  const content = view.content(place);
  const layers = content.kind === 'blob' ? [content] : content.layers;
  const isKnown = (mediaType: string): boolean =>
    BLUEPRINT_MEDIA_TYPES.includes(mediaType) || mediaType.startsWith(BLUEPRINT_CONFIG);
  const wrong = layers.find(({ mediaType }) => !isKnown(mediaType));
  if (layers.length === 0 || wrong) {
    throw new ContentInvalid(
      `artifact does not match blueprint downloader (check config media type): ${wrong?.mediaType ?? 'it has no layers'}`,
    );
  }
  return layers.map(({ bytes }) => bytes);
}

/** Later layers win over earlier ones. @throws ContentInvalid */
export const unpackBlueprint = (archives: readonly Uint8Array[], place: ResourcePlace): Promise<FileTree> =>
  unpackArchives(archives, `blueprint ${place.resource.name} of component ${nameOf(place.owner.component)}`);

/** The parsed schema. @throws ReferenceInvalid, ContentInvalid; ContentNeeded */
export function schemaIn(view: ComponentView, place: ResourcePlace): unknown {
  const { resource, owner } = place;
  const what = `resource ${resource.name} of component ${nameOf(owner.component)}`;
  if (resource.type !== SCHEMA_TYPE) {
    throw new ReferenceInvalid(
      `${what} is not a JSON schema: its type is ${resource.type}, not ${SCHEMA_TYPE}`,
    );
  }
  const content = view.content(place);
  const [bytes] = content.kind === 'blob' ? [content.bytes] : content.layers.map((layer) => layer.bytes);
  if (!bytes) throw new ContentInvalid(`${what} is empty`);
  try {
    return parseBoundedJson(Buffer.from(unpackedSmall(bytes, MAX_SCHEMA_BYTES)).toString('utf8'));
  } catch (cause) {
    throw new ContentInvalid(`${what} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}
