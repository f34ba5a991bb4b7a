/** `values.schema.json`: validates the values of a chart and its dependencies. */
import { parseBoundedJson } from '../../lib/json-bounds.ts';
import type { AnySchema, ErrorObject } from 'ajv';
import { append } from '../../lib/lists.ts';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import { newAjv, type Dialect } from '../ajvs.ts';
import type { Chart } from './chart.ts';
import { ValuesInvalid } from './errors.ts';

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
    const inner = ownField(values, dependency.metadata.name);
    if (isObject(inner)) append(lines, complaintsOf(dependency, inner));
  }
  return lines;
}

/** The draft that the schema names; draft 7 for older ones. */
function dialectOf(name: string): Dialect {
  if (name.includes('2020-12')) return '2020-12';
  return name.includes('2019-09') ? '2019-09' : 'draft-07';
}

function against(schema: Uint8Array, values: Fields): readonly string[] {
  try {
    const parsed = parseBoundedJson(Buffer.from(schema).toString('utf8'));
    const dialect = ownField(parsed, '$schema');
    const isOld = typeof dialect === 'string' && /draft-0[46]/.test(dialect);
    const readable = isOld && isObject(parsed) ? { ...parsed, $schema: undefined } : parsed;
    const ajv = newAjv(dialectOf(typeof dialect === 'string' ? dialect : '2020-12'));
    const validate = ajv.compile(readable as AnySchema);
    return validate(values) ? [] : (validate.errors ?? []).map(complaint);
  } catch (error) {
    return [`the schema cannot be used: ${(error as Error).message}`];
  }
}

function complaint({ instancePath, message, params }: ErrorObject): string {
  const unknown = (params as { additionalProperty?: string }).additionalProperty;
  const more = unknown === undefined ? '' : ` "${unknown}"`;
  return `- at '${instancePath}': ${message ?? 'is not valid'}${more}`;
}
