/** Validators of JSON schemas, one class for each draft; formats are known to all of them. */
import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { RE2JS } from 're2js';

export type Dialect = 'draft-07' | '2019-09' | '2020-12';

/**
 * Patterns are RE2, as upstream: linear in time, and without look-around. Ajv keeps expressions apart by their text,
 * so without `toString` all patterns would be the first one.
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

/** It remembers every `$id` within the schemas it has seen, so schemas that have some must not share one. */
export function newAjv(dialect: Dialect): Ajv {
  const ajv = new classes[dialect](options);
  addFormats(ajv);
  return ajv;
}
