/** The garbage collector: deletes objects some time after their last owner. */
import { NotFound } from '../../../src/runtime/errors.ts';
import type { Chance } from '../../../src/testing/engine/chance.ts';
import type { Scheduler } from '../../../src/testing/engine/scheduler.ts';
import { kinds, nameOf, type Stored } from './objects.ts';
import type { Server } from './server.ts';

const DELAY_MS = 2_000;

export function collectGarbage(server: Server, scheduler: Scheduler, chance: Chance): void {
  const byKind = new Map(Object.values(kinds).map((kind) => [kind.kind, kind]));
  const isOrphan = ({ metadata }: Stored): boolean => {
    const owners = metadata.ownerReferences ?? [];
    return owners.length > 0 && owners.every(({ uid }) => !server.exists(uid));
  };
  const collect = ({ kind, metadata }: Stored): void => {
    const { namespace, name, uid } = metadata;
    scheduler.add(
      () => {
        const known = byKind.get(kind);
        const key = namespace ? `${namespace}/${name}` : name;
        const now = known && server.find(known, key);
        if (!known || !now || now.metadata.uid !== uid || !isOrphan(now)) return;
        scheduler.trace.note(() => `garbage collector: deletes ${nameOf(now)}`);
        try {
          server.write({ verb: 'delete', kind: known, key, uid: uid ?? '' }, 'garbage collector');
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
        }
      },
      chance.between(1, DELAY_MS),
    );
  };
  server.onChange(({ type, object }) => {
    if (type === 'ADDED' && isOrphan(object)) collect(object);
    if (type !== 'DELETED') return;
    const gone = object.metadata.uid;
    for (const other of server.list()) {
      if (other.metadata.ownerReferences?.some(({ uid }) => uid === gone) && isOrphan(other)) collect(other);
    }
  });
}
