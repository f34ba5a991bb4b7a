/** Ports on loopback: free ones for later servers, and one that refuses connections. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';

/** Ports that are free now; all are held until all are found, so that they differ. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listening));
  const ports = servers.map(portOf);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = NaN] = await freePorts(1);
  return port;
}

export interface RefusingPort {
  readonly port: number;
  release(): void;
}

/**
 * A port on which no server listens, and none can start to: it is the local end of a connection. A port that was just
 * free may be assigned to the server of another test.
 */
export async function refusingPort(): Promise<RefusingPort> {
  const server = await listening();
  const accepted = once(server, 'connection');
  const socket = connect(portOf(server), '127.0.0.1');
  await Promise.all([accepted, once(socket, 'connect')]);
  return {
    port: socket.localPort ?? NaN,
    release() {
      socket.destroy();
      server.close();
    },
  };
}

async function listening(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
