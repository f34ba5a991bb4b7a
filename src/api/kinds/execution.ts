/** Execution: the deploy items of one installation, in order of their dependencies. The list is stored compressed. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { exactJson, parseExactJson } from '../../lib/exact-json.ts';
import { checkJsonBounds } from '../../lib/json-bounds.ts';
import { findingsText } from '../../lib/findings.ts';
import { isTooLarge, packInBackground } from '../../lib/gzip.ts';
import { inPortions } from '../../lib/portions.ts';
import { defaultLimits, wayOut, type InstallationLimits } from '../limits.ts';
import { executionKind } from '../landscaper-kinds.ts';
import {
  ageColumn,
  anyObject,
  duration,
  exportRefColumn,
  int64,
  jobStatus,
  nameMapping,
  objectOf,
  objectName,
  objectReference,
  open,
  finishedColumn,
  jobColumn,
  deletedColumn,
  messageColumn,
  phaseColumn,
  phaseTransitionTime,
  type Definition,
} from '../shared.ts';
import { CATEGORY } from '../labels.ts';

export const onDelete = open({
  skipUninstallIfClusterRemoved: z
    .boolean()
    .optional()
    .describe('Skip uninstalling if the target cluster no longer exists.'),
});
export type OnDelete = z.infer<typeof onDelete>;

export const deployItemTemplate = open({
  name: z.string().describe('Name of the item, unique in the execution.'),
  type: z.string().describe('Type of the item; selects the deployer.'),
  target: objectReference.optional().describe('Target to deploy to.'),
  labels: z.record(z.string(), z.string()).optional().describe('Labels of the deploy item.'),
  config: anyObject()
    .meta({ 'x-kubernetes-embedded-resource': true })
    .describe('Provider configuration: the input of the deployer.'),
  dependsOn: z.array(z.string()).optional().describe('Names of items that must have succeeded before.'),
  timeout: duration().optional().describe('How long the deployer may take. Default 10m.'),
  updateOnChangeOnly: z
    .boolean()
    .optional()
    .describe('If true, the deployer skips jobs in which the item has not changed.'),
  onDelete: onDelete.optional().describe('What to do instead of uninstalling.'),
});
export type DeployItemTemplate = z.infer<typeof deployItemTemplate>;

export const executionSpec = open({
  context: objectName().optional().describe('Name of the Context object. Default "default".'),
  deployItems: z
    .array(deployItemTemplate)
    .optional()
    .describe('Templates of the deploy items, readable. Ignored if the compressed form is set.'),
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
  exportRef: objectReference.optional().describe('Secret with the exports of the deploy items.'),
  deployItemCache: open({
    activeDIs: z.array(nameMapping).optional().describe('Deploy items that belong to the spec.'),
    orphanedDIs: z
      .array(z.string())
      .optional()
      .describe('Object names of deploy items that no longer belong to the spec.'),
  })
    .optional()
    .describe('Deploy items by name. Absent means unknown, not none.'),
});
export type ExecutionStatus = z.infer<typeof executionStatus>;
export type DeployItemCache = NonNullable<ExecutionStatus['deployItemCache']>;

export const execution = objectOf('Execution', {
  spec: executionSpec.describe('What to deploy.'),
  status: executionStatus.optional().describe('Current state.'),
});
export type Execution = z.infer<typeof execution>;

export { executionKind };

export const executionDefinition: Definition = {
  kind: executionKind,
  singular: 'execution',
  shortNames: ['exec'],
  categories: [CATEGORY],
  columns: [phaseColumn, exportRefColumn, ageColumn, deletedColumn, messageColumn, jobColumn, finishedColumn],
  statusSubresource: true,
  description:
    'Deploys the items of one installation: creates a deploy item for each, in order of their dependencies.',
  schema: execution,
};

// ---------------------------------------------------------------- compressed list

/** The templates of an execution are unreadable: the list is damaged or exceeds the limits. */
export class UnreadableDeployItems extends Error {
  override readonly name = 'UnreadableDeployItems';

  constructor(field: Form, reason: string, options?: ErrorOptions) {
    super(`spec.${field} cannot be read: ${reason}`, options);
  }
}

type Form = 'deployItems' | 'deployItemsCompressed';
type SpecView = { readonly [P in Form]?: ExecutionSpec[P] };

