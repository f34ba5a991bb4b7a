/** `values.schema.json`: validates the values of a chart and its dependencies. */
import { parseBoundedJson } from '../../lib/json-bounds.ts';
import type { AnySchema, ErrorObject } from 'ajv';
import { define } from '../../lib/json.ts';
import { append } from '../../lib/lists.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { newHelmAjv } from '../ajvs.ts';
import type { Chart } from './chart.ts';
import { ValuesInvalid } from './errors.ts';
import { prepareSchema } from './schema-draft.ts';

/**
 * The message names the chart, the path and the rule, never the value.
 * @throws ValuesInvalid
 */
export function checkValues(chart: Chart, values: Fields): void {
  const complaints = complaintsOf(chart, values);
  if (complaints.length === 0) return;
  throw new ValuesInvalid(
    `values don't meet the specifications of the schema(s) in the following chart(s):\n${complaints.join('\n')}`,
  );
}

function complaintsOf(chart: Chart, values: Fields): readonly string[] {
  const { name } = chart.metadata;
  const own = chart.schema ? against(chart.schema, values) : [];
  const lines = own.length > 0 ? [`${name}:`, ...own] : [];
  for (const dependency of chart.dependencies) {
    const inner = ownField(values, dependency.metadata.name) ?? null;
    if (isObject(inner)) append(lines, complaintsOf(dependency, inner));
    else if (inner !== null)
      append(lines, [`${dependency.metadata.name}:`, 'the values of the subchart must be a map']);
  }
  return lines;
}

function against(content: Uint8Array, values: Fields): readonly string[] {
  try {
    const { schema, dialect, checksFormats } = prepareSchema(
      parseBoundedJson(Buffer.from(content).toString('utf8')),
    );
    const validate = newHelmAjv(dialect, checksFormats).compile(schema as AnySchema);
    return validate(inDoubles(values)) ? [] : (validate.errors ?? []).map(complaint);
  } catch (error) {
    return [`the schema cannot be used: ${(error as Error).message}`];
  }
}

/** Ajv knows no other integers. */
function inDoubles(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(inDoubles);
  if (!isObject(value)) return value;
  const result: Fields = {};
  for (const [key, field] of Object.entries(value)) define(result, key, inDoubles(field));
  return result;
}

function complaint({ instancePath, message, params }: ErrorObject): string {
  const unknown = (params as { additionalProperty?: string }).additionalProperty;
  const more = unknown === undefined ? '' : ` "${unknown}"`;
  return `- at '${instancePath}': ${message ?? 'is not valid'}${more}`;
}
