/** Objects that only the product can delete, or that contain data of users. */
import { contextKind } from '../../../api/kinds/context.ts';
import { componentVersionOverwritesKind } from '../../../api/kinds/componentversionoverwrites.ts';
import { dataObjectKind } from '../../../api/kinds/dataobject.ts';
import { deployItemKind } from '../../../api/kinds/deployitem.ts';
import { executionKind } from '../../../api/kinds/execution.ts';
import { installationKind } from '../../../api/kinds/installation.ts';
import { targetKind } from '../../../api/kinds/target.ts';
import { targetSyncKind } from '../../../api/kinds/targetsync.ts';
import { hasFinalizer } from '../../../api/job.ts';
import type { Client, Kind, Obj, View } from '../../../runtime/types.ts';
import { listAll } from './listing.ts';

export interface Remains {
  /** Objects with finalizers that only the running product removes. */
  readonly held: readonly View<Obj>[];
  /** All objects that users have created, including those in `held`. */
  readonly all: readonly View<Obj>[];
}

const kinds = [
  installationKind,
  executionKind,
  deployItemKind,
  targetSyncKind,
  targetKind,
  dataObjectKind,
  contextKind,
  componentVersionOverwritesKind,
] as readonly Kind[];

/**
 * Objects with finalizers, and all objects of users. Targets of a TargetSync stay usable, but the TargetSync has a
 * finalizer. @throws the errors of runtime/errors.ts
 */
export async function remainsIn(client: Client): Promise<Remains> {
  const lists = await Promise.all(
    kinds.map(async (kind) =>
      (await listAll(client, kind, {})).map((object) => ({ ...object, kind: kind.kind })),
    ),
  );
  const all = lists.flat().filter((object) => !isPlainContext(object));
  return { all, held: all.filter(({ metadata }) => hasFinalizer(metadata)) };
}

/** Whether a Context has the default content that the context controller creates. */
export function isPlainContext(object: View<Obj>): boolean {
  const {
    apiVersion: _v,
    kind,
    metadata,
    ...fields
  } = object as View<Obj> & Readonly<Record<string, unknown>>;
  return kind === contextKind.kind && metadata.name === 'default' && Object.keys(fields).length === 0;
}

const MAX_NAMED = 5;

/** `installation shop/web, execution shop/web and 3 more` */
export function named(objects: readonly View<Obj>[]): string {
  const shown = objects
    .slice(0, MAX_NAMED)
    .map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`);
  const more = objects.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
}
