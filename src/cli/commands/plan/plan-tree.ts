/**
 * Walks through a tree as its next job would: renders each installation with its current imports, and asks the
 * deployers for the plans of their items. Parts that depend on future values are reported as unknown.
 */
import { gather } from '../../../../controllers/installation/gather/index.ts';
import {
  childrenOf,
  executionOf,
  ownExecution,
  connectedSiblings,
  type Inst,
} from '../../../../controllers/installation/related-objects.ts';
import { partitionChildren, templateNameOf } from '../../../../controllers/installation/children.ts';
import { checkImports } from '../../../../controllers/installation/import-conflicts.ts';
import { importersToAwait } from '../../../../controllers/installation/phases/init-delete.ts';
import {
  executionBeingDeleted,
  prerequisites,
  unknownFieldsRefused,
} from '../../../../controllers/installation/phases/init.ts';
import type { Snapshot } from '../../../../controllers/installation/snapshot.ts';
import { managedItems } from '../../../../controllers/execution/gather.ts';
import { hasAnnotation, isBeingDeleted } from '../../../api/job.ts';
import type { Target } from '../../../api/kinds/target.ts';
import { annotations } from '../../../api/labels.ts';
import { secretValues } from '../../../blueprint/secrets.ts';
import type { WrittenObject } from '../../../dataflow/objects.ts';
import type { WantedChild } from '../../../dataflow/render-installation.ts';
import { timestamp } from '../../../lib/clock.ts';
import { append } from '../../../lib/lists.ts';
import { PhaseError, type Problem } from '../../../machine/decision.ts';
import { firstDecision, gatherOnce, type Get, type Step } from '../../../machine/phase.ts';
import type { TreeSizes } from '../../../landscape/tree-size.ts';
import type { World } from '../../../landscape/world.ts';
import { plainMessage } from '../../tree/print.ts';
import { withObjects } from './current-objects.ts';
import { planDeletions, planItems } from './plan-items.ts';
import type { PlannedTree, PlannedWait, PlanPorts } from './planned.ts';

const PLANNED_JOB = 'planned';

const nothing: PlannedTree = { items: [], problems: [], waits: [] };

const join = (trees: readonly PlannedTree[]): PlannedTree => ({
  items: trees.flatMap(({ items }) => items),
  problems: trees.flatMap(({ problems }) => problems),
  waits: trees.flatMap(({ waits }) => waits),
});

/** The plan for the next job of an installation. @param isDeleted whether the installation is to be deleted */
export async function planInstallation(
  self: Inst,
  path: string,
  world: World,
  ports: PlanPorts,
  isDeleted = isBeingDeleted(self.metadata),
  above: readonly Inst[] = [],
): Promise<PlannedTree> {
  if (isDeleted) return planDeletion(self, path, world, ports);
  const tooDeep = ports.budget.checkLevel(self, above);
  if (tooDeep !== undefined) return failed(path, new Error(tooDeep));
  // The error was reported where the limit was exceeded.
  if (ports.budget.isSpent) return join([]);
  const get = gatherOnce(gather({ ...ports, world, trees })(self, timestamp(ports.clock)));
  try {
    const refused = await problemAt(prerequisites, get);
    if (refused) return failed(path, refused);
    const { imports, missing } = await get('imports');
    if (missing.length > 0) {
      const names = missing.map(({ import: name }) => name).join(', ');
      const message = `not known: imports that do not exist yet: ${names}`;
      return { ...nothing, problems: [{ path, message, isUnknown: true }] };
    }
    // An existing execution of that name has another owner, since the installation does not exist yet.
    const going =
      self.status?.jobID === PLANNED_JOB ? undefined : await problemAt([executionBeingDeleted], get);
    if (going) return failed(path, going);
    append(ports.secrets, secretValues(imports));
    const unknown = await problemAt([unknownFieldsRefused], get);
    if (unknown) return failed(path, unknown);
    const rendered = await get('rendered');
    append(
      ports.secrets,
      rendered.importObjects.filter(isTarget).map(({ spec }) => spec.config),
    );
    // A job that fails at this point starts nothing below.
    const { children, items } = rendered;
    const { refusal } = checkImports({
      self,
      rendered,
      children: await get('children'),
      importUpserts: await get('importUpserts'),
    });
    if (refusal) return failed(path, refusal);
    if (children instanceof PhaseError) return failed(path, children);
    const tooMany = ports.budget.count(items instanceof PhaseError ? 0 : items.length);
    if (tooMany !== undefined) return failed(path, new Error(tooMany));
    if (items instanceof PhaseError) return failed(path, items);
    const inside = withObjects(world, rendered.importObjects);
    return join([
      { ...nothing, items: await planItems(self, items, path, inside, ports) },
      await planChildren(self, children, path, inside, ports, above),
    ]);
  } catch (error) {
    if (ports.signal.aborted || !(error instanceof PhaseError)) throw error;
    return failed(path, error);
  }
}

