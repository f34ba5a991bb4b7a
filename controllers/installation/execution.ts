/** The execution of an installation: its deploy items as rendered. Pure. */
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
import { create, patch, type PhaseCondition, type Effect } from '../../src/machine/decision.ts';
import type { Snapshot } from './snapshot.ts';

interface EnsuredExecution {
  readonly effects: readonly Effect[];
  readonly conditions: readonly PhaseCondition[];
  readonly status: Readonly<Record<string, unknown>>;
}

/** Without deploy items there is no execution, but one that exists is emptied so that its items are uninstalled. */
export function ensureExecution(
  { self, execution, limits }: Pick<Snapshot, 'self' | 'execution' | 'limits'>,
  items: readonly DeployItemTemplate[],
): EnsuredExecution {
  if (items.length === 0 && !execution)
    return { effects: [], conditions: healed(self), status: { executionRef: null } };
  const { name, namespace } = self.metadata;
  return {
    effects: execution
      ? update({ self, execution, limits }, items)
      : [create(executionKind, executionObject(self, items))],
    conditions: [deployed],
    status: { executionRef: { name, namespace } },
  };
}

/** An earlier job could not render its items. This one has none, so nobody else would ever take the complaint back. */
const healed = ({ status }: Snapshot['self']): readonly PhaseCondition[] =>
  status?.conditions?.some(({ type, status: is }) => type === 'ReconcileExecution' && is === 'False')
    ? [{ ...deployed, message: 'There is nothing to deploy' }]
    : [];

const deployed: PhaseCondition = {
  type: 'ReconcileExecution',
  status: 'True',
  reason: 'ExecutionDeployed',
  message: 'Deployed execution item',
};

/** A leftover of the protocol: written at creation, read by nobody but people and tools that compare. */
const operation = { [annotations.operation]: operations.reconcile };

const helmCache = (self: Snapshot['self']): Record<string, string> => {
  const value = self.metadata.annotations?.[annotations.cacheHelmCharts];
  return value === undefined ? {} : { [annotations.cacheHelmCharts]: value };
};

/** The execution as it is created. */
export function executionObject(self: Snapshot['self'], items: readonly DeployItemTemplate[]): Execution {
  const { name, namespace, uid = '' } = self.metadata;
  return {
    apiVersion: self.apiVersion,
    kind: executionKind.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      annotations: { ...operation, ...helmCache(self) },
      finalizers: [FINALIZER],
      ownerReferences: [
        {
          apiVersion: self.apiVersion,
          kind: self.kind,
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { context: self.spec.context ?? 'default', ...writeDeployItems(items) },
  };
}

type Existing = Pick<Snapshot, 'self' | 'limits'> & {
  readonly execution: NonNullable<Snapshot['execution']>;
};

/** Templates are compared unpacked: packing differs from one program to the next. */
function update({ self, execution, limits }: Existing, items: readonly DeployItemTemplate[]): Effect[] {
  const context = self.spec.context ?? 'default';
  const isSame = holds(execution, items, limits);
  const actual = execution.metadata.annotations ?? {};
  const missing = Object.entries({ ...operation, ...helmCache(self) }).filter(
    ([key]) => actual[key] === undefined,
  );
  if (isSame && execution.spec.context === context && missing.length === 0) return [];
  const spec = isSame
    ? { context }
    : { context, deployItems: null, deployItemsCompressed: null, ...writeDeployItems(items) };
  return [patch(executionKind, execution, { metadata: { annotations: Object.fromEntries(missing) }, spec })];
}

/** A list that cannot be read is another one: it is replaced. */
function holds(
  execution: Existing['execution'],
  items: readonly DeployItemTemplate[],
  limits: Existing['limits'],
): boolean {
  try {
    const stored = readSmallDeployItems(execution.spec as Execution['spec'], limits);
    // To unpack what is large takes longer than to write it once more, which everybody after us finds unchanged.
    if (stored) return equal(stored, items);
    return execution.spec.deployItemsCompressed === writeDeployItems(items).deployItemsCompressed;
  } catch (error) {
    if (!(error instanceof UnreadableDeployItems)) throw error;
    return false;
  }
}
