/** Which schema a document has, and what it says about a field. Pure. */
import { basename } from 'node:path';
import { BLUEPRINT_FILE, INSTALLATION_TEMPLATE_KIND } from '../../api/blueprint.ts';
import { COMPONENT_FILE } from '../../components/component-file.ts';
import { isObject, table } from '../../lib/objects.ts';
import type { Node } from '../schemas/editor-schema.ts';
import { ELEMENT, type FieldPath } from './position.ts';

export interface NamedSchema {
  readonly name: string;
  readonly schema: Node;
}

const byFile: Readonly<Record<string, string>> = table({
  [BLUEPRINT_FILE]: 'blueprint',
  [COMPONENT_FILE]: 'component',
});

/** @param lines of the document; @returns undefined if there is no schema for it */
export function schemaFor(
  file: string,
  lines: readonly string[],
  schemas: readonly NamedSchema[],
): Node | undefined {
  const name = byFile[basename(file)];
  if (name !== undefined) return schemas.find((one) => one.name === name)?.schema;
  const field = (key: string): string | undefined =>
    lines.map((line) => new RegExp(`^${key}: *["']?([\\w./-]+)["']? *(#.*)?$`).exec(line)?.[1]).find(Boolean);
  if (isInstallationTemplate(lines)) return schemas.find((one) => one.name === TEMPLATE)?.schema;
  const [kind, apiVersion] = [field('kind'), field('apiVersion')];
  const isMeant = ({ schema }: NamedSchema): boolean =>
    schema.properties?.['kind']?.['const'] === kind &&
    [undefined, apiVersion].includes(schema.properties?.['apiVersion']?.['const'] as string | undefined);
  return kind === undefined ? undefined : schemas.find(isMeant)?.schema;
}

const TEMPLATE = 'installationtemplate';

/** The kind is optional; a template without it has a name and a blueprint. */
function isInstallationTemplate(lines: readonly string[]): boolean {
  const kind = lines.map((line) => /^kind: *["']?(\w+)/.exec(line)?.[1]).find(Boolean);
  if (kind !== undefined) return kind === INSTALLATION_TEMPLATE_KIND;
  return ['name', 'blueprint'].every((key) => lines.some((line) => line.startsWith(`${key}:`)));
}

/** The part of a path below a document that is a string in another one, and the schema of that document. */
interface Inner {
  readonly schema: Node;
  readonly path: FieldPath;
}

/**
 * The innermost document at a path: a blueprint or a template of a sub-installation among the files of an inline
 * blueprint, or the result of a template for sub-installations.
 * @param blockOf the lines of the innermost block below a field of that name, without their indentation
 */
export function innerDocument(
  path: FieldPath,
  schemas: readonly NamedSchema[],
  blockOf: (name: string) => readonly string[],
): Inner | undefined {
  const find = (name: string): Node | undefined => schemas.find((one) => one.name === name)?.schema;
  for (let end = path.length; end > 0; end--) {
    const name = path[end - 1] ?? '';
    const above = path.slice(0, end - 1);
    const isFile = above.includes('filesystem');
    const schema =
      isFile && name === BLUEPRINT_FILE
        ? find('blueprint')
        : isFile && /\.ya?ml$/.test(name)
          ? isInstallationTemplate(blockOf(name)) && find(TEMPLATE)
          : name === 'template' && above.at(-2) === 'subinstallationExecutions' && resultOf(find(TEMPLATE));
    if (schema) return { schema, path: path.slice(end) };
  }
  return undefined;
}

/** The result of `subinstallationExecutions`. */
const resultOf = (template: Node | undefined): Node | undefined =>
  template && {
    properties: { subinstallations: { description: 'Sub-installations.', items: template } },
    definitions: template['definitions'],
  };

/** All schemas of the value at a path: several if the schema has alternatives. */
export function schemasAt(root: Node, path: FieldPath): readonly Node[] {
  return path.reduce<readonly Node[]>(
    (nodes, step) => nodes.flatMap((node) => below(node, step)).flatMap((node) => alternatives(node, root)),
    alternatives(root, root),
  );
}

function below(node: Node, step: string): readonly Node[] {
  if (step === ELEMENT) return isObject(node['items']) ? [node['items']] : [];
  const property = Object.hasOwn(node.properties ?? {}, step) ? node.properties?.[step] : undefined;
  if (property) return [property];
  return isObject(node['additionalProperties']) ? [node['additionalProperties']] : [];
}

const LISTS = ['anyOf', 'oneOf', 'allOf'];

/** A schema and those that it consists of. The schemas of our files are not recursive without a field between. */
function alternatives(node: Node, root: Node): readonly Node[] {
  const ref = node['$ref'];
  const [, name = ''] = typeof ref === 'string' ? (/^#\/definitions\/(.*)$/.exec(ref) ?? []) : [];
  const definitions = root['definitions'] as Readonly<Record<string, Node>> | undefined;
  const target = definitions?.[name];
  const lists = LISTS.flatMap((keyword) => (node[keyword] ?? []) as readonly Node[]);
  return [node, ...[...(target ? [target] : []), ...lists].flatMap((one) => alternatives(one, root))];
}

/** The names of all fields, each with its schema. */
export const fieldsOf = (nodes: readonly Node[]): ReadonlyMap<string, Node> =>
  new Map(nodes.flatMap(({ properties }) => Object.entries(properties ?? {})));

/** The values that a field can have, if they are known. */
export const valuesOf = (nodes: readonly Node[]): readonly string[] =>
  [
    ...new Set(
      nodes.flatMap(({ enum: known, const: only, type }): readonly unknown[] => {
        if (Array.isArray(known)) return known;
        if (only !== undefined) return [only];
        return type === 'boolean' ? [true, false] : [];
      }),
    ),
  ].map(String);

/** Markdown; undefined if the schema says nothing. */
export function documentationOf(nodes: readonly Node[]): string | undefined {
  const description = nodes.map((node) => node['description']).find((one) => typeof one === 'string');
  const values = valuesOf(nodes);
  const fallback = nodes.map((node) => node['default']).find((one) => one !== undefined);
  const lines = [
    ...(description === undefined ? [] : [description]),
    ...(values.length > 0 ? [`Values: ${values.map((value) => `\`${value}\``).join(', ')}.`] : []),
    ...(fallback === undefined ? [] : [`Default: \`${JSON.stringify(fallback)}\`.`]),
  ];
  return lines.length === 0 ? undefined : lines.join('\n\n');
}
