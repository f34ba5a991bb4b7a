/**
 * Schemas of the documents inside a blueprint: the blueprint itself, installation templates, and the results of
 * templates. They have no CRDs.
 */
import { z } from 'zod';
import { onDelete } from './kinds/execution.ts';
import { dataMappings, installationExports, optimization, targetImport } from './kinds/installation.ts';
import { anyJson, anyObject, duration, open } from './shared.ts';

/** File at the root of every blueprint. */
export const BLUEPRINT_FILE = 'blueprint.yaml';
export const BLUEPRINT_KIND = 'Blueprint';
export const INSTALLATION_TEMPLATE_KIND = 'InstallationTemplate';

/** A JSON schema; `true` and `false` are schemas too. */
const jsonSchema = z.union([anyObject(), z.boolean()]);

// ---------------------------------------------------------------- imports and exports

export const importTypes = ['data', 'target', 'targetList', 'targetMap'] as const;
export const exportTypes = ['data', 'target'] as const;

const importDefinition = open({
  name: z.string().describe('Key of the value in the templates.'),
  type: z
    .string()
    .meta({ enum: importTypes })
    .optional()
    .describe(
      'data, target, targetList or targetMap. Default: data with a schema, target with a target type.',
    ),
  schema: jsonSchema.optional().describe('Schema of the data. Required for type data.'),
  targetType: z.string().optional().describe('Type every target must have. Required for targets.'),
  required: z.boolean().optional().describe('Whether a value is required. Default true.'),
  default: open({ value: anyJson().describe('The value; null means none.') })
    .optional()
    .describe('Default value. Only if the import is not required.'),
  get imports(): z.ZodOptional<z.ZodArray<z.ZodType<ImportDefinition>>> {
    return z.array(importDefinition).optional().describe('Imports that exist only if this one has a value.');
  },
});
export interface ImportDefinition {
  name: string;
  type?: string | undefined;
  schema?: Record<string, unknown> | boolean | undefined;
  targetType?: string | undefined;
  required?: boolean | undefined;
  default?: { value?: unknown } | undefined;
  /** Imports that exist only if this one has a value. */
  imports?: ImportDefinition[] | undefined;
}

const exportDefinition = open({
  name: z.string().describe('Key of the value among the results of the export executions.'),
  type: z
    .string()
    .meta({ enum: exportTypes })
    .optional()
    .describe('data or target. Default: data with a schema, target with a target type.'),
  schema: jsonSchema.optional().describe('Schema of the data. Required for type data.'),
  targetType: z.string().optional().describe('Type the target must have. Required for targets.'),
});
export type ExportDefinition = z.infer<typeof exportDefinition>;

// ---------------------------------------------------------------- executions

export const templateTypes = ['GoTemplate', 'Spiff', 'Handlebars'] as const;

const templateExecutor = open({
  name: z.string().optional().describe('Name for messages and for stored state.'),
  type: z.string().meta({ enum: templateTypes }).describe('GoTemplate, Spiff or Handlebars.'),
  template: anyJson().optional().describe('The template: a string, for Spiff also a tree. Wins over file.'),
  file: z.string().optional().describe('Path of the template within the blueprint.'),
});
export type TemplateExecutor = z.infer<typeof templateExecutor>;

// ---------------------------------------------------------------- sub-installations

export const installationTemplate = open({
  apiVersion: z.string().optional().describe('landscaper.gardener.cloud/v1alpha1.'),
  kind: z.string().optional().describe('Always InstallationTemplate.'),
  name: z.string().describe('Name of the sub-installation, unique in the blueprint.'),
  blueprint: open({
    ref: z.string().optional().describe('Where the blueprint is in the component: cd://resources/…'),
    filesystem: anyJson()
      .optional()
      .describe('Files of the blueprint as a tree: maps are folders, strings are files.'),
  }).describe('Exactly one of ref and filesystem.'),
  imports: open({
    data: z
      .array(
        open({
          name: z.string().describe('Name of the import in the blueprint of the sub-installation.'),
          dataRef: z.string().optional().describe('Import of the parent, or export of a sibling.'),
        }),
      )
      .optional()
      .describe('Imported data.'),
    targets: z.array(targetImport).optional().describe('Imported targets.'),
  })
    .optional()
    .describe('Imports from the parent and from siblings.'),
  importDataMappings: dataMappings.optional().describe('Computes imports from the imported values.'),
  exports: installationExports.optional().describe('Exports to the parent and to siblings.'),
  exportDataMappings: dataMappings.optional().describe('Computes exports.'),
  optimization: optimization
    .optional()
    .describe(
      'Declares that there are no dependencies between siblings, so that controllers need not look for them.',
    ),
});
export type InstallationTemplate = z.infer<typeof installationTemplate>;

/** An entry of `subinstallations`: a template, or the path of a file that contains one. */
const subinstallationEntry = z.union([
  open({ file: z.string().describe('Path of an InstallationTemplate within the blueprint.') }),
  installationTemplate,
]);

// ---------------------------------------------------------------- blueprint

export const blueprint = open({
  apiVersion: z.string().describe('landscaper.gardener.cloud/v1alpha1.'),
  kind: z.literal(BLUEPRINT_KIND).describe('Always Blueprint.'),
  annotations: z
    .record(z.string(), z.string())
    .optional()
    .describe('ocmSchemaVersion chooses the shape of component descriptors in templates.'),
  jsonSchemaVersion: z.string().optional().describe('Kept for compatibility.'),
  jsonSchema: anyJson().optional().describe("In upstream's examples; has no effect."),
  localTypes: z.record(z.string(), jsonSchema).optional().describe('Schemas that local://name refers to.'),
  imports: z
    .array(importDefinition as z.ZodType<ImportDefinition>)
    .optional()
    .describe('Data and targets that the blueprint needs.'),
  importExecutions: z
    .array(templateExecutor)
    .optional()
    .describe('Check imports and derive values from them.'),
  subinstallations: z.array(subinstallationEntry).optional().describe('Sub-installations.'),
  subinstallationExecutions: z.array(templateExecutor).optional().describe('Produce sub-installations.'),
  deployExecutions: z.array(templateExecutor).optional().describe('Produce deploy items.'),
  exportExecutions: z.array(templateExecutor).optional().describe('Produce the values of exports.'),
  exports: z.array(exportDefinition).optional().describe('Data and targets that the blueprint provides.'),
});
export type Blueprint = z.infer<typeof blueprint>;

// ---------------------------------------------------------------- results of templates

export const deployItemSpecification = open({
  name: z.string().describe('Name of the item, unique in the blueprint.'),
  type: z.string().describe('Type of the item; selects the deployer.'),
  target: open({
    import: z.string().optional().describe('Target import, list import or map import of the blueprint.'),
    index: z.int().optional().describe('Position in the list.'),
    key: z.string().optional().describe('Key in the map.'),
    name: z.string().optional().describe('Name of a target object. Deprecated.'),
  }).nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
  config: anyObject().optional().describe('Provider configuration.'),
  dependsOn: z.array(z.string()).nullish().describe('Items that must have succeeded before.'),
  timeout: duration().optional(),
  updateOnChangeOnly: z.boolean().optional(),
  onDelete: onDelete.nullish(),
});

export const deployExecutionResult = open({ deployItems: z.array(deployItemSpecification).nullish() });
