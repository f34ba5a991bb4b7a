/**
 * The protocol for plans of deployers in other languages: one JSON document with the deploy item, and one with the
 * objects that its job would change. Pure.
 */
import { z } from 'zod';
import { exactJson, parseExactJson } from '../../src/lib/exact-json.ts';
import { isObject } from '../../src/lib/objects.ts';
import type { View } from '../../src/runtime/types.ts';
import type { KubeObject, ResourceRef } from '../objects/manifests/model.ts';
import type { Direction } from './intake.ts';
import { PlanUnknown, type ItemPlan } from './item-plan.ts';
import type { DeployItem } from './kinds.ts';

const VERSION = 'espalier.dev/v1alpha1';

/** The target with its content, which is secret. */
export interface RequestedTarget {
  readonly name: string;
  readonly namespace: string;
  readonly type: string;
  /** The content of the target, read from its Secret if it has one. */
  readonly config?: unknown;
  /** Only for clusters; it allows writes, so the deployer must use dry runs. */
  readonly kubeconfig?: string | undefined;
}

export interface PlanRequest {
  /** `remove` if the job uninstalls the item. */
  readonly direction: Direction;
  /** With the spec that the job would use, and with the last status. */
  readonly deployItem: View<DeployItem>;
  readonly target?: RequestedTarget | undefined;
}

export const requestText = (request: PlanRequest): string =>
  `${exactJson({ apiVersion: VERSION, kind: 'PlanRequest', ...request })}\n`;

const text = z.string().min(1);
const content = z.record(z.string(), z.unknown()).optional();

const objectSchema = z.strictObject({
  change: z.enum(['create', 'change', 'delete', 'unchanged', 'kept']),
  apiVersion: text,
  kind: text,
  namespace: text.optional(),
  name: text,
  before: content,
  after: content,
  note: text.optional(),
  problem: text.optional(),
});

const responseSchema = z.strictObject({
  apiVersion: z.literal(VERSION),
  kind: z.literal('PlanResponse'),
  objects: z.array(objectSchema).optional(),
  notes: z.array(text).optional(),
  unknown: text.optional(),
  problem: text.optional(),
});

/** The response does not follow the protocol, or reports that the job would fail. */
export class PlanRefused extends Error {
  override readonly name = 'PlanRefused';
}

/**
 * Reads a response.
 * @param origin the deployer, for messages
 * @throws PlanUnknown if the deployer cannot determine the changes; PlanRefused
 */
export function readResponse(output: string, origin: string): ItemPlan {
  const response = responseSchema.safeParse(parsed(output, origin));
  if (!response.success) {
    const problems = response.error.issues.map(({ path, message }) => `${placeOf(path)}${message}`);
    throw new PlanRefused(`the response of ${origin} is not a valid PlanResponse: ${problems.join('; ')}`);
  }
  const { objects = [], notes = [], unknown, problem } = response.data;
  if (problem !== undefined) throw new PlanRefused(problem);
  if (unknown !== undefined) throw new PlanUnknown(unknown);
  return { objects: objects.map(plannedObject), notes };
}

function plannedObject({
  change,
  before,
  after,
  note,
  problem,
  ...named
}: z.infer<typeof objectSchema>): ItemPlan['objects'][number] {
  const { apiVersion, kind, name, namespace } = named;
  const ref: ResourceRef = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) };
  return {
    ref,
    change,
    ...(before && { before: completed(before, ref) }),
    ...(after && { after: completed(after, ref) }),
    note,
    problem,
  };
}

/** The reference is added, so that deployers of other things than Kubernetes objects need not repeat it. */
const completed = (
  fields: Readonly<Record<string, unknown>>,
  { apiVersion, kind, ...identity }: ResourceRef,
): KubeObject => ({
  apiVersion,
  kind,
  ...fields,
  metadata: { ...identity, ...(isObject(fields['metadata']) && fields['metadata']) },
});

function parsed(output: string, origin: string): unknown {
  if (output.trim() === '')
    throw new PlanRefused(
      `${origin} wrote nothing to standard output; it has to write a PlanResponse if its last argument is "plan"`,
    );
  try {
    return parseExactJson(output);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The message of the parser may contain a part of the output, which may be secret.
    throw new PlanRefused(
      `the response of ${origin} is not one JSON document; log to standard error instead`,
    );
  }
}

const placeOf = (path: readonly PropertyKey[]): string => {
  const place = path
    .map((key) => (typeof key === 'number' ? `[${String(key)}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
  return place === '' ? '' : `${place}: `;
};
