/** Which kinds a process reads: those that its controllers need, and no others, because it may lack the permissions. */
import { worldKinds, type World, type WorldKind } from '../../landscape/world.ts';
import type { ControllerName, DeployerName } from '../names.ts';

/** Deployers read deploy items, targets, Contexts and executions by themselves. */
const controllerNeeds = {
  installation: worldKinds,
  execution: worldKinds,
  deployitem: ['deployItems', 'executions', 'targets'],
  context: ['contexts'],
  targetsync: ['targets', 'targetSyncs'],
  syncobject: ['syncObjects', 'installations', 'executions'],
  health: [],
} as const satisfies Readonly<Record<ControllerName, readonly WorldKind[]>>;

/** The part of the world that a controller may read. */
export type WorldOf<C extends ControllerName> = Pick<World, (typeof controllerNeeds)[C][number]>;

/** The controllers and deployers of a process. */
export interface ProcessParts {
  readonly controllers: readonly ControllerName[];
  readonly deployers: readonly DeployerName[];
}

/** The parts in a fixed order, for users and for comparison with other replicas. */
export const partsText = ({ controllers, deployers }: ProcessParts): string =>
  `controllers ${listed(controllers)}; deployers ${listed(deployers)}`;

const listed = (names: readonly string[]): string => [...names].sort().join(', ') || 'none';

/** A process with only deployers divides deploy items one by one: it does not read the trees that they belong to. */
export const sharesTrees = ({ controllers }: Pick<ProcessParts, 'controllers'>): boolean =>
  controllers.length > 0;

/** @param isShared whether replicas share the work; they find the root of every object */
export function kindsFor(parts: Pick<ProcessParts, 'controllers'>, isShared: boolean): readonly WorldKind[] {
  if (isShared && sharesTrees(parts)) return worldKinds;
  const needed = new Set<WorldKind>(parts.controllers.flatMap((name) => controllerNeeds[name]));
  return worldKinds.filter((name) => needed.has(name));
}

/** Whether the root of an object can be found. */
export const readsTrees = (kinds: readonly WorldKind[]): boolean =>
  kinds.includes('installations') && kinds.includes('executions');
