/** The JSON Schemas for editors: which there are, and what each is for. */
import type { z } from 'zod';
import { containerSchema } from '../../../deployers/container/config.ts';
import { helmSchema } from '../../../deployers/helm/schema.ts';
import { manifestSchema } from '../../../deployers/manifest/schema.ts';
import { mockSchema } from '../../../deployers/mock/config.ts';
import { blueprint, installationTemplate } from '../../api/blueprint.ts';
import { definitions } from '../../api/kinds.ts';
import type { Definition } from '../../api/shared.ts';
import { COMPONENT_FILE, componentFileSchema } from '../../components/component-file.ts';
import { SERVER_METADATA } from '../../workflow/shapes.ts';
import { configurationSchema } from '../configuration/schema.ts';
import { DIALECT, editorSchema, type Node } from './editor-schema.ts';

interface SchemaEntry {
  /** The argument of `espalier schemas`, and the file name. */
  readonly name: string;
  readonly about: string;
  readonly schema: Node;
}

const entry = (name: string, title: string, about: string, schema: z.ZodType): SchemaEntry => ({
  name,
  about,
  schema: { $schema: DIALECT, title, description: `${about}.`, ...withoutTitle(editorSchema(schema)) },
});

const withoutTitle = ({ title: _, description: __, ...rest }: Node): Node => rest;

/** Metadata of an object, with the fields that users write and those that API servers add. */
const metadata: Node = {
  type: 'object',
  description: 'Name, namespace, labels and annotations.',
  properties: {
    name: { type: 'string', description: 'Name, unique in the namespace.' },
    generateName: { type: 'string', description: 'Beginning of a name that the API server completes.' },
    namespace: { type: 'string', description: 'Namespace of the object.' },
    labels: { type: 'object', additionalProperties: { type: 'string' }, description: 'Labels.' },
    annotations: { type: 'object', additionalProperties: { type: 'string' }, description: 'Annotations.' },
    finalizers: { type: 'array', items: { type: 'string' }, description: 'What to wait for when deleting.' },
    ownerReferences: { type: 'array', items: { type: 'object' }, description: 'Objects that own this one.' },
    ...Object.fromEntries(SERVER_METADATA.map((field) => [field, { description: 'Set by the API server.' }])),
  },
  additionalProperties: false,
};

function ofKind({ kind, singular, description, schema }: Definition): SchemaEntry {
  const { schema: node, ...rest } = entry(singular, kind.kind, description.replace(/\.$/, ''), schema);
  const properties = {
    ...node.properties,
    apiVersion: { ...node.properties?.['apiVersion'], const: `${kind.group}/${kind.version}` },
    kind: { ...node.properties?.['kind'], const: kind.kind },
    metadata,
  };
  return { ...rest, schema: { ...node, properties } };
}

/** `espalier apply` adds the blueprint of a folder beside the file, so that the field may be absent in a file. */
function asApplied({ schema, ...rest }: SchemaEntry): SchemaEntry {
  const spec = schema.properties?.['spec'];
  const required = (spec?.['required'] ?? []) as readonly string[];
  if (!spec || !required.includes('blueprint')) return { ...rest, schema };
  const relaxed = { ...spec, required: required.filter((field) => field !== 'blueprint') };
  return { ...rest, schema: { ...schema, properties: { ...schema.properties, spec: relaxed } } };
}

const kinds = definitions.map(ofKind).map(asApplied);

/** One schema for files with objects of several kinds; objects of other groups are not checked. */
const objects: SchemaEntry = {
  name: 'objects',
  about: 'All objects of the API, for files with several kinds',
  schema: {
    $schema: DIALECT,
    title: 'Objects',
    description: 'All objects of the API, for files with several kinds.',
    type: 'object',
    allOf: kinds.map(({ name, schema: { $schema: _, ...schema } }) => ({
      if: {
        required: ['apiVersion', 'kind'],
        properties: {
          apiVersion: { const: ofField(schema, 'apiVersion') },
          kind: { const: ofField(schema, 'kind') },
        },
      },
      then: { $ref: `#/definitions/${name}` },
    })),
    definitions: Object.fromEntries(
      kinds.map(({ name, schema: { $schema: _, ...schema } }) => [name, schema]),
    ),
  },
};

function ofField({ properties }: Node, field: string): unknown {
  return properties?.[field]?.['const'];
}

export const schemas: readonly SchemaEntry[] = [
  entry('blueprint', 'Blueprint', 'blueprint.yaml of a blueprint', blueprint),
  entry(
    'installationtemplate',
    'InstallationTemplate',
    'A sub-installation in a file of a blueprint',
    installationTemplate,
  ),
  ...kinds,
  objects,
  entry(
    'manifest',
    'Configuration of manifest items',
    'Configuration of deploy items of the manifest deployer',
    manifestSchema,
  ),
  entry(
    'helm',
    'Configuration of helm items',
    'Configuration of deploy items of the helm deployer',
    helmSchema,
  ),
  entry(
    'container',
    'Configuration of container items',
    'Configuration of deploy items of the container deployer',
    containerSchema,
  ),
  entry(
    'mock',
    'Configuration of mock items',
    'Configuration of deploy items of the mock deployer',
    mockSchema,
  ),
  entry(
    'component',
    'Component',
    `${COMPONENT_FILE} of a folder that is packed as a component`,
    componentFileSchema,
  ),
  entry('configuration', 'Configuration', 'Configuration file of Espalier (--config)', configurationSchema),
];
