/** Installation: renders one blueprint into sub-installations and an execution, and transfers imports and exports. */
import { z } from 'zod';
import { installationKind } from '../landscaper-kinds.ts';
import {
  ageColumn,
  anyJson,
  anyObject,
  duration,
  int32,
  int64,
  jobStatus,
  localKeyReference,
  nameMapping,
  objectName,
  objectOf,
  objectReference,
  open,
  finishedColumn,
  jobColumn,
  annotationColumn,
  deletedColumn,
  messageColumn,
  phaseColumn,
  phaseTransitionTime,
  time,
  type Definition,
} from '../shared.ts';
import { CATEGORY, annotations } from '../labels.ts';

// ---------------------------------------------------------------- component and blueprint

const componentDescriptorReference = open({
  repositoryContext: anyObject()
    .optional()
    .describe('Repository that holds the component. Default: the repository of the Context object.'),
  componentName: z.string().describe('Name of the component.'),
  version: z.string().describe('Version of the component.'),
});

const componentDescriptorDefinition = open({
  ref: componentDescriptorReference.optional().describe('The component version in a repository.'),
  inline: anyObject().optional().describe('The component descriptor itself. Wins over ref.'),
});
export type ComponentDescriptorDefinition = z.infer<typeof componentDescriptorDefinition>;

const blueprintDefinition = open({
  ref: open({
    resourceName: z.string().describe('Name of a resource of the component that contains the blueprint.'),
  })
    .optional()
    .describe('A blueprint in the component. Exactly one of ref and inline must be given.'),
  inline: open({
    filesystem: anyJson().describe('Files of the blueprint as a tree: maps are folders, strings are files.'),
  })
    .optional()
    .describe('An inline blueprint.'),
});
export type BlueprintDefinition = z.infer<typeof blueprintDefinition>;

// ---------------------------------------------------------------- imports and exports

const dataImport = open({
  name: z.string().describe('Name of the import in the blueprint.'),
  version: z.string().optional().describe('Not used; kept for compatibility.'),
  dataRef: z
    .string()
    .optional()
    .describe(
      'Name of a data object in the scope of the parent. Exactly one of the references must be given.',
    ),
  secretRef: localKeyReference.optional().describe('Secret of the same namespace to read from.'),
  configMapRef: localKeyReference.optional().describe('Config map of the same namespace to read from.'),
});
export type DataImport = z.infer<typeof dataImport>;

export const targetImport = open({
  name: z.string().describe('Name of the import in the blueprint.'),
  target: z
    .string()
    .optional()
    .describe('Name of one target in the scope of the parent. Exactly one of the forms must be given.'),
  targets: z
    .array(z.string())
    .optional()
    .describe('Names of targets that together form a list. An empty list is an import too.'),
  targetListRef: z.string().optional().describe('Name of a target list that the parent imports.'),
  targetMap: z
    .record(z.string(), z.string())
    .optional()
    .describe('Names of targets that together form a map, by key.'),
  targetMapRef: z.string().optional().describe('Name of a target map that the parent imports.'),
});
export type TargetImport = z.infer<typeof targetImport>;

const installationImports = open({
  data: z.array(dataImport).optional().describe('Imported data.'),
  targets: z.array(targetImport).optional().describe('Imported targets.'),
});
export type InstallationImports = z.infer<typeof installationImports>;

const dataExport = open({
  name: z.string().describe('Name of the export in the blueprint.'),
  dataRef: z.string().describe('Name under which the data is visible in the scope of the parent.'),
});

const targetExport = open({
  name: z.string().describe('Name of the export in the blueprint.'),
  target: z
    .string()
    .optional()
    .describe('Name under which the target is visible in the scope of the parent.'),
});

export const installationExports = open({
  data: z.array(dataExport).optional().describe('Exported data.'),
  targets: z.array(targetExport).optional().describe('Exported targets.'),
});
export type InstallationExports = z.infer<typeof installationExports>;

export const dataMappings = z.record(z.string(), anyJson());

// ---------------------------------------------------------------- spec

const automaticReconcile = open({
  succeededReconcile: open({
    interval: duration().optional().describe('Time between jobs after a success. Default 24h.'),
    cronSpec: z
      .string()
      .optional()
      .describe('Times of the jobs as a cron expression, instead of an interval.'),
  })
    .optional()
    .describe('Repeats the job of an installation that succeeded.'),
  failedReconcile: open({
    numberOfReconciles: int32().optional().describe('Maximum number of retries. Default: no limit.'),
    interval: duration().optional().describe('Time between jobs after a failure. Default 5m.'),
    cronSpec: z
      .string()
      .optional()
      .describe('Times of the jobs as a cron expression, instead of an interval.'),
  })
    .optional()
    .describe('Repeats the job of an installation that failed.'),
});
export type AutomaticReconcile = z.infer<typeof automaticReconcile>;

