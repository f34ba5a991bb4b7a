/** `component.yaml`: the user's description of a folder that is packed as a component version. */
import { table } from '../lib/objects.ts';
import { z } from 'zod';
import { parseYaml, YamlError } from '../lib/yaml.ts';
import { writeTar } from '../lib/tar.ts';
import { packed } from '../lib/gzip.ts';
import { mediaTypes, type NewBlob } from './artifact.ts';
import { readDescriptor, V2, type Component } from './descriptor.ts';
import { sha256 } from './digest.ts';
import { ContentInvalid, DescriptorInvalid } from './errors.ts';
import { stringsOf } from './go-strings.ts';
import { filesBelow, type Files } from './files.ts';
import { trimmedEnd } from '../lib/trim.ts';

export const COMPONENT_FILE = 'component.yaml';
/** Packed as the resource `blueprint` even if it is not listed. */
const BLUEPRINT_FOLDER = 'blueprint';

const label = z.looseObject({ name: z.string().describe('Name of the label.') }).meta({ isOpen: true });
const labels = z.array(label).optional().describe('Labels: name, value and more.');
const extraIdentity = z
  .record(z.string(), z.string())
  .optional()
  .describe('Distinguishes entries of the same name.');

const resource = z.strictObject({
  name: z.string().min(1).describe('Name of the resource.'),
  version: z.string().optional().describe('Version of the resource. Default: that of the component.'),
  type: z
    .string()
    .min(1)
    .describe('Type of the resource: blueprint, jsonschema, helmChart, ociImage or any other.'),
  extraIdentity,
  labels,
  path: z
    .string()
    .min(1)
    .optional()
    .describe('File or folder to pack, relative to this file. Exactly one of path, image and access.'),
  mediaType: z.string().optional().describe('Media type of the packed content.'),
  image: z.string().min(1).optional().describe('Reference of an image in a registry.'),
  access: z
    .looseObject({ type: z.string().describe('Kind of access, such as ociArtifact.') })
    .meta({ isOpen: true })
    .optional()
    .describe('Where the content is, as in a component descriptor.'),
});
export const componentFileSchema = z.strictObject({
  name: z.string().min(1).describe('Name of the component: "example.org/shop".'),
  version: z.string().min(1).describe('Version of the component: "1.2.3".'),
  provider: z.string().optional().describe('Provider of the component.'),
  labels,
  resources: z
    .array(resource)
    .nullish()
    .describe('Resources. The folder blueprint is packed without an entry.'),
  references: z
    .array(
      z.strictObject({
        name: z.string().min(1).describe('Name of the reference.'),
        componentName: z.string().min(1).describe('Name of the referenced component.'),
        version: z.string().min(1).describe('Version of the referenced component.'),
        extraIdentity,
        labels,
      }),
    )
    .nullish()
    .describe('References to other components.'),
});
type ResourceEntry = z.output<typeof resource>;

/** Short names for the common types. */
const TYPES: Readonly<Record<string, { readonly type: string; readonly mediaType: string }>> = table({
  blueprint: { type: 'landscaper.gardener.cloud/blueprint', mediaType: mediaTypes.blueprintTgz },
  jsonschema: { type: 'landscaper.gardener.cloud/jsonschema', mediaType: mediaTypes.jsonSchema },
});

export interface PackedComponent {
  readonly component: Component;
  readonly layers: readonly NewBlob[];
}

/** @throws ContentInvalid, DescriptorInvalid with a message about the error in the folder */
export async function packFolder(files: Files, folder: string): Promise<PackedComponent> {
  const bytes = await files.read(COMPONENT_FILE);
  if (!bytes) throw new ContentInvalid(`folder ${folder} has no file ${COMPONENT_FILE}`);
  const { resources, references, provider, ...rest } = parse(Buffer.from(bytes).toString('utf8'), folder);
  const listed = resources ?? [];
  const isBlueprintListed = listed.some(
    ({ path }) => trimmedEnd(path ?? '', '/').replace(/^\.?\/+/, '') === BLUEPRINT_FOLDER,
  );
  const hasBlueprint = !isBlueprintListed && (await files.list(BLUEPRINT_FOLDER)) !== undefined;
  const all: readonly ResourceEntry[] = hasBlueprint
    ? [{ name: 'blueprint', type: 'blueprint', path: BLUEPRINT_FOLDER }, ...listed]
    : listed;
  const layers: NewBlob[] = [];
  const documents: object[] = [];
  for (const entry of all) {
    const blob = entry.path === undefined ? undefined : await blobOf(entry, entry.path, files);
    if (blob) layers.push(blob);
    documents.push(resourceOf(entry, blob, rest.version));
  }
  const component = readDescriptor(
    {
      meta: { schemaVersion: V2 },
      component: {
        ...rest,
        provider: provider ?? 'unknown',
        repositoryContexts: [],
        sources: [],
        componentReferences: references ?? [],
        resources: documents,
      },
    },
    `${COMPONENT_FILE} in ${folder}`,
  );
  return { component, layers };
}

function parse(text: string, folder: string): z.output<typeof componentFileSchema> {
  let document: unknown;
  try {
    document = parseYaml(text, { strings: stringsOf(componentFileSchema) });
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause;
    throw new DescriptorInvalid(`${COMPONENT_FILE} in ${folder} is not valid YAML: ${cause.message}`, {
      cause,
    });
  }
  const result = componentFileSchema.safeParse(document);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new DescriptorInvalid(
    `${COMPONENT_FILE} in ${folder}: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'is wrong'}`,
  );
}

function resourceOf(entry: ResourceEntry, blob: NewBlob | undefined, version: string): object {
  const { path: _, image, access, mediaType: __, type, ...rest } = entry;
  const common = { version, ...rest, type: TYPES[type]?.type ?? type };
  if (blob) {
    const digest = sha256(blob.content);
    return {
      ...common,
      relation: 'local',
      access: { type: 'localBlob', localReference: digest, mediaType: blob.mediaType },
      digest: {
        hashAlgorithm: 'SHA-256',
        normalisationAlgorithm: 'genericBlobDigest/v1',
        value: digest.slice('sha256:'.length),
      },
    };
  }
  if (image !== undefined) {
    return { ...common, relation: 'external', access: { type: 'ociArtifact', imageReference: image } };
  }
  if (access) return { ...common, relation: 'external', access };
  throw new DescriptorInvalid(
    `resource ${entry.name} has no content: give it a path in the folder, an image, or an access`,
  );
}

/** Packs a folder as a compressed archive; a file is stored unchanged. */
async function blobOf(entry: ResourceEntry, path: string, files: Files): Promise<NewBlob> {
  const known = TYPES[entry.type]?.mediaType;
  const file = await files.read(path);
  if (file) {
    return { content: file, mediaType: entry.mediaType ?? known ?? 'application/octet-stream' };
  }
  if (!(await files.list(path))) {
    throw new ContentInvalid(
      `resource ${entry.name}: there is no file or folder ${path} in the folder of the component`,
    );
  }
  const content = packed(writeTar(await filesBelow(files, path)));
  return { content, mediaType: entry.mediaType ?? known ?? 'application/x-tgz' };
}
