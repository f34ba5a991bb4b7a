/** The findings of the lint for a file that is open in an editor, with the unsaved texts of all open files. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { BLUEPRINT_FILE } from '../../api/blueprint.ts';
import type { Finding } from '../../blueprint/lint/finding.ts';
import { inspectBlueprint } from '../../blueprint/lint/inspect.ts';
import { sourceFilesOf } from '../../blueprint/lint/source-files.ts';
import { blueprintFilesIn, blueprintsIn, InvalidYaml } from '../commands/blueprints/sources.ts';
import { builtInDeployers } from '../composition/item-configurations.ts';
import { UsageError } from '../errors.ts';

/** Texts of open files by absolute path. */
type OpenTexts = ReadonlyMap<string, string>;

export async function findingsFor(file: string, texts: OpenTexts): Promise<readonly Finding[]> {
  const folder = blueprintFolderOf(file, texts);
  if (folder !== undefined) return ofFolder(folder, texts);
  const text = texts.get(file);
  if (text === undefined || !/\.ya?ml$/.test(file)) return [];
  try {
    return blueprintsIn(file, text).flatMap(({ input, enclosing }) => [
      ...(enclosing?.findings ?? []),
      ...inspectBlueprint(input, builtInDeployers),
    ]);
  } catch (error) {
    if (error instanceof InvalidYaml) return [error.finding];
    // The file contains no blueprint.
    if (error instanceof UsageError) return [];
    throw error;
  }
}

/** The nearest folder above a file that is a blueprint. */
function blueprintFolderOf(file: string, texts: OpenTexts): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const definition = join(folder, BLUEPRINT_FILE);
    if (texts.has(definition) || existsSync(definition)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

async function ofFolder(folder: string, texts: OpenTexts): Promise<readonly Finding[]> {
  const contents = new Map(existsSync(folder) ? await blueprintFilesIn(folder) : []);
  for (const [file, text] of texts) {
    const path = relative(folder, file).split(sep).join('/');
    if (path !== '' && !path.startsWith('../')) contents.set(path, Buffer.from(text));
  }
  const files = sourceFilesOf(contents, (path) => join(folder, path));
  return inspectBlueprint({ files }, builtInDeployers);
}
