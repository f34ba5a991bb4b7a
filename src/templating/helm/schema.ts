/** `values.schema.json`: the values of a chart and its dependencies against what their schemas ask for. */
import { Ajv, type AnySchema, type ErrorObject } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { RE2JS } from 're2js';
import { isObject, ownField, type Fields } from '../../lib/objects.ts';
import type { Chart } from './chart.ts';
import { ValuesInvalid } from './errors.ts';

/**
 * Names the chart, the place and the rule, never the value.
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
    if (isObject(inner)) lines.push(...complaintsOf(dependency, inner));
  }
  return lines;
}

const addFormats = addFormatsModule as unknown as (instance: Ajv) => void;

/** Patterns are linear in time; ajv tells expressions apart by their text. */
const regExp = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    return { test: (text: string) => expression.matcher(text).find(), toString: () => `/${pattern}/` };
  },
  { code: 'undefined' },
);

function validatorFor(dialect: string): Ajv {
  const options = {
    strict: false,
    allErrors: true,
    logger: false,
    addUsedSchema: false,
    code: { regExp },
  } as const;
  const ajv = dialect.includes('2020-12')
    ? new Ajv2020(options)
    : dialect.includes('2019-09')
      ? new Ajv2019(options)
      : new Ajv(options);
  addFormats(ajv);
  return ajv;
}

function against(schema: Uint8Array, values: Fields): readonly string[] {
  try {
    const parsed = JSON.parse(Buffer.from(schema).toString('utf8')) as unknown;
    const dialect = ownField(parsed, '$schema');
    const isOld = typeof dialect === 'string' && /draft-0[46]/.test(dialect);
    const readable = isOld && isObject(parsed) ? { ...parsed, $schema: undefined } : parsed;
    const validate = validatorFor(typeof dialect === 'string' ? dialect : '2020-12').compile(
      readable as AnySchema,
    );
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
