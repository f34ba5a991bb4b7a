/** Generates docs/fields.md: all fields of the files that users write, and all annotations, labels and conditions. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conditionTypes } from '../../src/api/conditions.ts';
import { annotations, labels } from '../../src/api/labels.ts';
import { schemas } from '../../src/cli/schemas/catalogue.ts';

/** The parts of a JSON Schema that the page shows. */
interface Shape {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly additionalProperties?: Shape | boolean;
  readonly anyOf?: readonly Shape[];
}

/** Schemas with pages of their own, or without fields of their own. */
const ELSEWHERE = ['configuration', 'objects'];
/** The same in all objects. */
const COMMON = ['apiVersion', 'kind', 'metadata'];

const INTRODUCTION = `# Fields

All fields of the files that users write, and all annotations, labels and conditions of the objects. This page is generated from the
schemas that Espalier itself uses; \`kubectl explain\` shows the same descriptions for the kinds. For examples see
[Installations](installations.md); for completion in editors see [editors.md](editors.md). The keys of the configuration file are in
[configuration.md](configuration.md).

\`[]\` stands for each element of a list, \`{}\` for each value of a map. Fields in **bold** are required.
`;

export function fieldsPage(root: string): string {
  const shown = schemas.filter(({ name }) => !ELSEWHERE.includes(name));
  const sections = shown.map(({ name, about, schema }) => section(name, about, schema as Shape));
  return [INTRODUCTION, ...sections, ...wireNames(root)].join('\n');
}

function section(name: string, about: string, schema: Shape): string {
  const rows = rowsOf(schema, '').filter(([path]) => !COMMON.includes(path.split('.')[0] ?? ''));
  return [
    `## ${schema.title ?? name}\n`,
    `${about.replace(/\.$/, '')}. Schema: \`espalier schemas ${name}\`.\n`,
    '| Field | Type | Meaning |\n|---|---|---|',
    ...rows.map(([path, type, meaning, isRequired]) => {
      const field = isRequired ? `**\`${path}\`**` : `\`${path}\``;
      return `| ${field} | ${cell(type)} | ${cell(meaning)} |`;
    }),
    '',
  ].join('\n');
}

type Row = readonly [path: string, type: string, meaning: string, isRequired: boolean];

/** A row for each field, in the order of the schema; the fields of a field follow it. */
function rowsOf(shape: Shape, path: string): readonly Row[] {
  const { properties = {}, required = [] } = shape;
  return Object.entries(properties).flatMap(([key, field]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return [[at, typeOf(field), meaningOf(field), required.includes(key)] as const, ...below(field, at)];
  });
}

function below(shape: Shape, path: string): readonly Row[] {
  const { items, additionalProperties, anyOf = [] } = shape;
  return [
    ...rowsOf(shape, path),
    ...(items ? below(items, `${path}[]`) : []),
    ...(typeof additionalProperties === 'object' ? below(additionalProperties, `${path}{}`) : []),
    // The fields of one alternative are not required by the others.
    ...anyOf.flatMap((one) =>
      below(one, path).map(([at, type, meaning]) => [at, type, meaning, false] as const),
    ),
  ];
}

function typeOf({ type, anyOf, items, additionalProperties, enum: values, format }: Shape): string {
  if (values) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${plural(items ? typeOf(items) : 'any value')}`;
  if (type === 'object')
    return typeof additionalProperties === 'object'
      ? `map of ${plural(typeOf(additionalProperties))}`
      : 'object';
  if (type === undefined) return 'any value';
  return format === 'date-time' ? 'time' : [type].flat().join(' or ');
}

const plural = (type: string): string =>
  /^(string|object|integer|number|boolean|time|any value)$/.test(type) ? `${type}s` : type;

const meaningOf = ({ description = '', default: usual }: Shape): string =>
  usual === undefined ? description : `${description} Default \`${JSON.stringify(usual)}\`.`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

// ---------------------------------------------------------------- names on the wire

function wireNames(root: string): readonly string[] {
  const read = (file: string): string => readFileSync(join(root, 'src/api', file), 'utf8');
  const [names, conditions] = [read('labels.ts'), read('conditions.ts')];
  return [
    nameTable('Annotations', annotations, commentsIn(names, 'annotations')),
    nameTable('Labels', labels, commentsIn(names, 'labels')),
    nameTable('Conditions', conditionTypes, commentsIn(conditions, 'conditionTypes')),
  ];
}

function nameTable(
  title: string,
  values: Readonly<Record<string, string>>,
  comments: ReadonlyMap<string, string>,
): string {
  const rows = Object.entries(values).map(([key, value]) => {
    const comment = comments.get(key);
    if (comment === undefined) throw new Error(`src/api has no comment on ${title.toLowerCase()}.${key}`);
    return `| \`${value}\` | ${cell(comment)} |`;
  });
  return [`## ${title}\n`, '| Name | Meaning |\n|---|---|', ...rows, ''].join('\n');
}

/** The comment before each field of an exported constant. */
function commentsIn(source: string, constant: string): ReadonlyMap<string, string> {
  const [, body = ''] = new RegExp(`export const ${constant} = \\{\\n(.*?)\\n\\}`, 's').exec(source) ?? [];
  return new Map(
    [...body.matchAll(/\/\*\*(.*?)\*\/\s*(\w+):/gs)].map(([, comment = '', key = '']) => [
      key,
      comment.replaceAll(/\n\s*\*/g, ' '),
    ]),
  );
}
