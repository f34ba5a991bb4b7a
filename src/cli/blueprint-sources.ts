/** Finds blueprints where people point: folders, their `blueprint.yaml`, and YAML with an Installation in it. */
import { readFileSync, statSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BLUEPRINT_FILE, BLUEPRINT_KIND, INSTALLATION_TEMPLATE_KIND } from '../api/blueprint.ts';
import { installationKind, type Installation } from '../api/kinds/installation.ts';
import { noYaml } from '../blueprint/lint/document.ts';
import type { Finding } from '../blueprint/lint/finding.ts';
import { inlineInput, type BlueprintInput } from '../blueprint/lint/inspect.ts';
import { Source } from '../blueprint/lint/source.ts';
import { sourceFilesOf } from '../blueprint/lint/sourcefiles.ts';
import type { Caller } from '../blueprint/lint/subject.ts';
import { YamlText } from '../blueprint/lint/yamltext.ts';
import { filesBelow, filesOnDisk } from '../components/files.ts';
import { isObject, ownField } from '../lib/objects.ts';
import { parseYamlAll, YamlError } from '../lib/yaml.ts';
import { CommandError, UsageError } from './errors.ts';

/** A blueprint that was found, with the object that it stands in, if it does. */
export interface FoundBlueprint {
  /** For people: the folder, or the file and the object in it. */
  readonly name: string;
  readonly input: BlueprintInput;
  /** The object around it, and where it stands. */
  readonly holder: { readonly value: unknown; readonly document: YamlText } | undefined;
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
    throw new UsageError(`the folder ${folder} is no blueprint: it has no file ${BLUEPRINT_FILE}${hint}`);
  }
  const contents = await filesBelow(filesOnDisk(folder, MAX_FILE_BYTES), '.');
  const files = sourceFilesOf(contents, (path) => join(folder, path));
  return { name: folder, input: { files }, holder: undefined };
}

function inYaml(file: string, text: string): readonly FoundBlueprint[] {
  const source = new Source(file, text);
  let values: readonly unknown[];
  try {
    values = parseYamlAll(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new Unreadable(noYaml(source, error));
  }
  const found = values.flatMap((value, i) => inObject(value, YamlText.of(source, i)) ?? []);
  if (found.length > 0) return found;
  const kinds = values.flatMap((value) => ownField(value, 'kind') ?? []).map(String);
  const what = kinds.length === 0 ? 'no object of Kubernetes' : `only ${kinds.join(', ')}`;
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
  const isTemplate = kind === INSTALLATION_TEMPLATE_KIND;
  if (!isObject(value) || !(isTemplate || kind === installationKind.kind)) return undefined;
  const spec = isTemplate ? value : ownField(value, 'spec');
  const path = isTemplate ? ['blueprint', 'filesystem'] : ['spec', 'blueprint', 'inline', 'filesystem'];
  const filesystem = path.reduce<unknown>((at, key) => ownField(at, key), value);
  const named = isTemplate ? value['name'] : ownField(value['metadata'], 'name');
  const name = typeof named === 'string' ? named : '(without name)';
  const caller: Caller = {
    ...((isObject(spec) ? spec : {}) as Partial<Installation['spec']>),
    name: `${isTemplate ? 'installation template' : 'installation'} ${name}`,
    document: isTemplate ? document : document.below(['spec']),
    hasComponent: isTemplate ? undefined : isObject(ownField(spec, 'componentDescriptor')),
    targetTypeOf: () => undefined,
  };
  if (filesystem === undefined) return undefined;
  const input = inlineInput(document.below(path), filesystem, caller);
  return { name: `${file} (${caller.name})`, input, holder: { value, document } };
}
