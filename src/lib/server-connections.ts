/**
 * Closes the connections of an HTTP server that ends. `server.close()` and `closeIdleConnections()` leave connections
 * open that have never sent a request, and API servers open such connections in advance.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from './clock.ts';

export class ServerConnections {
  readonly #sockets = new Set<Socket>();
  #requests = 0;
  #hasEnded = false;
  #onIdle: () => void = () => undefined;

  /** @param server an HTTP or HTTPS server that does not listen yet */
  constructor(server: Pick<Server, 'on'>) {
    server.on('connection', (socket: Socket) => {
      if (this.#hasEnded) {
        socket.destroy();
        return;
      }
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (_, response) => {
      this.#requests++;
      response.once('close', () => {
        if (--this.#requests === 0) this.#onIdle();
      });
    });
  }

  /**
   * Closes all connections when the server has responded to all requests that it has received. Call it after
   * `server.close()`.
   * @param patienceMs after this time also those whose request has no response
   */
  async close(clock: Clock, patienceMs: number): Promise<void> {
    if (this.#requests > 0)
      await new Promise<void>((resolve) => {
        const cancel = clock.at(clock.now() + patienceMs, resolve);
        this.#onIdle = () => {
          cancel();
          resolve();
        };
      });
    this.#hasEnded = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
