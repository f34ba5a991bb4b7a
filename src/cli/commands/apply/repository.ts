/** Pushes blueprints that are too large for an object to a registry, as components. */
import { nameOf } from '../../../components/descriptor.ts';
import { filesInMemory } from '../../../components/files.ts';
import { ctfFiles, emptyCtf, withComponent } from '../../../components/pack.ts';
import { fileTreeOf } from '../../../lib/file-tree.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { pushArchive } from '../components/pack.ts';
import type { RegistryOptions } from '../components/sources.ts';
import type { PreparedDocument } from './prepare.ts';

interface RepositoryOptions extends RegistryOptions {
  readonly repository?: string;
}

/** Pushes the components of the documents, if there are any. @throws the errors of the registry */
export async function pushComponents(
  documents: readonly PreparedDocument[],
  { repository, ...options }: RepositoryOptions,
  terminal: Terminal,
): Promise<void> {
  const components = documents.flatMap(({ component }) => component ?? []);
  if (components.length === 0 || repository === undefined) return;
  // Equal versions have equal content.
  const archive = components.reduce((ctf, component) => withComponent(ctf, component, true), emptyCtf);
  const files = filesInMemory(fileTreeOf(ctfFiles(archive)));
  const pushed = await pushArchive(files, 'blueprints', { ...options, registry: repository }, terminal);
  for (const component of pushed) terminal.print(`component ${nameOf(component)} pushed to ${repository}`);
}
