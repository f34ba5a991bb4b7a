/** Components without a registry: a folder to pack, a transport archive, or a descriptor. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ComponentDescriptorDefinition } from '../../../../api/kinds/installation.ts';
import { COMPONENT_FILE, packFolder } from '../../../../components/component-file.ts';
import { CTF_INDEX, ctfStore, readIndex } from '../../../../components/ctf.ts';
import {
  DESCRIPTOR_STRINGS,
  nameOf,
  readDescriptor,
  type JsonMap,
} from '../../../../components/descriptor.ts';
import { RepositoryUnusable } from '../../../../components/errors.ts';
import { filesInMemory, filesOnDisk, type Files } from '../../../../components/files.ts';
import { localRepository } from '../../../../components/local-repository.ts';
import { componentsIn, ociRepository } from '../../../../components/oci-repository.ts';
import { ctfFiles, emptyCtf, withComponent } from '../../../../components/pack.ts';
import type { FoundComponent, Repository } from '../../../../components/repository.ts';
import { findComponent, resolveAll, type Lookup } from '../../../../components/resolve.ts';
import { ComponentView, type ComponentSource } from '../../../../components/view.ts';
import { fileTreeOf } from '../../../../lib/file-tree.ts';
import type { View } from '../../../../lib/objects.ts';
import { parseYaml } from '../../../../lib/yaml.ts';
import { archiveAt, isFolder, MAX_FILE_BYTES } from '../../components/sources.ts';
import { UsageError } from '../../../errors.ts';

export interface LocalComponents {
  /** The component at the given path. */
  readonly own: ComponentView;
  /** The component of a sub-installation. @throws ComponentProblem if it is not in the same place */
  view(definition: View<ComponentDescriptorDefinition>): Promise<ComponentView | undefined>;
}

const DESCRIPTOR_FILE = 'component-descriptor.yaml';

/**
 * @param wanted name of the component version, for archives with several of them
 * @throws UsageError, ComponentProblem
 */
export async function localComponents(path: string, wanted: string | undefined): Promise<LocalComponents> {
  if (!existsSync(path)) throw new UsageError(`there is no file or folder ${path}`);
  if (!isFolder(path) && /\.(ya?ml|json)$/.test(path))
    return fromDescriptor(readFileSync(path), dirname(path));
  const files = await archiveAt(path);
  if (!isFolder(path)) return fromArchive(files, path, wanted);
  if (await files.read(COMPONENT_FILE)) {
    const packed = await packFolder(files, path);
    const archive = fileTreeOf(ctfFiles(withComponent(emptyCtf, packed, false)));
    return fromArchive(filesInMemory(archive), path, undefined);
  }
  if (await files.read(CTF_INDEX)) return fromArchive(files, path, wanted);
  const descriptor = await files.read(DESCRIPTOR_FILE);
  if (descriptor) return fromDescriptor(descriptor, path);
  throw new UsageError(
    `the folder ${path} is not a component: it has none of the files ${COMPONENT_FILE}, ${CTF_INDEX} and ${DESCRIPTOR_FILE}`,
  );
}

async function fromArchive(files: Files, path: string, wanted: string | undefined): Promise<LocalComponents> {
  const name = `component archive ${path}`;
  const context = { type: 'CommonTransportFormat/v1', filePath: path };
  const repository = ociRepository({
    store: ctfStore(files, name),
    prefix: '',
    mapping: 'urlPath',
    context,
    name,
  });
  const found: FoundComponent[] = [];
  for (const component of componentsIn(await readIndex(files, name))) {
    const one = await repository.find(component.name, component.version);
    if (one) found.push(one);
  }
  const own = chosen(found, wanted, path);
  return componentsOf(refSource(own, context), own, repository);
}

/** The component with the wanted name; otherwise the only one that no other component references. */
function chosen(all: readonly FoundComponent[], wanted: string | undefined, path: string): FoundComponent {
  const names = all.map(({ component }) => nameOf(component));
  if (wanted !== undefined) {
    const found = all[names.indexOf(wanted)];
    if (found) return found;
    throw new UsageError(`there is no component ${wanted} in ${path}, but ${names.join(', ') || 'nothing'}`);
  }
  const referred = new Set(
    all.flatMap(({ component }) =>
      component.references.map((one) => nameOf({ name: one.componentName, version: one.version })),
    ),
  );
  const roots = all.filter(({ component }) => !referred.has(nameOf(component)));
  const [first] = roots;
  if (first && roots.length === 1) return first;
  const list = roots.map(({ component }) => nameOf(component)).join(', ');
  throw new UsageError(
    roots.length === 0
      ? `there is no component in ${path}`
      : `${path} has several components: ${list}; choose one with --installation and its componentDescriptor`,
  );
}

async function fromDescriptor(bytes: Uint8Array, folder: string): Promise<LocalComponents> {
  const document = parseYaml(Buffer.from(bytes).toString('utf8'), { strings: DESCRIPTOR_STRINGS }) as JsonMap;
  const component = readDescriptor(document);
  const files = filesOnDisk(folder, MAX_FILE_BYTES);
  const context = component.repositoryContexts.at(-1) ?? { type: 'local', filePath: folder };
  const name = `folder ${folder}`;
  const repository = localRepository({
    descriptors: files,
    descriptorFolder: '.',
    blobs: files,
    blobFolder: 'blobs',
    context,
    name,
  });
  return componentsOf({ kind: 'inline', document }, { component, repository }, repository);
}

const refSource = ({ component }: FoundComponent, repositoryContext: JsonMap): ComponentSource => {
  const original = { repositoryContext, componentName: component.name, version: component.version };
  return { kind: 'ref', original, effective: original };
};

async function componentsOf(
  source: ComponentSource,
  own: FoundComponent,
  repository: Repository,
): Promise<LocalComponents> {
  // All references are resolved in the same place, whatever repository they name.
  const lookup: Lookup = { open: () => Promise.resolve(repository), resolvers: [], overwrites: [] };
  const { context } = repository;
  const viewOf = async (from: ComponentSource, found: FoundComponent): Promise<ComponentView> =>
    new ComponentView(from, await resolveAll(found, context, lookup), { registry: offline });
  return {
    own: await viewOf(source, own),
    async view({ ref, inline }) {
      if (inline) {
        const component = readDescriptor(inline);
        return viewOf({ kind: 'inline', document: inline }, { component, repository });
      }
      if (!ref) return undefined;
      const { componentName, version } = ref;
      const found =
        nameOf({ name: componentName, version }) === nameOf(own.component)
          ? own
          : await findComponent({ repositoryContext: context, componentName, version }, lookup);
      return viewOf(refSource(found, context), found);
    },
  };
}

const offline = (address: string): never => {
  throw new RepositoryUnusable(
    `rendering does not use the network, so it cannot read from the registry ${address}`,
  );
};
