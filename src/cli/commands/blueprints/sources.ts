/** Finds the blueprints at a path: folders, `blueprint.yaml` files, and YAML with an Installation. */
import { textOfYaml } from '../../../lib/yaml-bytes.ts';
import { readFileSync, statSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BLUEPRINT_FILE, BLUEPRINT_KIND } from '../../../api/blueprint.ts';
import { noYaml } from '../../../blueprint/lint/document.ts';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import { enclosingObjectOf } from '../../../blueprint/lint/enclosing-object.ts';
import { inlineInput, type BlueprintInput } from '../../../blueprint/lint/inspect.ts';
import { inspectRoots } from '../../../blueprint/lint/roots.ts';
import { Source } from '../../../blueprint/lint/source.ts';
import { sourceFilesOf } from '../../../blueprint/lint/source-files.ts';
import { readYamlAll, type YamlText } from '../../../blueprint/lint/yaml-text.ts';
import { filesBelow, filesOnDisk, type Files } from '../../../components/files.ts';
import { ownField } from '../../../lib/objects.ts';
import { YamlError } from '../../../lib/yaml.ts';
import { CommandError, UsageError } from '../../errors.ts';

/** A blueprint, with the object that contains it, if there is one. */
export interface FoundBlueprint {
  /** For messages: the folder, or the file and the object in it. */
  readonly name: string;
  readonly input: BlueprintInput;
  /** The object that contains the blueprint, and findings about the object. */
  readonly enclosing: { readonly value: unknown; readonly findings: readonly Finding[] } | undefined;
}

/** The file is not valid YAML. */
export class InvalidYaml extends CommandError {
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
 * @throws UsageError if there is no blueprint
 */
export async function blueprintsAt(
  path: string,
  readStdin: () => string,
): Promise<readonly FoundBlueprint[]> {
  if (path === STDIN) return blueprintsIn('<stdin>', readStdin());
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts) throw new UsageError(`there is no file or folder ${path}`);
  if (facts.isDirectory()) return [await inFolder(path)];
  if (path === BLUEPRINT_FILE || path.endsWith(`/${BLUEPRINT_FILE}`)) return [await inFolder(dirname(path))];
  return blueprintsIn(path, textOfYaml(readFileSync(path)));
}

async function inFolder(folder: string): Promise<FoundBlueprint> {
  if (!existsSync(join(folder, BLUEPRINT_FILE))) {
    const near = ['blueprint', 'blueprints'].map((name) => join(folder, name));
    const found = near.find((one) => existsSync(join(one, BLUEPRINT_FILE)));
    const hint = found === undefined ? '' : `; did you mean ${found}?`;
    throw new UsageError(`the folder ${folder} is not a blueprint: it has no file ${BLUEPRINT_FILE}${hint}`);
  }
  const files = sourceFilesOf(await blueprintFilesIn(folder), (path) => join(folder, path));
  return { name: folder, input: { files }, enclosing: undefined };
}

/** All files of a blueprint, by path. Links that lead out of the folder are left out. @throws ContentInvalid */
export const blueprintFilesIn = (folder: string): Promise<ReadonlyMap<string, Uint8Array>> =>
  filesBelow(withoutGit(filesOnDisk(folder, MAX_FILE_BYTES)), '.');

/** A blueprint may be a whole repository; the folder `.git` does not belong to it. */
const withoutGit = (files: Files): Files => ({
  read: (path) => files.read(path),
  list: async (path) => (await files.list(path))?.filter(({ name }) => name !== '.git'),
});

/** The blueprints in YAML. @throws InvalidYaml, UsageError if there is none */
export function blueprintsIn(file: string, text: string): readonly FoundBlueprint[] {
  const source = new Source(file, text);
  let objects: ReturnType<typeof readYamlAll>;
  try {
    objects = readYamlAll(source);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new InvalidYaml(noYaml(source, error));
  }
  const found = objects.flatMap(({ value, document }) => blueprintInObject(value, document) ?? []);
  if (found.length > 0) return withFindings(found, inspectRoots(objects));
  const kinds = objects.flatMap(({ value }) => ownField(value, 'kind') ?? []).map(String);
  const what = kinds.length === 0 ? 'no Kubernetes object' : `only ${kinds.join(', ')}`;
  throw new UsageError(
    `there is no blueprint in ${file}, ${what}; give a folder with a ${BLUEPRINT_FILE}, or an Installation with an inline blueprint`,
  );
}

/** The findings about the file as a whole are reported with its first blueprint. */
function withFindings(
  [first, ...others]: readonly FoundBlueprint[],
  findings: readonly Finding[],
): readonly FoundBlueprint[] {
  if (!first?.enclosing) return first ? [first, ...others] : [];
  const enclosing = { ...first.enclosing, findings: [...findings, ...first.enclosing.findings] };
  return [{ ...first, enclosing }, ...others];
}

/** The inline blueprint of an object, or the object if it is a blueprint itself. */
function blueprintInObject(value: unknown, document: YamlText): FoundBlueprint | undefined {
  const kind = ownField(value, 'kind');
  const file = document.source.file;
  if (kind === BLUEPRINT_KIND) {
    const files = sourceFilesOf(new Map(), () => file);
    return { name: file, input: { files, written: { document, value } }, enclosing: undefined };
  }
  const enclosing = enclosingObjectOf(document, value);
  if (!enclosing?.filesystem) return undefined;
  const { filesystem, caller, name, findings } = enclosing;
  const input = inlineInput(filesystem.document, filesystem.value, caller);
  return { name: `${file} (${name})`, input, enclosing: { value, findings } };
}
