/** The operator: a resource in another service for each Skeleton. */
import { externalController, type ExternalHandler } from 'espalier/external';
import type { Manager } from 'espalier/runtime';
import { skeletons, spec, type Skeleton } from './kind.ts';

/** What the operator needs of the service. */
export interface Service {
  read(name: string): Promise<Skeleton['spec'] | undefined>;
  /** Creates or changes a resource. */
  write(name: string, wanted: Skeleton['spec']): Promise<unknown>;
  /** Succeeds also if there is no such resource. */
  remove(name: string): Promise<unknown>;
}

/** Replace it with a client of your service. */
export function inMemory(resources = new Map<string, Skeleton['spec']>()): Service {
  return {
    read: async (name) => resources.get(name),
    write: async (name, { message, size }) => resources.set(name, { message, size }),
    remove: async (name) => resources.delete(name),
  };
}

/** Each step may be repeated: after a crash, or if an answer was lost. */
function handlerOf(service: Service): ExternalHandler<Skeleton> {
  const save = async ({ spec }: Skeleton, name: string) => {
    await service.write(name, spec);
    return {};
  };
  return {
    async observe({ spec: { message, size } }, name) {
      const found = await service.read(name);
      if (!found) return { exists: false, upToDate: false, state: 'unknown' };
      const upToDate = found.message === message && found.size === size;
      return { exists: true, upToDate, state: 'ready', attributes: { size: found.size } };
    },
    create: save,
    update: save,
    async delete(_, name) {
      await service.remove(name);
    },
  };
}

/** Adds the controller to a manager. */
export const addController = (manager: Manager, service = inMemory()) =>
  manager.add(
    externalController<Skeleton>(
      {
        name: 'skeletons',
        kind: skeletons,
        specSchema: spec,
        connector: { connect: async () => handlerOf(service) },
      },
      manager,
    ),
  );
