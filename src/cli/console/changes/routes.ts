/** What the next job of a landscape would change, and which live objects differ from their deploy items. */
import type { FastifyInstance } from 'fastify';
import { Refused } from '../access.ts';
import { LANDSCAPE, rootOf, viewerOf, type Landscape } from '../routes.ts';

export function addChanges(server: FastifyInstance): void {
  server.get<Landscape>(`${LANDSCAPE}/changes`, async (request, reply) => {
    const { namespace, name } = rootOf(request);
    const { plan } = viewerOf(request);
    if (!plan)
      throw new Refused(
        501,
        'this console does not compute plans; ask an administrator to set console.plans.enabled, run espalier console ' +
          `on your machine, or run: espalier plan ${name} -n ${namespace}`,
      );
    const ending = new AbortController();
    reply.raw.on('close', () => {
      ending.abort(new Error('the browser closed the connection'));
    });
    const json = await plan({ namespace, name }, ending.signal);
    return reply.type('application/json; charset=utf-8').send(json);
  });
}
