/**
 * Reads the bodies of requests to a server. All bodies that the server has in memory are counted while they arrive. If
 * they are too large together, the client with the most bytes loses its largest unfinished body, so that small requests
 * of others are answered however many unfinished ones another client sends.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sizeText } from './sizes.ts';

/** How long a client may take to send a request. Node.js checks it every 30 s. */
export const REQUEST_TIMEOUT_MS = 30_000;

/** The body is not read; the message is for the client. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  readonly statusCode: 413 | 503;

  constructor(statusCode: 413 | 503, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}

interface Body {
  readonly client: string;
  bytes: number;
  isComplete: boolean;
  refuse(error: Error): void;
}

interface Exchange {
  readonly request: Pick<IncomingMessage, 'headers' | 'socket' | 'on' | 'destroy'>;
  /** The bytes count until it has been sent, or its connection is closed. */
  readonly response: Pick<ServerResponse, 'once'>;
}

export class RequestBodies {
  readonly #maxBytes: number;
  readonly #maxTotal: number;
  readonly #bodies = new Set<Body>();

  /**
   * @param maxBytes of one body
   * @param maxTotal of all bodies together
   */
  constructor(maxBytes: number, maxTotal: number) {
    this.#maxBytes = maxBytes;
    this.#maxTotal = maxTotal;
  }

  /** Bytes in memory. */
  get bytes(): number {
    return sumOf(this.#bodies);
  }

  /** @throws BodyRefused; the error of the request */
  read({ request, response }: Exchange): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const tooLarge = new BodyRefused(413, `a body can have ${sizeText(this.#maxBytes)}`);
      let chunks: Buffer[] = [];
      const drop = (): void => {
        chunks = [];
        this.#bodies.delete(body);
      };
      const body: Body = {
        client: request.socket.remoteAddress ?? '',
        bytes: 0,
        isComplete: false,
        refuse: (error) => {
          drop();
          // What the client sends after the answer is not read.
          response.once('finish', () => request.destroy());
          reject(error);
        },
      };
      if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) {
        body.refuse(tooLarge);
        return;
      }
      this.#bodies.add(body);
      response.once('close', drop);
      request.on('data', (chunk: Buffer) => {
        if (!this.#bodies.has(body)) return;
        body.bytes += chunk.length;
        if (body.bytes > this.#maxBytes) body.refuse(tooLarge);
        else {
          chunks.push(chunk);
          this.#makeRoom(body);
        }
      });
      request.on('end', () => {
        body.isComplete = true;
        resolve(Buffer.concat(chunks));
      });
      request.on('error', (error: Error) => {
        body.refuse(error);
      });
    });
  }

  #makeRoom(current: Body): void {
    const refusal = new BodyRefused(
      503,
      `the requests of all clients have more than ${sizeText(this.#maxTotal)} together; try again`,
    );
    while (sumOf(this.#bodies) > this.#maxTotal) (this.#largest() ?? current).refuse(refusal);
  }

  /** Of the client that has the most bytes in unfinished bodies. */
  #largest(): Body | undefined {
    const unfinished = [...this.#bodies].filter(({ isComplete }) => !isComplete);
    const byClient = new Map<string, Body[]>();
    for (const body of unfinished) byClient.set(body.client, [...(byClient.get(body.client) ?? []), body]);
    const [most] = [...byClient.values()].sort((a, b) => sumOf(b) - sumOf(a));
    return most?.reduce((a, b) => (b.bytes > a.bytes ? b : a));
  }
}

const sumOf = (bodies: Iterable<Body>): number => {
  let sum = 0;
  for (const { bytes } of bodies) sum += bytes;
  return sum;
};
