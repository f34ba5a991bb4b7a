/** What `espalier doctor` reads and reports. */
import type { CustomResourceDefinition, Deployment } from '../../runtime/core-kinds.ts';
import type { LeaseObject } from '../../runtime/manager/lease.ts';
import type { SyncObject } from '../../api/kinds/syncobject.ts';
import type { Obj, View } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';
import type { TreeEvent } from '../tree/events.ts';
import type { TreeObject } from '../tree/tree.ts';
import type { DefinitionLike } from './definitions.ts';

/** All that the checks read. */
export interface Findable extends Collected {
  /** Data objects and targets; only metadata is read. */
  readonly data: readonly View<Obj>[];
  /** Locks of upstream's replicas; default: none, or they cannot be read. */
  readonly locks?: readonly View<SyncObject>[];
  /** Leases of the system namespace; default: none, or they cannot be read. */
  readonly leases?: readonly View<LeaseObject>[];
  /** The same Leases some seconds later; a Lease that is unchanged has no running replica. Default: no second look. */
  readonly laterLeases?: readonly View<LeaseObject>[];
  /** Events about deployers that handle the same deploy items; default: none, or they cannot be read. */
  readonly rivalries?: readonly View<TreeEvent>[];
  /** Deployments of the controllers in the system namespace; default: none, or they cannot be read. */
  readonly controllers?: readonly View<Deployment>[];
  /** The definitions that the cluster should have. */
  readonly definitions?: readonly View<CustomResourceDefinition>[];
  /** The definitions that it has; default: they cannot be read. */
  readonly storedDefinitions?: readonly DefinitionLike[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Finding {
  readonly check: string;
  /** `Execution shop/web` */
  readonly object: string;
  /** The fields that show it. */
  readonly evidence: string;
  /** What may happen when the command runs. */
  readonly risk: string;
  /** The command that fixes it. */
  readonly command: string;
  /** Other objects that have a problem for this reason, such as `Execution shop/web`. */
  readonly affects?: readonly string[];
}

/** The next object that a finding names, and how many there are: `Execution shop/web and 3 more`. */
export function someOf(objects: readonly string[], most = 3): string {
  const more = objects.length - most;
  return `${objects.slice(0, most).join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}

export const objectsIn = ({ installations, executions, deployItems }: Collected): readonly TreeObject[] => [
  ...installations,
  ...executions,
  ...deployItems,
];

export const nameOf = ({ kind, metadata }: View<Obj>): string =>
  `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
