/** A controller that writes the size of a ConfigMap into the status of the Digest of the same name. */
import { bySameName, ConfigMap, watchSource, type Kind, type Manager, type Obj } from 'espalier/runtime';

export interface Digest extends Obj {
  status?: { characters: number };
}

export const digests: Kind<Digest> = {
  group: 'digest.example.org',
  version: 'v1',
  kind: 'Digest',
  plural: 'digests',
  namespaced: true,
};

export const addDigests = (manager: Manager) => {
  // A cluster may have a hundred thousand ConfigMaps, of which few have a Digest.
  const configMaps = manager.caches.bounded(ConfigMap, { maxObjects: 500, maxIdleMs: 600_000 });

  return manager.add<Digest>({
    name: 'digests',
    kind: digests,
    sources: [watchSource({ cache: configMaps.metadata, toPrimary: bySameName })],
    reconciler: {
      async reconcile(_digest, ctx) {
        const found = await configMaps.read(ctx.key, ctx.signal);
        const object = ctx.draft();
        object.status = { characters: Object.values(found?.data ?? {}).join('').length };
        return { write: 'status', object };
      },
    },
  });
};
