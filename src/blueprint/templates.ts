/** Reads InstallationTemplates: from results of executions, from files, and from the blueprint itself. */
import { z } from 'zod';
import {
  blueprint as blueprintSchema,
  installationTemplate,
  INSTALLATION_TEMPLATE_KIND,
  type InstallationTemplate,
  type TemplateExecutor,
} from '../api/blueprint.ts';
import { decode, WrongType } from '../api/decode.ts';
import { targetImport } from '../api/kinds/installation.ts';
import { API_VERSION } from '../api/labels.ts';
import { anyJson, anyObject, open } from '../api/shared.ts';
import { anyCaseField, isObject, type View } from '../lib/objects.ts';
import { SubInstallationsInvalid } from './errors.ts';
import { readText } from '../lib/file-tree.ts';
import type { LoadedBlueprint } from './load.ts';
import type { JsonMap } from './model.ts';
import { MAX_READ_HERE, parseHere, READ_HERE_RULE } from './read-here.ts';
import { unreadableResult } from './render.ts';

const fileEntry = open({ file: z.string() });
/** Forbidden references are kept, so the check can name them. */
const dataImport = open({
  name: z.string(),
  dataRef: z.string().optional(),
  secretRef: anyObject().optional(),
  configMapRef: anyObject().optional(),
});
const template = installationTemplate.omit({ apiVersion: true, kind: true }).extend({
  imports: open({
    data: z.array(dataImport).optional(),
    targets: z.array(targetImport).optional(),
  }).optional(),
});
const executionResult = open({ subinstallations: z.array(template).optional() });
/** All fields that are allowed, and those that have an error message of their own. Every other field is unknown. */
export const anyTemplate = template.extend({ apiVersion: anyJson().optional(), kind: anyJson().optional() });
export const subInstallationsResult = open({ subinstallations: z.array(anyTemplate).optional() });
export const blueprintFile = blueprintSchema.extend({
  subinstallations: z.array(z.union([fileEntry, anyTemplate])).optional(),
});

/** @throws TemplateFailed */
export function renderedTemplates(
  output: unknown,
  execution: View<TemplateExecutor>,
): readonly InstallationTemplate[] {
  try {
    return decode(executionResult, output).subinstallations ?? [];
  } catch (cause) {
    throw unreadableResult('subinstallation', execution, cause);
  }
}

/** The entries of `subinstallations`. @throws SubInstallationsInvalid */
export function staticTemplates(blueprint: LoadedBlueprint): readonly InstallationTemplate[] {
  const room = templateRoom();
  return (blueprint.info.subinstallations ?? []).map((entry, i) => staticTemplate(entry, i, blueprint, room));
}

/**
 * The remaining characters that files of templates may have; a file counts each time it is named, because it is read
 * each time.
 */
interface Room {
  left: number;
}

const templateRoom = (): Room => ({ left: MAX_READ_HERE });

/** One of these entries. @throws SubInstallationsInvalid */
export function staticTemplate(
  entry: JsonMap,
  index: number,
  blueprint: LoadedBlueprint,
  room: Room = templateRoom(),
): InstallationTemplate {
  try {
    const file = fileOf(entry, index);
    return file === '' ? inlineEntry(entry, index) : templateFile(file, blueprint, index, room);
  } catch (cause) {
    if (!(cause instanceof WrongType)) throw cause;
    throw unreadable(cause.message, cause);
  }
}

/** The file that an entry of `subinstallations` names; empty if the entry is a template itself. @throws WrongType */
export const fileOf = (entry: JsonMap, index: number): string =>
  decode(fileEntry, entry, `subinstallations[${index}]`).file;

function inlineEntry(entry: JsonMap, index: number): InstallationTemplate {
  const isTemplate = ['name', 'blueprint', 'imports', 'exports'].some(
    (key) => anyCaseField(entry, key) !== undefined,
  );
  if (isTemplate) return decode(template, entry, `subinstallations[${index}]`);
  throw unreadable(`neither a inline installation template nor a file is defined in index ${index}`);
}

function templateFile(
  path: string,
  { files }: LoadedBlueprint,
  index: number,
  room: Room,
): InstallationTemplate {
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
    document = parseHere(text);
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
  return decode(template, document, path);
}

const unreadable = (why: string, cause?: unknown): SubInstallationsInvalid =>
  new SubInstallationsInvalid(
    `unable to get installation templates of blueprint: unable to get default subinstallation templates: ${why}`,
    { cause },
  );