export const optimization = open({
  hasNoSiblingImports: z
    .boolean()
    .optional()
    .describe(
      'Declares that this installation imports nothing from siblings; jobs do not wait for siblings.',
    ),
  hasNoSiblingExports: z
    .boolean()
    .optional()
    .describe('Declares that no sibling imports from this installation; jobs do not trigger siblings.'),
});

const installationSpec = open({
  context: objectName()
    .optional()
    .describe('Name of the Context object with repositories and credentials. Default "default".'),
  verification: open({
    signatureName: z.string().describe('Signature of the component that must be valid.'),
  })
    .optional()
    .describe('Requires a valid signature of the component.'),
  componentDescriptor: componentDescriptorDefinition
    .optional()
    .describe('Component that the blueprint and its resources belong to.'),
  blueprint: blueprintDefinition.describe('Blueprint to render.'),
  imports: installationImports.optional().describe('Imports from the scope of the parent.'),
  importDataMappings: dataMappings
    .optional()
    .describe(
      'Values of blueprint imports, computed from the imported values; one Spiff document per import.',
    ),
  exports: installationExports.optional().describe('Exports into the scope of the parent.'),
  exportDataMappings: dataMappings
    .optional()
    .describe(
      'Values of exports, computed from the exports of the blueprint; one Spiff document per export.',
    ),
  automaticReconcile: automaticReconcile.optional().describe('Starts jobs on a schedule. Only for roots.'),
  optimization: optimization
    .optional()
    .describe(
      'Declares that there are no dependencies between siblings, so that controllers need not look for them.',
    ),
});
export type InstallationSpec = z.infer<typeof installationSpec>;

// ---------------------------------------------------------------- status

const subInstallationCache = open({
  activeSubs: z.array(nameMapping).optional().describe('Sub-installations that belong to the blueprint.'),
  orphanedSubs: z
    .array(z.string())
    .optional()
    .describe('Object names of sub-installations that no longer belong to the blueprint.'),
});

const automaticReconcileStatus = open({
  generation: int64().optional().describe('Generation of the spec that the counter applies to.'),
  numberOfReconciles: int32().optional().describe('Jobs started by the schedule for this generation.'),
  lastReconcileTime: time().optional().describe('When the last scheduled job was started.'),
  onFailed: z.boolean().optional().describe('Whether the jobs are retries after a failure.'),
});
export type AutomaticReconcileStatus = z.infer<typeof automaticReconcileStatus>;

const installationStatus = open({
  observedGeneration: int64().describe('Generation of the spec that the last job worked on.'),
  ...jobStatus,
  phaseTransitionTime,
  importsHash: z.string().optional().describe('Hash of all imports at the start of the job.'),
  executionRef: objectReference.optional().describe('Execution created from the blueprint.'),
  subInstCache: subInstallationCache
    .optional()
    .describe('Sub-installations by name. Absent means unknown, not none.'),
  dependentsToTrigger: z
    .array(open({ name: z.string().optional().describe('Name of the installation.') }))
    .optional()
    .describe('Siblings that still have to be triggered after the last job.'),
  automaticReconcileStatus: automaticReconcileStatus
    .optional()
    .describe('State of the jobs started by the schedule.'),
});
export type InstallationStatus = z.infer<typeof installationStatus>;

// ---------------------------------------------------------------- kind

const description =
  'Installs a blueprint: renders it into sub-installations and an execution, feeds it with imports and publishes its exports.';

export const installation = objectOf('Installation', {
  spec: installationSpec.describe('What to install.'),
  status: installationStatus.optional().describe('Current state.'),
});
export type Installation = z.infer<typeof installation>;

export { installationKind };

export const installationDefinition: Definition = {
  kind: installationKind,
  singular: 'installation',
  shortNames: ['inst'],
  categories: [CATEGORY],
  columns: [
    phaseColumn,
    { name: 'Execution', type: 'string', path: '.status.executionRef.name' },
    ageColumn,
    deletedColumn,
    annotationColumn('Suspended', annotations.suspended),
    annotationColumn('Operation', annotations.operation),
    messageColumn,
    { name: 'Context', type: 'string', path: '.spec.context', isWide: true },
    jobColumn,
    finishedColumn,
  ],
  statusSubresource: true,
  description,
  schema: installation,
};
