/** JSON schema validators, one Ajv class for each draft; all of them support the formats. */
import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { RE2JS } from 're2js';

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
const addFormats = addFormatsModule as unknown as (instance: Ajv) => void;

/** Ajv remembers every `$id` in its schemas, so schemas with ids need separate instances. */
export function newAjv(dialect: Dialect): Ajv {
  const ajv = new classes[dialect](options);
  addFormats(ajv);
  return ajv;
}
