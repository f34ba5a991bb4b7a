/** A server on loopback that answers as a test says, and records which credentials it received. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Answer =
  string | Buffer | { readonly status: number; readonly headers?: Readonly<Record<string, string>> };

export class FileServer {
  /** By path with its query. */
  readonly answers = new Map<string, Answer>();
  /** `path authorization` */
  readonly asked: string[] = [];
  /** Of the connections that are open. */
  readonly sockets = new Set<Socket>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response);
  });

  static async start(): Promise<FileServer> {
    const server = new FileServer();
    server.#server.on('connection', (socket: Socket) => {
      server.sockets.add(socket.once('close', () => server.sockets.delete(socket)));
    });
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  redirect(path: string, location: string): void {
    this.answers.set(path, { status: 302, headers: { location } });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    this.asked.push(`${url} ${headers.authorization ?? ''}`.trim());
    const answer = this.answers.get(url) ?? { status: 404 };
    if (typeof answer === 'string' || Buffer.isBuffer(answer)) response.end(answer);
    else response.writeHead(answer.status, answer.headers).end();
  }
}
