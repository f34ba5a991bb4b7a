/**
 * How upstream continues from what is stored, according to its recordings. It reads everything from the API server,
 * but takes the objects below an object from the list in that object's status:
 *
 * - an object that never had a phase has nothing below it;
 * - otherwise the list counts, if there is one;
 * - without a list, and for a deletion, it lists by label.
 *
 * For a template without object it creates another one. A job in `Init`, or one that has not begun, does that next.
 */
import { isBeingDeleted, isDeletionPhase } from '../../src/api/job.ts';
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { Execution } from '../../src/api/kinds/execution.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { View } from '../../src/lib/objects.ts';

type Parent = View<Installation> | View<Execution>;
type Child = View<Installation> | View<Execution> | View<DeployItem>;

interface Names {
  readonly active: readonly string[];
  readonly orphaned: readonly string[];
}
const none: Names = { active: [], orphaned: [] };

/** The list of objects below, or `undefined`: it lists by label. */
function listed(parent: Parent): Names | undefined {
  const { status, metadata } = parent;
  if (isBeingDeleted(metadata) || isDeletionPhase(status?.phase)) return undefined;
  if (!status?.phase) return none;
  if ('deployItemCache' in status && status.deployItemCache) {
    const { activeDIs = [], orphanedDIs = [] } = status.deployItemCache;
    return { active: activeDIs.map(({ objectName }) => objectName), orphaned: orphanedDIs };
  }
  if ('subInstCache' in status && status.subInstCache) {
    const { activeSubs = [], orphanedSubs = [] } = status.subInstCache;
    return { active: activeSubs.map(({ objectName }) => objectName), orphaned: orphanedSubs };
  }
  return undefined;
}

/** An execution is found by the name of its installation when it is created, and by `executionRef` afterwards. */
const hasForgottenExecution = ({ status }: Parent): boolean =>
  isBelowMade(status?.phase) && !(status && 'executionRef' in status && status.executionRef);

/** In a phase that relies on the status that `Init` has stored. */
const isBelowMade = (phase: string | undefined): boolean =>
  ['CleanupOrphaned', 'ObjectsCreated', 'Progressing', 'Completing'].includes(phase ?? '');

/** Existing objects below that upstream would not find: it creates them again, or never starts them. */
export function overlooked(parent: Parent, below: readonly Child[]): readonly string[] {
  const names = listed(parent);
  const known = names && [...names.active, ...names.orphaned];
  const isOverlooked = ({ kind, metadata: { name } }: Child): boolean =>
    kind === 'Execution' ? hasForgottenExecution(parent) : known !== undefined && !known.includes(name);
  return below.filter((o) => !isBeingDeleted(o.metadata) && isOverlooked(o)).map((o) => o.metadata.name);
}

/**
 * Missing objects of its list, once it relies on the list: it counts such an item as failed, and does not notice that
 * such a sub-installation is missing. Orphans may be missing.
 */
export function missed(parent: Parent, below: readonly Child[]): readonly string[] {
  if (!isBelowMade(parent.status?.phase)) return [];
  const { active } = listed(parent) ?? none;
  return active.filter((name) => !below.some(({ metadata }) => metadata.name === name));
}

/** What it compares before it exports, and rejects if it differs from what `Init` has stored. */
export function refused({ kind, metadata, status }: Parent): readonly string[] {
  if (kind !== 'Installation' || !isBelowMade(status?.phase)) return [];
  return [
    ...(status && 'importsHash' in status && status.importsHash ? [] : ['importsHash is missing']),
    ...(status?.observedGeneration === metadata.generation ? [] : ['the spec has another generation']),
  ];
}
