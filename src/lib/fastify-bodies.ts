/** Lets a server of fastify read its bodies with a budget. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestBodies } from './request-bodies.ts';

interface Server {
  removeAllContentTypeParsers(): void;
  addHook(
    name: 'onRequest',
    hook: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse },
    ) => Promise<void>,
  ): unknown;
  addContentTypeParser(
    type: string,
    parser: (request: unknown, raw: IncomingMessage) => Promise<unknown>,
  ): unknown;
}

/** @param type media type of the bodies; `*`: all. @param parse its errors are answered like those of `bodies` */
export function readBodies(
  server: Server,
  bodies: RequestBodies,
  type: string,
  parse: (body: Buffer) => unknown,
): void {
  const responses = new WeakMap<IncomingMessage, ServerResponse>();
  server.removeAllContentTypeParsers();
  server.addHook('onRequest', (request, reply) => {
    responses.set(request.raw, reply.raw);
    return Promise.resolve();
  });
  server.addContentTypeParser(type, async (_, request) => {
    const response = responses.get(request);
    if (!response) throw new TypeError('the request has no response');
    return parse(await bodies.read({ request, response }));
  });
}
