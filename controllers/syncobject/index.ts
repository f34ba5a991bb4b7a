/** The sync object controller: deletes upstream's locks of installations and executions that no longer exist. */
import { installationKind } from '../../src/api/kinds/installation.ts';
import { executionKind } from '../../src/api/kinds/execution.ts';
import { syncObjectKind, type SyncObject } from '../../src/api/kinds/syncobject.ts';
import { lockName } from '../../src/landscape/upstream-locks.ts';
import type { World } from '../../src/landscape/world.ts';
import type { ControllerSpec } from '../../src/runtime/controller/controller.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import { watchSource } from '../../src/runtime/sources/sources.ts';
import type { Client, Key, Kind, Obj, View } from '../../src/runtime/types.ts';

interface SyncObjectPorts {
  readonly world: Pick<World, 'installations' | 'executions'>;
  readonly client: Client;
}

/** Only a deletion leaves a lock behind. */
const onlyDeletions = { add: () => false, update: () => false };

export function syncObjectController({ world, client }: SyncObjectPorts): ControllerSpec<SyncObject> {
  const isThere = async (lock: View<SyncObject>): Promise<boolean> => {
    const { kind, name } = lock.spec;
    if (kind !== 'Installation' && kind !== 'Execution') return true; // a lock of another kind; not ours to delete
    const key = joinKey(lock.metadata.namespace, name);
    const isLocked = (object: View<Obj> | undefined): boolean =>
      object !== undefined && lockName(kind, object.metadata.uid ?? '') === lock.metadata.name;
    const cached = kind === 'Installation' ? world.installations.get(key) : world.executions.get(key);
    // The cache may not contain an object that has just been created.
    return isLocked(cached) || isLocked(await getIfThere(client, kinds[kind] as Kind, key));
  };
  return {
    name: 'syncobject',
    kind: syncObjectKind,
    finalizer: { handledBy: 'reconciler' },
    generation: 'off',
    retry: 'growing',
    sources: [
      watchSource({ cache: world.installations, filter: onlyDeletions, toPrimary: lockOf('Installation') }),
      watchSource({ cache: world.executions, filter: onlyDeletions, toPrimary: lockOf('Execution') }),
    ],
    reconciler: {
      async reconcile(lock, ctx) {
        if (await isThere(lock)) return { write: 'none' };
        const { uid } = lock.metadata;
        await ctx.write(
          { verb: 'delete', kind: syncObjectKind, key: ctx.key, ...(uid && { uid }) },
          ctx.signal,
        );
        return { write: 'none' };
      },
    },
  };
}

const kinds = { Installation: installationKind, Execution: executionKind } as const;

const lockOf =
  (kind: 'Installation' | 'Execution') =>
  ({ metadata: { namespace, uid } }: View<Obj>): readonly Key[] => [
    joinKey(namespace, lockName(kind, uid ?? '')),
  ];
