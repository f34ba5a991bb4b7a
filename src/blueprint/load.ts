/** Reads a blueprint: from its source to the parsed `blueprint.yaml` and the files templates may read. */
import { z } from 'zod';
import {
  blueprint as blueprintSchema,
  BLUEPRINT_FILE,
  BLUEPRINT_KIND,
  type ExportDefinition,
  type ImportDefinition,
} from '../api/blueprint.ts';
import { decode, typeName } from '../api/decode.ts';
import type { BlueprintDefinition } from '../api/kinds/installation.ts';
import { API_VERSION, GROUP } from '../api/labels.ts';
import { anyObject } from '../api/shared.ts';
import { isObject, ownField } from '../lib/objects.ts';
import { ComponentProblem } from '../components/errors.ts';
import { withContents, type ComponentView } from '../components/view.ts';
import { BlueprintInvalid, BlueprintUnavailable } from './errors.ts';
import { MAX_READ_HERE, parseHere, READ_HERE_RULE } from './read-here.ts';
import { FileTreeError, inlineFileTree, readText, type FileTree } from '../lib/file-tree.ts';
import type { Blueprint } from './model.ts';
import { blueprintArchives, unpackBlueprint } from './resources.ts';

export interface LoadedBlueprint {
  readonly info: Blueprint;
  readonly files: FileTree;
  /** The component of the installation, if it has one. */
  readonly component?: ComponentView | undefined;
}

/**
 * The blueprint of an installation.
 * @throws BlueprintUnavailable if its component does not contain it, BlueprintInvalid if it is unusable;
 *     ComponentProblem if a retry may help
 */
export async function loadBlueprint(
  source: BlueprintDefinition,
  component?: ComponentView,
): Promise<LoadedBlueprint> {
  if (source.inline) return { ...loadInlineBlueprint(source.inline.filesystem), component };
  const ref = source.ref?.resourceName;
  if (ref === undefined) throw new BlueprintInvalid('spec.blueprint must have either "inline" or "ref"');
  if (!component) throw new BlueprintUnavailable(ref, 'the installation has no component that could hold it');
  try {
    const place = component.resolve({ path: [], resource: { name: ref } });
    const archives = await withContents(component, () => blueprintArchives(component, place));
    const files = await unpackBlueprint(archives, place);
    const text = readText(files, BLUEPRINT_FILE);
    if (text === undefined) throw new BlueprintUnavailable(ref, `${noBlueprintFile(files)} in it`);
    return { info: parseBlueprint(text, `resource ${ref}`), files, component };
  } catch (error) {
    if (!(error instanceof ComponentProblem) || error.isPassing) throw error;
    throw new BlueprintUnavailable(ref, error.message, error);
  }
}

/** @param filesystem `inline.filesystem` of an installation, `blueprint.filesystem` of a template */
export function loadInlineBlueprint(filesystem: unknown): LoadedBlueprint {
  const files = inlineFiles(withTextBlueprint(filesystem));
  const text = readText(files, BLUEPRINT_FILE);
  if (text === undefined) {
    throw new BlueprintInvalid(
      `unable to read blueprint file from inline defined blueprint: ${noBlueprintFile(files)}`,
    );
  }
  return { info: parseBlueprint(text), files };
}

/** @throws BlueprintInvalid */
function inlineFiles(filesystem: unknown): FileTree {
  try {
    return inlineFileTree(filesystem);
  } catch (error) {
    if (!(error instanceof FileTreeError)) throw error;
    throw new BlueprintInvalid(`unable to read inline defined blueprint: ${error.message}`, error);
  }
}

/** Why a tree of files has no string at the place of the blueprint. */
const noBlueprintFile = (files: FileTree): string =>
  files.list(BLUEPRINT_FILE) === undefined
    ? `there is no file "${BLUEPRINT_FILE}"`
    : `"${BLUEPRINT_FILE}" is a directory, not a file`;

/** `blueprint.yaml` as a map instead of a string is a common mistake, and is accepted. */
function withTextBlueprint(filesystem: unknown): unknown {
  const root = ownField(filesystem, BLUEPRINT_FILE);
  if (!isObject(filesystem) || !isObject(root) || '$type' in root) return filesystem;
  return { ...filesystem, [BLUEPRINT_FILE]: { $type: 'json', value: root } };
}

/** @param where its position, for messages. @throws BlueprintInvalid */
export function parseBlueprint(text: string, where = 'inline defined blueprint'): Blueprint {
  const fail = (why: string, cause?: unknown): never => {
    throw new BlueprintInvalid(`unable to decode blueprint definition from ${where}: ${why}`, cause);
  };
  if (text.length > MAX_READ_HERE) return fail(`it has ${String(text.length)} characters, ${READ_HERE_RULE}`);
  let document: unknown;
  try {
    document = parseHere(text);
  } catch (error) {
    return fail((error as Error).message, error);
  }
  if (document === null || document === undefined) return {};
  if (!isObject(document)) return fail(`expected a map, found ${typeName(document)}`);
  if (document['kind'] !== BLUEPRINT_KIND || document['apiVersion'] !== API_VERSION) {
    const found = `${valueNamed('apiVersion', document)} and ${valueNamed('kind', document)}`;
    return fail(`expected apiVersion ${API_VERSION} and kind ${BLUEPRINT_KIND}, found ${found}`);
  }
  try {
    return blueprintFrom(document);
  } catch (error) {
    return fail((error as Error).message, error);
  }
}

/** The type of a value that should be a string, as a part of a message. */
function valueNamed(field: string, document: Readonly<Record<string, unknown>>): string {
  const value = ownField(document, field);
  if (value === undefined || value === null || value === '') return `no ${field}`;
  return `${field} ${typeof value === 'string' ? value : `that is ${typeName(value)}`}`;
}

/**
 * The parts of a blueprint that are validated when it is loaded. Local types are validated where they are used, and
 * sub-installations when they are rendered, so errors are reported there.
 */
const readAtOnce = blueprintSchema
  .omit({ apiVersion: true, kind: true, jsonSchemaVersion: true, jsonSchema: true })
  .extend({ localTypes: anyObject().optional(), subinstallations: z.array(anyObject()).optional() });

function blueprintFrom(document: unknown): Blueprint {
  const { imports, exports, ...rest } = decode(readAtOnce, document);
  return {
    ...rest,
    ...(imports && { imports: imports.map(importFrom) }),
    ...(exports && { exports: exports.map((one) => completed(one, 'target')) }),
  };
}

function importFrom(definition: ImportDefinition): ImportDefinition {
  const { imports } = definition;
  return {
    ...completed(definition, 'target', 'targetList', 'targetMap'),
    ...(imports && { imports: imports.map(importFrom) }),
  };
}

/** The type is inferred, and the target type completed for these types. */
function completed<T extends ExportDefinition>(definition: T, ...expanding: readonly string[]): T {
  const { schema, targetType } = definition;
  const type = definition.type ?? (schema !== undefined ? 'data' : targetType ? 'target' : undefined);
  const isShort = targetType !== undefined && targetType !== '' && !targetType.includes('/');
  return {
    ...definition,
    ...(type !== undefined && { type }),
    ...(isShort && expanding.includes(type ?? '') && { targetType: `${GROUP}/${targetType}` }),
  };
}
