/** JSON schema validators, one Ajv class for each draft; all of them support the formats. */
import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatName, type FormatsPluginOptions } from 'ajv-formats';
import { RE2JS } from 're2js';
import { isMultipleOf } from '../lib/decimals.ts';
import { parseUrl, type GoUrl } from './go/url.ts';

export type Dialect = 'draft-07' | '2019-09' | '2020-12';

/**
 * Patterns are RE2, as in upstream: linear time, no look-around. Ajv caches expressions by their string form, so
 * without `toString` all patterns would share the first one's cache entry.
 */
const re2 = Object.assign(
  (pattern: string) => {
    const expression = RE2JS.compile(pattern);
    return { test: (text: string) => expression.matcher(text).find(), toString: () => `/${pattern}/` };
  },
  { code: 'undefined' },
);

const options: Options = {
  strict: false,
  allErrors: true,
  verbose: true,
  logger: false,
  addUsedSchema: false,
  code: { regExp: re2 },
};
const classes = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 } as const;
const addFormats = addFormatsModule as unknown as (instance: Ajv, options?: FormatsPluginOptions) => void;

/**
 * The formats that Helm knows; those of Ajv, except for addresses, where Go's parser accepts more. All others are
 * annotations.
 */
const HELM_FORMATS: readonly FormatName[] = [
  'json-pointer',
  'relative-json-pointer',
  'uuid',
  'duration',
  'ipv4',
  'ipv6',
  'hostname',
  'email',
  'date',
  'time',
  'date-time',
  'regex',
  'uri-template',
];

function parsedUrl(text: string): GoUrl | undefined {
  try {
    return parseUrl(text);
  } catch {
    return undefined;
  }
}

function isRegex(text: string): boolean {
  try {
    return RE2JS.compile(text) !== undefined;
  } catch {
    return false;
  }
}

function isVersion(text: string): boolean {
  return /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[\w.-]+)?(\+[\w.-]+)?$/.test(text);
}

/** A validator as Helm has it: own fields of objects only, exact multiples, and formats only if they are checked. */
export function newHelmAjv(dialect: Dialect, checksFormats: boolean): Ajv {
  const ajv = new classes[dialect]({ ...options, ownProperties: true, validateFormats: checksFormats });
  addFormats(ajv, { mode: 'full', formats: [...HELM_FORMATS] });
  const isAddress = (text: string): boolean => (parsedUrl(text)?.scheme ?? '') !== '';
  const isReference = (text: string): boolean => !text.includes('\\') && parsedUrl(text) !== undefined;
  for (const name of ['uri', 'iri']) ajv.addFormat(name, isAddress);
  for (const name of ['uri-reference', 'iri-reference']) ajv.addFormat(name, isReference);
  ajv.addFormat('regex', isRegex).addFormat('semver', isVersion);
  ajv.removeKeyword('multipleOf').addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isMultipleOf(value, factor),
    error: { message: ({ schema }: { schema: unknown }) => `must be multiple of ${String(schema)}` },
  });
  return ajv;
}

/** Ajv remembers every `$id` in its schemas, so schemas with ids need separate instances. */
export function newAjv(dialect: Dialect): Ajv {
  const ajv = new classes[dialect](options);
  addFormats(ajv);
  return ajv;
}
