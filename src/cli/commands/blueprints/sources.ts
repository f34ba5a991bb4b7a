/** Finds blueprints where people point: folders, their `blueprint.yaml`, and YAML with an Installation in it. */
import { readFileSync, statSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BLUEPRINT_FILE, BLUEPRINT_KIND } from '../../../api/blueprint.ts';
import { noYaml } from '../../../blueprint/lint/document.ts';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import { enclosingObjectOf } from '../../../blueprint/lint/enclosing-object.ts';
import { inlineInput, type BlueprintInput } from '../../../blueprint/lint/inspect.ts';
import { Source } from '../../../blueprint/lint/source.ts';
import { sourceFilesOf } from '../../../blueprint/lint/source-files.ts';
import { readYamlAll, type YamlText } from '../../../blueprint/lint/yaml-text.ts';
import { filesBelow, filesOnDisk, type Files } from '../../../components/files.ts';
import { ownField } from '../../../lib/objects.ts';
import { YamlError } from '../../../lib/yaml.ts';
import { CommandError, UsageError } from '../../errors.ts';

/** A blueprint that was found, with the object that it stands in, if it does. */
export interface FoundBlueprint {
  /** For people: the folder, or the file and the object in it. */
  readonly name: string;
  readonly input: BlueprintInput;
  /** The object around it, and what is wrong with that. */
  readonly holder: { readonly value: unknown; readonly findings: readonly Finding[] } | undefined;
}

/** A file that is no YAML. */
export class Unreadable extends CommandError {
  readonly finding: Finding;

  constructor(finding: Finding) {
    const { place, message } = finding;
    super(`${place.file}:${place.line}: ${message}`);
    this.finding = finding;
  }
}

export const STDIN = '-';
const MAX_FILE_BYTES = 64 * 2 ** 20;

/**
 * @param path a folder, a file, or `-` for standard input
 * @throws UsageError when there is no blueprint
 */
export async function blueprintsAt(
  path: string,
  readStdin: () => string,
): Promise<readonly FoundBlueprint[]> {
  if (path === STDIN) return inYaml('<stdin>', readStdin());
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts) throw new UsageError(`there is no file or folder ${path}`);
  if (facts.isDirectory()) return [await inFolder(path)];
  if (path === BLUEPRINT_FILE || path.endsWith(`/${BLUEPRINT_FILE}`)) return [await inFolder(dirname(path))];
  return inYaml(path, readFileSync(path, 'utf8'));
}

async function inFolder(folder: string): Promise<FoundBlueprint> {
  if (!existsSync(join(folder, BLUEPRINT_FILE))) {
    const near = ['blueprint', 'blueprints'].map((name) => join(folder, name));
    const found = near.find((one) => existsSync(join(one, BLUEPRINT_FILE)));
    const hint = found === undefined ? '' : `; did you mean ${found}?`;
    throw new UsageError(`the folder ${folder} is not a blueprint: it has no file ${BLUEPRINT_FILE}${hint}`);
  }
  const contents = await filesBelow(withoutGit(filesOnDisk(folder, MAX_FILE_BYTES)), '.');
  const files = sourceFilesOf(contents, (path) => join(folder, path));
  return { name: folder, input: { files }, holder: undefined };
}

/** A blueprint may be a whole repository; what Git keeps beside it is no part of it. */
const withoutGit = (files: Files): Files => ({
  read: (path) => files.read(path),
  list: async (path) => (await files.list(path))?.filter(({ name }) => name !== '.git'),
});

function inYaml(file: string, text: string): readonly FoundBlueprint[] {
  const source = new Source(file, text);
  let objects: ReturnType<typeof readYamlAll>;
  try {
    objects = readYamlAll(source);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new Unreadable(noYaml(source, error));
  }
  const found = objects.flatMap(({ value, document }) => inObject(value, document) ?? []);
  if (found.length > 0) return found;
  const kinds = objects.flatMap(({ value }) => ownField(value, 'kind') ?? []).map(String);
  const what = kinds.length === 0 ? 'no Kubernetes object' : `only ${kinds.join(', ')}`;
  throw new UsageError(
    `there is no blueprint in ${file}, ${what}; give a folder with a ${BLUEPRINT_FILE}, or an Installation with an inline blueprint`,
  );
}

/** The blueprint that is written into an object; or the object is a blueprint itself. */
function inObject(value: unknown, document: YamlText): FoundBlueprint | undefined {
  const kind = ownField(value, 'kind');
  const file = document.source.file;
  if (kind === BLUEPRINT_KIND) {
    const files = sourceFilesOf(new Map(), () => file);
    return { name: file, input: { files, written: { document, value } }, holder: undefined };
  }
  const holder = enclosingObjectOf(document, value);
  if (!holder?.filesystem) return undefined;
  const { filesystem, caller, name, findings } = holder;
  const input = inlineInput(filesystem.document, filesystem.value, caller);
  return { name: `${file} (${name})`, input, holder: { value, findings } };
}
