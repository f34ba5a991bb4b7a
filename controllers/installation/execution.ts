/** Creates or updates the execution of an installation from the rendered deploy items. Pure. */
import { FINALIZER, annotations, operations } from '../../src/api/labels.ts';
import {
  executionKind,
  readSmallDeployItems,
  UnreadableDeployItems,
  writeDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../src/api/kinds/execution.ts';
import { equal } from '../../src/lib/json.ts';
import { controllerReference } from '../../src/lib/objects.ts';
import { create, patch, type PhaseCondition, type Effect } from '../../src/machine/decision.ts';
import type { Snapshot } from './snapshot.ts';

interface EnsuredExecution {
  readonly effects: readonly Effect[];
  readonly conditions: readonly PhaseCondition[];
  readonly status: Readonly<Record<string, unknown>>;
}

/**
 * Without deploy items, no execution is created. An existing execution is emptied, so that its items are
 * uninstalled.
 */
export function ensureExecution(
  { self, execution, limits }: Pick<Snapshot, 'self' | 'execution' | 'limits'>,
  items: readonly DeployItemTemplate[],
): EnsuredExecution {
  if (items.length === 0 && !execution)
    return { effects: [], conditions: resetCondition(self), status: { executionRef: null } };
  const { name, namespace } = self.metadata;
  return {
    effects: execution
      ? update({ self, execution, limits }, items)
      : [create(executionKind, executionObject(self, items))],
    conditions: [deployed],
    status: { executionRef: { name, namespace } },
  };
}

/** An earlier job failed to render its items. This job has no items, so no other code resets the condition. */
const resetCondition = ({ status }: Snapshot['self']): readonly PhaseCondition[] =>
  status?.conditions?.some(({ type, status: is }) => type === 'ReconcileExecution' && is === 'False')
    ? [{ ...deployed, message: 'There is nothing to deploy' }]
    : [];

const deployed: PhaseCondition = {
  type: 'ReconcileExecution',
  status: 'True',
  reason: 'ExecutionDeployed',
  message: 'Deployed execution item',
};

/** Part of the protocol: written at creation for users and tools that compare objects. No controller reads it. */
const reconcileOperation = { [annotations.operation]: operations.reconcile };

const helmCache = (self: Snapshot['self']): Record<string, string> => {
  const value = self.metadata.annotations?.[annotations.cacheHelmCharts];
  return value === undefined ? {} : { [annotations.cacheHelmCharts]: value };
};

/** The execution to create. */
export function executionObject(self: Snapshot['self'], items: readonly DeployItemTemplate[]): Execution {
  const { name, namespace } = self.metadata;
  return {
    apiVersion: self.apiVersion,
    kind: executionKind.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      annotations: { ...reconcileOperation, ...helmCache(self) },
      finalizers: [FINALIZER],
      ownerReferences: [controllerReference(self)],
    },
    spec: { context: self.spec.context ?? 'default', ...writeDeployItems(items) },
  };
}

type Existing = Pick<Snapshot, 'self' | 'limits'> & {
  readonly execution: NonNullable<Snapshot['execution']>;
};

/** Compares unpacked templates, because different programs compress the same list to different bytes. */
function update({ self, execution, limits }: Existing, items: readonly DeployItemTemplate[]): Effect[] {
  const context = self.spec.context ?? 'default';
  const isSame = hasItems(execution, items, limits);
  const actual = execution.metadata.annotations ?? {};
  const missing = Object.entries({ ...reconcileOperation, ...helmCache(self) }).filter(
    ([key]) => actual[key] === undefined,
  );
  if (isSame && execution.spec.context === context && missing.length === 0) return [];
  const spec = isSame
    ? { context }
    : { context, deployItems: null, deployItemsCompressed: null, ...writeDeployItems(items) };
  return [patch(executionKind, execution, { metadata: { annotations: Object.fromEntries(missing) }, spec })];
}

/** An unreadable list counts as different, and is replaced. */
function hasItems(
  execution: Existing['execution'],
  items: readonly DeployItemTemplate[],
  limits: Existing['limits'],
): boolean {
  try {
    const stored = readSmallDeployItems(execution.spec as Execution['spec'], limits);
    // Unpacking a large list takes longer than packing the new one. Controllers that read the result find it
    // unchanged.
    if (stored) return equal(stored, items);
    return execution.spec.deployItemsCompressed === writeDeployItems(items).deployItemsCompressed;
  } catch (error) {
    if (!(error instanceof UnreadableDeployItems)) throw error;
    return false;
  }
}
