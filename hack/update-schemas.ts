/**
 * Writes the JSON Schemas for editors into the folder schemas; with --check only reports whether they are up to date.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { schemas } from '../src/cli/schemas/catalogue.ts';

const folder = join(import.meta.dirname, '..', 'schemas');
const wanted = new Map<string, string>();
for (const { name, schema } of schemas) {
  const file = `${name}.json`;
  const options = { ...(await resolveConfig(join(folder, file))), parser: 'json' };
  wanted.set(file, await format(JSON.stringify(schema, name === 'objects' ? beside : undefined), options));
}

/** Schemas of kinds are files in the same folder, so the one of all kinds refers to these instead of containing them. */
function beside(key: string, value: unknown): unknown {
  if (key === 'definitions') return undefined;
  return key === '$ref' ? String(value).replace(/^#\/definitions\/(.*)$/, '$1.json') : value;
}

mkdirSync(folder, { recursive: true });
const present = readdirSync(folder);
const changed = [...wanted].filter(
  ([file, text]) => !present.includes(file) || readFileSync(join(folder, file), 'utf8') !== text,
);
const surplus = present.filter((file) => !wanted.has(file));
if (process.argv.includes('--check')) {
  for (const file of [...changed.map(([name]) => name), ...surplus]) {
    process.stderr.write(`schemas/${file} is out of date: run "make generate"\n`);
    process.exitCode = 1;
  }
} else {
  for (const [file, text] of changed) writeFileSync(join(folder, file), text);
  for (const file of surplus) rmSync(join(folder, file));
}
