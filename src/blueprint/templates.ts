/** Reads InstallationTemplates: from results of executions, from files, and those written into the blueprint. */
import {
  INSTALLATION_TEMPLATE_KIND,
  type InstallationTemplate,
  type TemplateExecutor,
} from '../api/blueprint.ts';
import { API_VERSION } from '../api/labels.ts';
import { isObject, type View } from '../lib/objects.ts';
import { parseYaml } from '../lib/yaml.ts';
import { fieldsOf, present, WrongType, type FieldReader } from './decode.ts';
import { SubInstallationsInvalid } from './errors.ts';
import { readText } from './file-tree.ts';
import type { LoadedBlueprint } from './load.ts';
import { MAX_READ_HERE, READ_HERE_RULE } from './read-here.ts';
import { unreadableResult } from './render.ts';

/** @throws TemplateFailed */
export function renderedTemplates(
  output: unknown,
  execution: View<TemplateExecutor>,
): readonly InstallationTemplate[] {
  try {
    return (fieldsOf(output, '').list('subinstallations') ?? []).map(templateFrom);
  } catch (cause) {
    throw unreadableResult('subinstallation', execution, cause);
  }
}

/** The entries of `subinstallations`. @throws SubInstallationsInvalid */
export function staticTemplates(blueprint: LoadedBlueprint): readonly InstallationTemplate[] {
  const room = templateRoom();
  return (blueprint.info.subinstallations ?? []).map((entry, i) => staticTemplate(entry, i, blueprint, room));
}

/** Characters that files of templates may still have; a file counts as often as it is named, because it is read as often. */
interface Room {
  left: number;
}

const templateRoom = (): Room => ({ left: MAX_READ_HERE });

/** One of them. @throws SubInstallationsInvalid */
export function staticTemplate(
  entry: FieldReader,
  index: number,
  blueprint: LoadedBlueprint,
  room: Room = templateRoom(),
): InstallationTemplate {
  try {
    const file = entry.text('file') ?? '';
    return templateFrom(file === '' ? inlineEntry(entry, index) : templateFile(file, blueprint, index, room));
  } catch (cause) {
    if (!(cause instanceof WrongType)) throw cause;
    throw unreadable(cause.message, cause);
  }
}

function inlineEntry(entry: FieldReader, index: number): FieldReader {
  if (['name', 'blueprint', 'imports', 'exports'].some((key) => entry.has(key))) return entry;
  throw unreadable(`neither a inline installation template nor a file is defined in index ${index}`);
}

function templateFile(path: string, { files }: LoadedBlueprint, index: number, room: Room): FieldReader {
  const at = `subinstallations[${index}].file`;
  const text = readText(files, path);
  if (text === undefined) throw unreadable(`${at}: Not found: "${path}"`);
  room.left -= text.length;
  if (room.left < 0)
    throw unreadable(
      `${at}: with "${path}" the files of templates have ${String(MAX_READ_HERE - room.left)} characters together, ${READ_HERE_RULE}`,
    );
  let document: unknown;
  try {
    document = parseYaml(text);
  } catch (cause) {
    throw unreadable(`${at}: Invalid value: "${path}": ${(cause as Error).message}`, cause);
  }
  const { apiVersion = API_VERSION, kind = INSTALLATION_TEMPLATE_KIND } = isObject(document) ? document : {};
  if (apiVersion !== API_VERSION || kind !== INSTALLATION_TEMPLATE_KIND) {
    const found = `${String(apiVersion)}, ${String(kind)}`;
    throw unreadable(
      `${at}: Invalid value: "${path}": unable to decode installation template: expected ${API_VERSION}, ${INSTALLATION_TEMPLATE_KIND}, found ${found}`,
    );
  }
  return fieldsOf(document, path);
}

const unreadable = (why: string, cause?: unknown): SubInstallationsInvalid =>
  new SubInstallationsInvalid(
    `unable to get installation templates of blueprint: unable to get default subinstallation templates: ${why}`,
    { cause },
  );

function templateFrom(fields: FieldReader): InstallationTemplate {
  const blueprint = fields.inner('blueprint');
  const optimization = fields.inner('optimization');
  return present({
    name: fields.text('name') ?? '',
    blueprint: present({
      ref: blueprint?.text('ref'),
      filesystem: blueprint?.raw('filesystem') ?? undefined,
    }),
    imports: importsFrom(fields.inner('imports')),
    exports: exportsFrom(fields.inner('exports')),
    importDataMappings: fields.map('importDataMappings'),
    exportDataMappings: fields.map('exportDataMappings'),
    optimization:
      optimization &&
      present({
        hasNoSiblingImports: optimization.flag('hasNoSiblingImports'),
        hasNoSiblingExports: optimization.flag('hasNoSiblingExports'),
      }),
  });
}

/** Forbidden references are kept, so that the check can name them. */
function importsFrom(fields: FieldReader | undefined): InstallationTemplate['imports'] {
  if (!fields) return undefined;
  return present({
    data: fields.list('data')?.map((entry) =>
      present({
        name: entry.text('name') ?? '',
        dataRef: entry.text('dataRef'),
        secretRef: entry.map('secretRef'),
        configMapRef: entry.map('configMapRef'),
      }),
    ),
    targets: fields.list('targets')?.map((entry) =>
      present({
        name: entry.text('name') ?? '',
        target: entry.text('target'),
        targets: entry.texts('targets') as string[] | undefined,
        targetListRef: entry.text('targetListRef'),
        targetMap: entry.textMap('targetMap'),
        targetMapRef: entry.text('targetMapRef'),
      }),
    ),
  });
}

function exportsFrom(fields: FieldReader | undefined): InstallationTemplate['exports'] {
  if (!fields) return undefined;
  return present({
    data: fields
      .list('data')
      ?.map((entry) => ({ name: entry.text('name') ?? '', dataRef: entry.text('dataRef') ?? '' })),
    targets: fields
      .list('targets')
      ?.map((entry) => present({ name: entry.text('name') ?? '', target: entry.text('target') })),
  });
}