/** Checks only the number of items, so it is fast. @throws UnreadableDeployItems if `list` is a list and too long */
export function checkDeployItemCount(
  list: unknown,
  field: Form,
  { deployItems: limit }: InstallationLimits = defaultLimits,
): void {
  if (!Array.isArray(list) || list.length <= limit) return;
  const reason = `it holds ${list.length} deploy items; the limit is ${limit} for one execution: ${wayOut('deployItems')}`;
  throw new UnreadableDeployItems(field, reason);
}

/**
 * The templates of an execution in either stored form; the compressed form wins if both are present. Compare
 * templates read by this function, never the compressed string: it differs between implementations.
 * @throws UnreadableDeployItems if the string is not base64 of a gzipped JSON list, or if it exceeds the limits
 */
export function readDeployItems(
  spec: SpecView,
  limits: InstallationLimits = defaultLimits,
): DeployItemTemplate[] {
  return readUpTo(spec, limits.deployItemsMiB << 20, limits) ?? tooMuch(limits);
}

/** Reading a list of this size takes milliseconds; the largest allowed list takes up to a second. */
const SMALL_DEPLOY_ITEMS_BYTES = 256 << 10;

/**
 * Like readDeployItems, for threads that must not block.
 * @returns undefined if the list is so large that a worker has to read it
 * @throws UnreadableDeployItems
 */
export const readSmallDeployItems = (
  spec: SpecView,
  limits: InstallationLimits = defaultLimits,
): DeployItemTemplate[] | undefined => readUpTo(spec, SMALL_DEPLOY_ITEMS_BYTES, limits);

/** undefined if the compressed form unpacks to more than `maxBytes`. */
function readUpTo(
  spec: SpecView,
  maxBytes: number,
  limits: InstallationLimits,
): DeployItemTemplate[] | undefined {
  const packed = spec.deployItemsCompressed;
  if (!packed) {
    checkDeployItemCount(spec.deployItems, 'deployItems', limits);
    return spec.deployItems ?? [];
  }
  const list = unpackedList(packed, maxBytes);
  if (list === undefined) return undefined;
  checkDeployItemCount(list, 'deployItemsCompressed', limits);
  const parsed = z.array(deployItemTemplate).nullable().safeParse(list);
  if (!parsed.success) {
    const reason = findingsText(parsed.error.issues, (issues) => z.prettifyError({ issues }));
    throw new UnreadableDeployItems('deployItemsCompressed', reason, { cause: parsed.error });
  }
  return parsed.data ?? [];
}

function unpackedList(packed: string, maxBytes: number): unknown {
  try {
    const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: maxBytes });
    const text = bytes.toString('utf8');
    checkJsonBounds(text);
    return parseExactJson(text);
  } catch (error) {
    if (isTooLarge(error)) return undefined;
    throw new UnreadableDeployItems('deployItemsCompressed', (error as Error).message, { cause: error });
  }
}

function tooMuch({ deployItemsMiB }: InstallationLimits): never {
  const reason = `it unpacks to more than ${deployItemsMiB} MiB, the limit for the deploy items of one execution: ${wayOut('deployItemsMiB')}`;
  throw new UnreadableDeployItems('deployItemsCompressed', reason);
}

/** The spec fields that store a list of templates. */
export type StoredDeployItems = Pick<ExecutionSpec, 'deployItems' | 'deployItemsCompressed'>;

/** Compressed if there are any, as upstream does. */
export function writeDeployItems(templates: readonly DeployItemTemplate[]): StoredDeployItems {
  if (templates.length === 0) return {};
  return packed(Buffer.from(exactJson(templates)));
}

/**
 * The same for lists that can be large, without blocking the main thread: compressing the largest list takes half a
 * second.
 */
export async function writeManyDeployItems(
  templates: readonly DeployItemTemplate[],
): Promise<StoredDeployItems> {
  if (templates.length === 0) return {};
  const bytes = Buffer.from(`[${(await templateTexts(templates)).join(',')}]`);
  if (bytes.length <= SMALL_DEPLOY_ITEMS_BYTES) return packed(bytes);
  return { deployItemsCompressed: asBase64(await packInBackground(bytes)) };
}

/** Unpacked size of these templates in the compressed form, in bytes. */
export async function unpackedBytes(templates: readonly DeployItemTemplate[]): Promise<number> {
  const texts = await templateTexts(templates);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 1);
}

const templateTexts = (templates: readonly DeployItemTemplate[]): Promise<readonly string[]> =>
  inPortions(
    templates,
    (template) => exactJson(template),
    (_, text) => text.length,
  );

const packed = (bytes: Uint8Array): StoredDeployItems => ({
  deployItemsCompressed: asBase64(gzipSync(bytes)),
});
const asBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
