/**
 * From the imports that were found to the values that templates see: mappings, defaults, conditions, types and schemas.
 */
import { z } from 'zod';
import type { ImportDefinition, TemplateExecutor } from '../api/blueprint.ts';
import { decode } from '../api/decode.ts';
import type { Installation } from '../api/kinds/installation.ts';
import { anyObject, open } from '../api/shared.ts';
import { define } from '../lib/json.ts';
import { isObject, ownField, type View } from '../lib/objects.ts';
import { DefinitionInvalid, ImportNotSatisfied, ImportsRejected, SchemaValidationFailed } from './errors.ts';
import { importValues, type ImportSet } from './import-set.ts';
import type { LoadedBlueprint } from './load.ts';
import { mappedValues } from './mapped-values.ts';
import type { JsonMap } from './model.ts';
import { runExecution, unreadableResult, type RenderContext } from './render.ts';
import type { TemplateRunner } from './work.ts';

type Definition = View<ImportDefinition>;

/**
 * The blueprint's imports with their values; names without value are absent.
 * @throws ImportNotSatisfied, SchemaValidationFailed, DefinitionInvalid, MappingFailed
 */
export async function constructImports(
  installation: View<Installation>,
  blueprint: LoadedBlueprint,
  found: ImportSet,
  runner: TemplateRunner,
): Promise<JsonMap> {
  const name = installation.metadata.name;
  const values = importValues(found);
  const mapped = await mappedValues(
    installation.spec.importDataMappings,
    { bindings: values, what: `import mapping template ${name}`, reason: 'ConstructImports' },
    runner,
  );
  const constructed: Record<string, unknown> = {};
  const visit = async (definition: Definition, parentPath: string): Promise<void> => {
    const path = `${parentPath}.${definition.name}`;
    const value = valueOf(definition, { found, values, mapped, path });
    if (value === undefined) {
      if (definition.required ?? true) throw new ImportNotSatisfied(definition.name, definition.type ?? '');
      return;
    }
    await checkValue(definition, value, { path, blueprint, runner });
    define(constructed, definition.name, value);
    for (const conditional of definition.imports ?? []) await visit(conditional, path);
  };
  for (const definition of blueprint.info.imports ?? []) await visit(definition, name);
  return constructed;
}

/** Undefined if nothing supplies a value. null is a value, except as a default. */
function valueOf(
  definition: Definition,
  sources: { found: ImportSet; values: JsonMap; mapped: JsonMap; path: string },
): unknown {
  const { name, type, required = true } = definition;
  const { found, values, mapped, path } = sources;
  switch (type) {
    case 'data':
      if (Object.hasOwn(mapped, name)) return mapped[name];
      if (found.data.has(name)) return values[name];
      return required ? undefined : (definition.default?.value ?? undefined);
    case 'target':
      return found.targets.has(name) ? values[name] : undefined;
    case 'targetList':
      return found.targetLists.has(name) ? values[name] : undefined;
    case 'targetMap':
      return found.targetMaps.has(name) ? values[name] : undefined;
    default:
      throw new DefinitionInvalid(`${path}: unknown import type '${type ?? ''}'`);
  }
}

interface Place {
  readonly path: string;
  readonly blueprint: LoadedBlueprint;
  readonly runner: TemplateRunner;
}

async function checkValue(definition: Definition, value: unknown, place: Place): Promise<void> {
  const { path } = place;
  const expected = definition.targetType ?? '';
  const typeOf = (target: unknown): string => {
    const type = ownField(ownField(target, 'spec'), 'type');
    return typeof type === 'string' ? type : '';
  };
  const fail = (what: string, target: unknown): never => {
    throw new SchemaValidationFailed(`${path}: ${what} is ${typeOf(target)} but expected ${expected}`);
  };
  switch (definition.type) {
    case 'target':
      if (typeOf(value) !== expected) fail('imported target type', value);
      return;
    case 'targetList':
      for (const [i, target] of (value as readonly unknown[]).entries()) {
        if (typeOf(target) !== expected) {
          fail(`type of the element at position ${i} of the imported targetlist`, target);
        }
      }
      return;
    case 'targetMap':
      for (const [key, target] of Object.entries(value as JsonMap)) {
        if (typeOf(target) !== expected) {
          fail(`type of the element at position ${key} of the imported targetmap`, target);
        }
      }
      return;
    default:
      await checkData(definition, value, place);
  }
}

async function checkData(
  { schema }: Definition,
  value: unknown,
  { path, blueprint, runner }: Place,
): Promise<void> {
  if (schema === undefined) {
    throw new SchemaValidationFailed(`${path}: no schema defined: schema is nil`);
  }
  const verdict = await runner.check({ schema, value, blueprint });
  if (verdict.kind === 'unusable') throw new SchemaValidationFailed(`${path}: ${verdict.message}`);
  if (verdict.kind === 'invalid') {
    throw new SchemaValidationFailed(
      `${path}: imported datatype does not have the expected schema: ${verdict.message}`,
    );
  }
}

/**
 * Runs the import executions; returns the values with the bindings merged in. Each execution sees the bindings of those
 * before it; the first that returns errors is the last one to run.
 * @throws ImportsRejected, TemplateFailed
 */
export async function runImportExecutions(context: RenderContext): Promise<JsonMap> {
  let imports: JsonMap = context.scope.imports;
  for (const executor of context.blueprint.info.importExecutions ?? []) {
    const scope = { ...context.scope, imports };
    const output = await runExecution({ ...context, scope }, executor, { kind: 'import' });
    const { errors, bindings } = decodeResult(output, executor);
    if (errors.length > 0) throw new ImportsRejected(errors);
    imports = { ...imports, ...bindings };
  }
  return imports;
}

const executionResult = open({ errors: z.array(z.string()).optional(), bindings: anyObject().optional() });

function decodeResult(
  output: unknown,
  execution: View<TemplateExecutor>,
): { readonly errors: readonly string[]; readonly bindings: JsonMap } {
  try {
    const { errors = [], bindings = {} } = decode(executionResult, isObject(output) ? output : null);
    return { errors, bindings };
  } catch (cause) {
    throw unreadableResult('import', execution, cause);
  }
}
