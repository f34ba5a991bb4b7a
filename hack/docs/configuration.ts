/** Generates the table of docs/configuration.md from the schema of the configuration file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configurationSchema } from '../../src/cli/configuration/schema.ts';

/** The parts of a JSON schema that are needed, with the metadata of the settings. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly anyOf?: readonly Shape[];
  readonly meaning?: string;
  readonly fallback?: string;
  readonly unused?: string;
  readonly isAlias?: boolean;
}

const HEAD = '| Key | Meaning | Default |\n|---|---|---|\n';
const PAGE = 'docs/configuration.md';

/** The page with its table regenerated. @throws Error if the page has no table, or a key has no description */
export function configurationPage(root: string): string {
  const page = readFileSync(join(root, PAGE), 'utf8');
  const start = page.indexOf(HEAD);
  if (start < 0) throw new Error(`${PAGE} has no table of keys`);
  const end = page.indexOf('\n\n', start);
  const rows = rowsOf(z.toJSONSchema(configurationSchema) as Shape, '');
  return page.slice(0, start) + HEAD + rows.join('\n') + page.slice(end);
}

function rowsOf(shape: Shape, path: string): readonly string[] {
  const { meaning, fallback = '', unused, isAlias } = shape;
  if (unused !== undefined || isAlias || path === 'apiVersion') return [];
  if (meaning !== undefined)
    return [`| \`${path}\` | ${meaning} | ${fallback}${fallback === '' ? '' : ' '}|`];
  const properties = shape.properties ?? shape.anyOf?.find((one) => one.properties)?.properties;
  if (!properties) throw new Error(`the configuration schema has no description of ${path}`);
  return Object.entries(properties).flatMap(([key, below]) =>
    rowsOf(below, path === '' ? key : `${path}.${key}`),
  );
}