/** Why the job would end in one of these steps. */
async function problemAt(steps: readonly Step<Snapshot>[], get: Get<Snapshot>): Promise<Problem | undefined> {
  const answer = await firstDecision(steps, get, ['self', 'now']);
  return answer?.do === 'fail' || answer?.do === 'retry' ? answer.problem : undefined;
}

const trees: TreeSizes = {
  reserve() {
    throw new Error('a plan reserves no objects');
  },
};

const isTarget = (one: WrittenObject): one is Target => one.kind === 'Target';

const failed = (path: string, { message }: { readonly message: string }): PlannedTree => ({
  ...nothing,
  problems: [{ path, message: plainMessage(message), isUnknown: false }],
});

// ---------------------------------------------------------------- sub-installations

async function planChildren(
  self: Inst,
  wanted: readonly WantedChild[],
  path: string,
  world: World,
  ports: PlanPorts,
  above: readonly Inst[],
): Promise<PlannedTree> {
  const { living, orphans } = partitionChildren(self, wanted, childrenOf(world, self));
  const trees: PlannedTree[] = [];
  for (const { name, object } of wanted) {
    const child = asPlanned(object, name, living.get(name));
    trees.push(await planInstallation(child, `${path}/${name}`, world, ports, false, [...above, self]));
  }
  for (const orphan of orphans) {
    trees.push(
      await planDeletion(orphan, `${path}/${templateNameOf(orphan) ?? orphan.metadata.name}`, world, ports),
    );
  }
  return join(trees);
}

/** The existing child with the spec that its parent would write. */
function asPlanned(wanted: WantedChild['object'], name: string, existing: Inst | undefined): Inst {
  if (existing) return { ...existing, spec: wanted.spec };
  const status = { observedGeneration: 0, jobID: PLANNED_JOB };
  return { ...wanted, metadata: { ...wanted.metadata, name, uid: `${PLANNED_JOB}/${name}` }, status };
}

/**
 * The plan for the deletion of everything below. @param inherited whether the parent is deleted, and without an
 * uninstall
 */
async function planDeletion(
  self: Inst,
  path: string,
  world: World,
  ports: PlanPorts,
  { skipsUninstall = false, isParentDeleted = false } = {},
): Promise<PlannedTree> {
  const isLeft = skipsUninstall || hasAnnotation(self.metadata, annotations.deleteWithoutUninstall);
  const [execution] = ownExecution({ self, execution: executionOf(world, self) });
  const items = execution ? managedItems(world, execution) : [];
  const areLeft =
    isLeft ||
    (execution !== undefined && hasAnnotation(execution.metadata, annotations.deleteWithoutUninstall));
  const trees: PlannedTree[] = [
    {
      ...nothing,
      items: await planDeletions(items, path, areLeft, world, ports),
      waits: waitsOf(self, path, world, isParentDeleted),
    },
  ];
  for (const child of childrenOf(world, self)) {
    const below = `${path}/${templateNameOf(child) ?? child.metadata.name}`;
    trees.push(
      await planDeletion(child, below, world, ports, { skipsUninstall: isLeft, isParentDeleted: true }),
    );
  }
  return join(trees);
}

/** Siblings whose parent is deleted with them do not count: the deletion of the parent puts them in order. */
function waitsOf(self: Inst, path: string, world: World, isParentDeleted: boolean): readonly PlannedWait[] {
  if (isParentDeleted) return [];
  const importers = importersToAwait(self, connectedSiblings(world, self)).map(({ name }) => name);
  return importers.length === 0 ? [] : [{ path, importers }];
}
