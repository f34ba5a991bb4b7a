/** Creates or updates the execution of an installation from the rendered deploy items. */
import { FINALIZER, annotations, operations } from '../../src/api/labels.ts';
import {
  executionKind,
  readSmallDeployItems,
  UnreadableDeployItems,
  writeManyDeployItems,
  type DeployItemTemplate,
  type Execution,
  type StoredDeployItems,
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
  { self, execution, itemsToStore }: Pick<Snapshot, 'self' | 'execution' | 'itemsToStore'>,
  items: readonly DeployItemTemplate[],
): EnsuredExecution {
  if (items.length === 0 && !execution)
    return { effects: [], conditions: resetCondition(self), status: { executionRef: null } };
  const { name, namespace } = self.metadata;
  return {
    effects: execution
      ? update(self, execution, itemsToStore)
      : [create(executionKind, executionObject(self, itemsToStore))],
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
export function executionObject(self: Snapshot['self'], items: StoredDeployItems = {}): Execution {
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
    spec: { context: self.spec.context ?? 'default', ...items },
  };
}

type ExecutionView = NonNullable<Snapshot['execution']>;

function update(
  self: Snapshot['self'],
  execution: ExecutionView,
  itemsToStore: Snapshot['itemsToStore'],
): Effect[] {
  const context = self.spec.context ?? 'default';
  const actual = execution.metadata.annotations ?? {};
  const missing = Object.entries({ ...reconcileOperation, ...helmCache(self) }).filter(
    ([key]) => actual[key] === undefined,
  );
  if (!itemsToStore && execution.spec.context === context && missing.length === 0) return [];
  const spec = itemsToStore
    ? { context, deployItems: null, deployItemsCompressed: null, ...itemsToStore }
    : { context };
  return [patch(executionKind, execution, { metadata: { annotations: Object.fromEntries(missing) }, spec })];
}

/**
 * The stored form of the items; undefined if the execution already has them. Compares unpacked templates, because
 * different programs compress the same list to different bytes.
 */
export async function itemsToStore(
  { execution, limits }: Pick<Snapshot, 'execution' | 'limits'>,
  items: readonly DeployItemTemplate[],
): Promise<StoredDeployItems | undefined> {
  const stored = execution && smallItems(execution, limits);
  if (stored === 'unreadable' || !execution) return writeManyDeployItems(items);
  if (stored) return equal(stored, items) ? undefined : writeManyDeployItems(items);
  // Unpacking a large list takes longer than packing the new one. Controllers that read the result find it
  // unchanged.
  const wanted = await writeManyDeployItems(items);
  return execution.spec.deployItemsCompressed === wanted.deployItemsCompressed ? undefined : wanted;
}

/** Undefined if the list is large. An unreadable list counts as different, and is replaced. */
function smallItems(
  execution: ExecutionView,
  limits: Snapshot['limits'],
): readonly DeployItemTemplate[] | 'unreadable' | undefined {
  try {
    return readSmallDeployItems(execution.spec as Execution['spec'], limits);
  } catch (error) {
    if (!(error instanceof UnreadableDeployItems)) throw error;
    return 'unreadable';
  }
}
