/** What the routes of the server share: the viewer and the landscape of a request, and refusals. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Node } from '../tree/tree.ts';
import { Refused, type Viewer } from './access.ts';

export interface Landscape {
  readonly Params: { readonly namespace: string; readonly name: string };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests below /api/ that need a session. */
    viewer: Viewer | undefined;
  }
}

export const LANDSCAPE = '/api/landscapes/:namespace/:name';

export const refuse = (reply: FastifyReply, code: number, error: string): FastifyReply =>
  reply.code(code).send({ error });

/** The guard lets only requests with a viewer pass. */
export function viewerOf({ viewer }: Pick<FastifyRequest, 'viewer'>): Viewer {
  if (!viewer) throw new Error('the request has no viewer');
  return viewer;
}

/** @throws Refused if the viewer has no such landscape */
export function rootOf(
  request: Pick<FastifyRequest, 'viewer'> & { readonly params: Landscape['Params'] },
): Node {
  const { namespace, name } = request.params;
  const root = viewerOf(request).model.root(namespace, name);
  if (root) return root;
  throw new Refused(404, `there is no root installation ${name} in namespace ${namespace}`);
}
