/** Execution: the deploy items of one installation, in order of their dependencies. Its list is stored compressed. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { exactJson, parseExactJson } from '../../lib/exact-json.ts';
import {
  ageColumn,
  anyObject,
  duration,
  exportRefColumn,
  int64,
  jobStatus,
  landscaperKind,
  nameMapping,
  objectOf,
  objectReference,
  open,
  phaseColumn,
  phaseTransitionTime,
  type Definition,
} from '../shared.ts';

export const onDelete = open({
  skipUninstallIfClusterRemoved: z
    .boolean()
    .optional()
    .describe('Forget what was deployed when the target cluster itself is gone.'),
});
export type OnDelete = z.infer<typeof onDelete>;

export const deployItemTemplate = open({
  name: z.string().describe('Name of the item, unique in the execution.'),
  type: z.string().describe('Type of the deployer that is to carry it out.'),
  target: objectReference.optional().describe('Target to deploy to.'),
  labels: z.record(z.string(), z.string()).optional().describe('Labels of the deploy item.'),
  config: anyObject()
    .meta({ 'x-kubernetes-embedded-resource': true })
    .describe('Provider configuration: what the deployer is to do.'),
  dependsOn: z.array(z.string()).optional().describe('Names of items that must have succeeded before.'),
  timeout: duration().optional().describe('How long the deployer may take. Default 10m.'),
  updateOnChangeOnly: z
    .boolean()
    .optional()
    .describe('Leave the deployer out of jobs in which nothing about the item changed.'),
  onDelete: onDelete.optional().describe('What to do instead of uninstalling.'),
});
export type DeployItemTemplate = z.infer<typeof deployItemTemplate>;

export const executionSpec = open({
  context: z.string().optional().describe('Name of the Context object. Default "default".'),
  deployItems: z
    .array(deployItemTemplate)
    .optional()
    .describe('Templates of the deploy items, readable. Ignored when the compressed form is there.'),
  deployItemsCompressed: z
    .string()
    .meta({ format: 'byte' })
    .optional()
    .describe('The same templates as a JSON list, packed with gzip.'),
});
export type ExecutionSpec = z.infer<typeof executionSpec>;

export const executionStatus = open({
  observedGeneration: int64().optional().describe('Not maintained; kept for compatibility.'),
  ...jobStatus,
  phaseTransitionTime,
  exportRef: objectReference.optional().describe('Secret with what the deploy items export.'),
  deployItemCache: open({
    activeDIs: z.array(nameMapping).optional().describe('Deploy items that belong to the spec.'),
    orphanedDIs: z.array(z.string()).optional().describe('Object names of those that no longer do.'),
  })
    .optional()
    .describe('Deploy items by name. Absent means unknown, not none.'),
});
export type ExecutionStatus = z.infer<typeof executionStatus>;
export type DeployItemCache = NonNullable<ExecutionStatus['deployItemCache']>;

export const execution = objectOf('Execution', {
  spec: executionSpec.describe('What to deploy.'),
  status: executionStatus.optional().describe('How far that is.'),
});
export type Execution = z.infer<typeof execution>;

export const executionKind = landscaperKind<Execution>('Execution', 'executions');

export const executionDefinition: Definition = {
  kind: executionKind,
  singular: 'execution',
  shortNames: ['exec'],
  columns: [phaseColumn, exportRefColumn, ageColumn],
  statusSubresource: true,
  description:
    'Deploys the items of one installation: creates a deploy item for each, in order of their dependencies.',
  schema: execution,
};

// ---------------------------------------------------------------- compressed list

/** The compressed templates of an execution cannot be read; the object is damaged. */
export class UnreadableDeployItems extends Error {
  override readonly name = 'UnreadableDeployItems';

  constructor(reason: string, options?: ErrorOptions) {
    super(`spec.deployItemsCompressed cannot be read: ${reason}`, options);
  }
}

/** Far more than the API server stores compressed in one object could reasonably mean. */
const MAX_INFLATED_BYTES = 256 << 20;

type SpecView = { readonly [P in 'deployItems' | 'deployItemsCompressed']?: ExecutionSpec[P] };

/**
 * The templates of an execution in whichever form they are stored; the compressed form wins when both are there.
 * Compare templates read this way, never the packed text: it differs from one implementation to the next.
 * @throws UnreadableDeployItems when the text is not base64 of gzip of a JSON list, or more than 256 MiB unpacked
 */
export function readDeployItems(spec: SpecView): DeployItemTemplate[] {
  const packed = spec.deployItemsCompressed;
  if (!packed) return spec.deployItems ?? [];

  let list: unknown;
  try {
    const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_INFLATED_BYTES });
    list = parseExactJson(bytes.toString('utf8'));
  } catch (error) {
    throw new UnreadableDeployItems((error as Error).message, { cause: error });
  }
  const parsed = z.array(deployItemTemplate).nullable().safeParse(list);
  if (!parsed.success)
    throw new UnreadableDeployItems(z.prettifyError(parsed.error), { cause: parsed.error });
  return parsed.data ?? [];
}

/** The spec fields that store these templates: compressed when there are any, as upstream writes them. */
export function writeDeployItems(
  templates: readonly DeployItemTemplate[],
): Pick<ExecutionSpec, 'deployItems' | 'deployItemsCompressed'> {
  if (templates.length === 0) return {};
  return { deployItemsCompressed: gzipSync(exactJson(templates)).toString('base64') };
}
