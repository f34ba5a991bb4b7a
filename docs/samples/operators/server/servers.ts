/** A controller of servers whose names a cloud chooses; after a crash, it finds the server that it may have created. */
import {
  assigned,
  externalController,
  type ExternalHandler,
  type ExternalObject,
  type ExternalPorts,
  type Recovered,
} from 'espalier/external';
import type { Kind } from 'espalier/runtime';

export interface Server extends ExternalObject {
  spec: { size: string };
}

export const serverKind: Kind<Server> = {
  group: 'cloud.example.org',
  version: 'v1',
  kind: 'Server',
  plural: 'servers',
  namespaced: true,
};

/** The cloud. Each method returns undefined if there is no such server. */
export interface Cloud {
  create(size: string, tags: Readonly<Record<string, string>>): Promise<string>;
  sizeOf(id: string): Promise<string | undefined>;
  resize(id: string, size: string): Promise<void>;
  remove(id: string): Promise<void>;
  findByTag(tag: string, value: string): Promise<string | undefined>;
}

const ownerOf = ({ metadata }: Server): string => metadata.uid ?? '';

function handlerOf(cloud: Cloud): ExternalHandler<Server> {
  return {
    async observe(server, id) {
      const size = await cloud.sizeOf(id);
      if (size === undefined) return { exists: false, upToDate: false, state: 'unknown' };
      return { exists: true, upToDate: size === server.spec.size, state: 'ready' };
    },
    async create(server) {
      return { externalName: await cloud.create(server.spec.size, { owner: ownerOf(server) }) };
    },
    async recover(server): Promise<Recovered> {
      const id = await cloud.findByTag('owner', ownerOf(server));
      return id === undefined ? { created: false } : { created: true, externalName: id };
    },
    async update(server, id) {
      await cloud.resize(id, server.spec.size);
      return {};
    },
    delete: (_, id) => cloud.remove(id),
  };
}

export const serverController = (cloud: Cloud, ports: ExternalPorts) =>
  externalController<Server>(
    {
      name: 'servers',
      kind: serverKind,
      connector: { connect: () => Promise.resolve(handlerOf(cloud)) },
      names: assigned,
    },
    ports,
  );
