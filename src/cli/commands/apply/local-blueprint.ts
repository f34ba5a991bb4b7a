/** Puts the blueprint of a local folder into an installation: inline, or as a component if it is too large for that. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { BLUEPRINT_FILE } from '../../../api/blueprint.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { annotations } from '../../../api/labels.ts';
import { packFolder, type PackedComponent } from '../../../components/component-file.ts';
import { sha256 } from '../../../components/digest.ts';
import { filesInMemory } from '../../../components/files.ts';
import { fileTreeOf, inlineFilesystemOf } from '../../../lib/file-tree.ts';
import { goJson } from '../../../lib/gojson.ts';
import { without } from '../../../lib/objects.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { nameOf } from '../../files.ts';
import { STDIN } from '../blueprints/sources.ts';
import { selfCommand } from '../../self-command.ts';

/** The folder beside a file that has the blueprint of its installations by default. */
export const BLUEPRINT_FOLDER = 'blueprint';

/**
 * Maximum size of an installation with its blueprint, in bytes of JSON. etcd accepts 1.5 MiB; the rest is for the
 * status and the managed fields.
 */
export const MAX_INLINE_BYTES = 2 ** 20;

/** Contents by path. */
type BlueprintFiles = ReadonlyMap<string, Uint8Array>;

/** Whether the blueprint of an installation has to come from a folder. */
export const needsBlueprint = ({ spec }: Installation): boolean =>
  (spec as Partial<Installation['spec']>).blueprint === undefined;

/**
 * The folder with the blueprint of an installation: the annotation names it, otherwise it is the folder `blueprint`
 * beside the file. @throws UsageError if there is none
 */
export function blueprintFolderFor(file: string, { metadata }: Installation): string {
  const named = metadata.annotations?.[annotations.blueprintFolder];
  const beside = file === STDIN ? '.' : dirname(file);
  if (named === undefined && file === STDIN)
    throw new UsageError(
      `it has no spec.blueprint; from standard input, name the folder of the blueprint with the annotation ${annotations.blueprintFolder}`,
    );
  const folder = join(beside, named ?? BLUEPRINT_FOLDER);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder)
    throw new UsageError(
      named === undefined
        ? `it has no spec.blueprint, and there is no folder ${BLUEPRINT_FOLDER} beside ${nameOf(file)}; create ${folder}/${BLUEPRINT_FILE}, or name another folder with the annotation ${annotations.blueprintFolder}`
        : `there is no folder ${folder}, which the annotation ${annotations.blueprintFolder} names`,
    );
  if (!existsSync(join(folder, BLUEPRINT_FILE)))
    throw new UsageError(`the folder ${folder} is not a blueprint: it has no file ${BLUEPRINT_FILE}`);
  // A name such as . or .. is not readable in messages.
  return named !== undefined && /(^|\/)\.{1,2}\/?$/.test(named) ? resolve(folder) : folder;
}

/** The installation with the files as its inline blueprint. */
export const withInlineBlueprint = (installation: Installation, files: BlueprintFiles): Installation => ({
  ...withoutFolderAnnotation(installation),
  spec: { ...installation.spec, blueprint: { inline: { filesystem: inlineFilesystemOf(files) } } },
});

export const sizeOf = (object: object): number => Buffer.byteLength(JSON.stringify(object));

/** The annotation is for this command only. */
export function withoutFolderAnnotation(installation: Installation): Installation {
  const { metadata } = installation;
  if (metadata.annotations?.[annotations.blueprintFolder] === undefined) return installation;
  const others = without(metadata.annotations, annotations.blueprintFolder);
  const hasOthers = Object.keys(others).length > 0;
  const bare = without(metadata, 'annotations');
  return { ...installation, metadata: hasOthers ? { ...bare, annotations: others } : bare };
}

/** Components of local blueprints; no organization releases them. */
const COMPONENT_DOMAIN = 'blueprints.espalier.dev';
const COMPONENT_HASH_LENGTH = 16;

/**
 * The blueprint as a component whose version is a digest of its content, and the installation that refers to it.
 * @param repository address of the registry
 * @throws CommandError if the installation has another component
 */
export async function asComponent(
  installation: Installation,
  files: BlueprintFiles,
  repository: string,
): Promise<{ readonly installation: Installation; readonly component: PackedComponent }> {
  if (installation.spec.componentDescriptor !== undefined)
    throw new CommandError(
      `its blueprint is too large to be inlined, and it already refers to a component; pack the blueprint into that component with: ${selfCommand()} components pack`,
    );
  const name = `${COMPONENT_DOMAIN}/${installation.metadata.name}`;
  const content = [...files].map(([path, bytes]) => [path, sha256(bytes)]);
  const hash = sha256(Buffer.from(goJson(content))).slice('sha256:'.length);
  const version = `0.0.0-h${hash.slice(0, COMPONENT_HASH_LENGTH)}`;
  const folder = new Map<string, Uint8Array>([
    ['component.yaml', Buffer.from(JSON.stringify({ name, version, provider: COMPONENT_DOMAIN }))],
    ...[...files].map(([path, bytes]) => [`${BLUEPRINT_FOLDER}/${path}`, bytes] as const),
  ]);
  const component = await packFolder(filesInMemory(fileTreeOf(folder)), BLUEPRINT_FOLDER);
  const bare = withoutFolderAnnotation(installation);
  const repositoryContext = { type: 'OCIRegistry', baseUrl: repository };
  return {
    component,
    installation: {
      ...bare,
      spec: {
        ...bare.spec,
        componentDescriptor: { ref: { repositoryContext, componentName: name, version } },
        blueprint: { ref: { resourceName: BLUEPRINT_FOLDER } },
      },
    },
  };
}
