/**
 * Export executions and mappings: from the exports of items and children to the values that an installation exports.
 */
import { z } from 'zod';
import type { ExportDefinition, TemplateExecutor } from '../api/blueprint.ts';
import { decode } from '../api/decode.ts';
import type { Installation } from '../api/kinds/installation.ts';
import { aggregate } from '../api/validation/fields.ts';
import { targetSpecProblems } from '../api/validation/target.ts';
import { anyJson, anyObject, open } from '../api/shared.ts';
import { define } from '../lib/json.ts';
import { isObject, ownField, type View } from '../lib/objects.ts';
import { ExportInvalid } from './errors.ts';
import type { LoadedBlueprint } from './load.ts';
import { mappedValues } from './mapped-values.ts';
import type { JsonMap } from './model.ts';
import { runExecution, unreadableResult, type RenderContext } from './render.ts';
import type { TemplateRunner } from './work.ts';

/** What export executions see besides the common scope. */
export interface ExportSources {
  /** export value of each deploy item, null if it exports nothing; {} without execution */
  readonly deployitems: JsonMap;
  /** values of all DataObjects in the own context, by key */
  readonly dataobjects: JsonMap;
  /** all Targets in the own context, by key; lists and maps for imports of that kind */
  readonly targets: JsonMap;
}

interface DataExportValue {
  readonly name: string;
  /** dataRef of the installation */
  readonly ref: string;
  readonly value: unknown;
}

export interface TargetExportValue {
  readonly name: string;
  /** target of the installation */
  readonly ref: string;
  readonly type: string;
  readonly config?: unknown;
  readonly secretRef?: { readonly name: string; readonly key?: string | undefined } | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ExportValues {
  readonly data: readonly DataExportValue[];
  readonly targets: readonly TargetExportValue[];
}

/**
 * * Runs the export executions, then the mappings; then selects the exports of the installation, in its order.
 * @throws TemplateFailed, ExportInvalid, MappingFailed
 */
export async function renderExports(
  context: RenderContext,
  installation: View<Installation>,
  sources: ExportSources,
): Promise<ExportValues> {
  let results: Record<string, unknown> = {};
  const more = { values: { ...sources }, ...sources };
  for (const executor of context.blueprint.info.exportExecutions ?? []) {
    const output = await runExecution(context, executor, { kind: 'export', more });
    results = merged(results, decodeResult(output, executor)) as Record<string, unknown>;
  }
  return constructExports(installation, context.blueprint, results, context.runner);
}

/** The second part: declared values, mappings, checks, selection. */
async function constructExports(
  installation: View<Installation>,
  blueprint: LoadedBlueprint,
  results: JsonMap,
  runner: TemplateRunner,
): Promise<ExportValues> {
  const { name } = installation.metadata;
  const check = async (definition: View<ExportDefinition>, values: JsonMap): Promise<void> => {
    const message = await exportProblem(definition, values[definition.name], { blueprint, runner });
    if (message === undefined) return;
    throw new ExportInvalid(`(inst: ${name}).internalExports.exports.${definition.name}: ${message}`);
  };
  const declared = (blueprint.info.exports ?? []).filter((d) => Object.hasOwn(results, d.name));
  for (const definition of declared) await check(definition, results);
  const values = Object.fromEntries(declared.map((d) => [d.name, results[d.name]]));
  const mapped = await mappedValues(
    installation.spec.exportDataMappings,
    {
      bindings: { ...values, exports: values },
      what: `export mapping template (inst: ${name}).internalExports`,
      reason: 'ConstructExports',
    },
    runner,
  );
  for (const definition of blueprint.info.exports ?? []) {
    if (Object.hasOwn(mapped, definition.name)) await check(definition, mapped);
  }
  return select(installation, { ...values, ...mapped });
}

function select({ metadata, spec }: View<Installation>, values: JsonMap): ExportValues {
  const missing = (path: string, kind: string): never => {
    throw new ExportInvalid(
      `(inst: ${metadata.name}).internalExports.exports.${path}: ${kind} export is not defined`,
    );
  };
  const data = (spec.exports?.data ?? []).map(({ name, dataRef }) =>
    Object.hasOwn(values, name)
      ? { name, ref: dataRef, value: values[name] }
      : missing(`data.${name}`, 'data'),
  );
  const targets = (spec.exports?.targets ?? []).map(({ name, target = '' }) =>
    Object.hasOwn(values, name)
      ? targetValue(name, target, values[name], metadata.name)
      : missing(`targets.${name}`, 'target'),
  );
  return { data, targets };
}

// ---------------------------------------------------------------- checks

/** The problem of an export's value; undefined if it is valid. */
async function exportProblem(
  { name, type = '', schema, targetType }: View<ExportDefinition>,
  value: unknown,
  { blueprint, runner }: { readonly blueprint: LoadedBlueprint; readonly runner: TemplateRunner },
): Promise<string | undefined> {
  if (type === 'target') {
    const actual = ownField(value, 'type');
    if (typeof actual !== 'string') {
      return 'exported target does not match the expected target template schema: type is not found';
    }
    if (actual !== targetType) return `exported target type is ${actual} but expected ${targetType ?? ''}`;
    return undefined;
  }
  if (type !== 'data') return `unknown export type '${type}'`;
  if (schema === undefined) return `schema for data export "${name}" must not be empty`;
  const verdict = await runner.check({ schema, value, blueprint });
  if (verdict.kind === 'valid') return undefined;
  if (verdict.kind === 'unusable') return verdict.message;
  return `exported data does not satisfy the configured schema: ${verdict.message}`;
}

const exportedTarget = open({
  type: z.string(),
  config: anyJson().optional(),
  secretRef: open({ name: z.string(), key: z.string().optional() }).optional(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});

function targetValue(name: string, ref: string, value: unknown, installation: string): TargetExportValue {
  const fail = (why: string): never => {
    throw new ExportInvalid(
      `(inst: ${installation}).internalExports: target export "${name}" does not match the expected target template schema: ${why}`,
    );
  };
  const unknown = isObject(value)
    ? Object.keys(value).filter((key) => !Object.hasOwn(exportedTarget.shape, key))
    : [];
  if (unknown.length > 0) {
    return fail(
      `unknown field ${unknown.join(', ')}; a target has type, config or secretRef, labels and annotations`,
    );
  }
  const [config, secretRef] = [ownField(value, 'config'), ownField(value, 'secretRef')];
  const twice = aggregate(targetSpecProblems({ config, secretRef }, name));
  if (twice !== undefined) return fail(twice);
  try {
    return { name, ref, ...decode(exportedTarget, value, name) };
  } catch (error) {
    return fail((error as Error).message);
  }
}

const executionResult = open({ exports: anyObject() });

function decodeResult(output: unknown, execution: View<TemplateExecutor>): JsonMap {
  try {
    return decode(executionResult, output).exports;
  } catch (cause) {
    throw unreadableResult('export', execution, cause);
  }
}

/** Maps recursively; anything else is taken from `next`. */
function merged(base: unknown, next: unknown): unknown {
  if (!isObject(base) || !isObject(next)) return next;
  const result = { ...base };
  for (const [key, value] of Object.entries(next)) {
    define(result, key, Object.hasOwn(base, key) ? merged(base[key], value) : value);
  }
  return result;
}
