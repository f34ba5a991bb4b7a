/** Fetches blueprint and component of an item with the mounted credentials, and writes them to files. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { blueprintArchives, unpackBlueprint } from '../../../src/blueprint/resources.ts';
import { Credentials, dockerCredentials } from '../../../src/components/credentials.ts';
import { ReferenceInvalid } from '../../../src/components/errors.ts';
import { readResolvers } from '../../../src/components/resolvers.ts';
import type { Request, ComponentRepositories } from '../../../src/components/component-repositories.ts';
import { withContents, type ComponentView } from '../../../src/components/view.ts';
import { inlineFileTree, type FileTree } from '../../../src/lib/file-tree.ts';
import type { ContainerConfig } from '../config.ts';
import { keys } from '../contract.ts';
import type { Environment } from './environment.ts';

/**
 * Writes the files of the blueprint, and the list of all component descriptors.
 * @throws ComponentProblem; errors of the file system
 */
export async function writeContent(
  { blueprint, componentDescriptor }: ContainerConfig,
  environment: Environment,
  repositories: ComponentRepositories,
): Promise<void> {
  const view = await componentOf(componentDescriptor, environment, repositories);
  if (view) {
    const list = { meta: { schemaVersion: 'v2' }, components: view.descriptors('v2') };
    await writeFile(environment.componentDescriptor, JSON.stringify(list));
  }
  if (blueprint?.inline) await writeTree(inlineFileTree(blueprint.inline.filesystem), environment.content);
  const { ref } = blueprint ?? {};
  if (!ref) return;
  if (!view) {
    throw new ReferenceInvalid(
      `blueprint.ref names the resource ${ref.resourceName} of a component, but the configuration has no componentDescriptor`,
    );
  }
  const place = view.resolve({ path: [], resource: { name: ref.resourceName } });
  const archives = await withContents(view, () => blueprintArchives(view, place));
  await writeTree(await unpackBlueprint(archives, place), environment.content);
}

async function componentOf(
  source: ContainerConfig['componentDescriptor'],
  environment: Environment,
  repositories: ComponentRepositories,
): Promise<ComponentView | undefined> {
  if (!source?.inline && !source?.ref) return undefined;
  const request: Request = {
    credentials: await mountedCredentials(environment.registrySecrets),
    resolvers: await mountedResolvers(environment.ocmConfiguration),
    overwrites: [],
    namespace: undefined,
  };
  if (source.inline) {
    const own = await repositories.inline(source.inline, undefined, request);
    return repositories.view({ kind: 'inline', document: source.inline }, own, undefined, request);
  }
  const { componentName, version, repositoryContext } = source.ref ?? { componentName: '', version: '' };
  const reference = { componentName, version, ...(repositoryContext && { repositoryContext }) };
  const found = await repositories.find(reference, request);
  const origin = { kind: 'ref', original: reference, effective: reference } as const;
  return repositories.view(origin, found, repositoryContext ?? undefined, request);
}

/** One folder for each secret. A missing folder is not an error. */
async function mountedCredentials(folder: string): Promise<Credentials> {
  const parts: Credentials[] = [];
  for (const name of await readdir(folder).catch(missing<string[]>([]))) {
    const file = join(folder, name, keys.docker);
    const text = await readFile(file, 'utf8').catch(missing<string | undefined>(undefined));
    if (text !== undefined) parts.push(dockerCredentials(text, file));
  }
  return Credentials.all(parts);
}

async function mountedResolvers(file: string): Promise<Request['resolvers']> {
  const text = await readFile(file, 'utf8').catch(missing<string | undefined>(undefined));
  return text === undefined ? [] : readResolvers(text, file);
}

const missing =
  <T>(instead: T) =>
  (error: unknown): T => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return instead;
    throw error;
  };

/** File names come from the user; they must not lead out of the folder. */
async function writeTree(tree: FileTree, folder: string, below = ''): Promise<void> {
  for (const { name, isDirectory } of tree.list(below) ?? []) {
    if (name === '..' || name === '.' || name.includes('/')) {
      throw new ReferenceInvalid(`the blueprint has a file called "${name}", which is not a valid file name`);
    }
    const path = below === '' ? name : `${below}/${name}`;
    const place = join(folder, path);
    if (isDirectory) {
      await mkdir(place, { recursive: true });
      await writeTree(tree, folder, path);
    } else {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, tree.read(path) ?? new Uint8Array());
    }
  }
}
