/**
 * Converts zod schemas to JSON Schemas (draft 7) for editors: fields that no schema has are errors, and the documentation
 * of the fields is in their descriptions.
 */
import { z } from 'zod';
import { isObject } from '../../lib/objects.ts';

/** A JSON Schema. */
export interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly [keyword: string]: unknown;
}

export const DIALECT = 'http://json-schema.org/draft-07/schema#';

/** Keywords whose value is one schema, a list of schemas, or a map of schemas. */
const ONE = ['items', 'additionalProperties'];
const LISTS = ['anyOf', 'oneOf', 'allOf'];
const MAPS = ['properties', 'definitions'];

/** Of zod and of our own schemas; they mean nothing to an editor. */
const DROPPED = new Set([
  '$schema',
  'propertyNames',
  'nullable',
  'x-kubernetes-embedded-resource',
  'isOpen',
  'meaning',
  'fallback',
  'unused',
  'isAlias',
]);
/** Formats that validators know; others are those of Go. */
const FORMATS = new Set(['date-time', 'uri']);

export const editorSchema = (schema: z.ZodType): Node =>
  converted(z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' }) as Node);

function converted(node: Node): Node {
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (DROPPED.has(keyword) || isJavaScriptBound(value)) continue;
    if (keyword === 'format' && !FORMATS.has(String(value))) continue;
    if (ONE.includes(keyword)) result[keyword] = isObject(value) ? converted(value) : value;
    else if (LISTS.includes(keyword)) result[keyword] = (value as readonly Node[]).map(converted);
    else if (MAPS.includes(keyword)) result[keyword] = mapped(value as Readonly<Record<string, Node>>);
    else result[keyword] = value;
  }
  if (node.properties && node['isOpen'] !== true) result['additionalProperties'] = false;
  return { ...result, ...documentation(node) };
}

const mapped = (schemas: Readonly<Record<string, Node>>): Readonly<Record<string, Node>> =>
  Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, converted(schema)]));

/** zod limits integers to those of JavaScript. */
const isJavaScriptBound = (value: unknown): boolean =>
  typeof value === 'number' && Math.abs(value) === Number.MAX_SAFE_INTEGER;

/** Keys of the configuration file are documented in Markdown, with their default value as text. */
function documentation({ meaning, fallback, unused, isAlias }: Node): object {
  if (typeof unused === 'string') return { description: `Has no effect: ${unused}.`, deprecated: true };
  if (isAlias === true) return { description: 'Another name for a key.', deprecated: true };
  if (typeof meaning === 'string') {
    const usual = typeof fallback === 'string' && fallback !== '' ? ` Default: ${fallback}.` : '';
    return { description: `${plain(meaning)}.${plain(usual)}` };
  }
  return fallback === undefined ? {} : { default: fallback };
}

/** Without links and code marks. */
const plain = (markdown: string): string =>
  markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
