/** The span of a request to an API server, with the standard attributes of HTTP clients. */
import { inSpan } from '../../observability/tracing/scope.ts';
import type { RequestRef } from '../errors.ts';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly ref: RequestRef;
}

/**
 * Calls `send` within a span. Only the path is recorded: neither query, headers nor bodies.
 * @param server the base URL
 */
export const inRequestSpan = <R extends { readonly statusCode: number }>(
  request: Request,
  server: string,
  send: () => Promise<R>,
): Promise<R> =>
  inSpan(
    () => ({
      name: `${request.method} ${request.ref.kind}`,
      kind: 'client',
      attributes: attributesOf(request, server),
    }),
    async (span) => {
      const response = await send();
      const { statusCode } = response;
      span.set({ 'http.response.status_code': statusCode });
      if (statusCode >= 400) {
        span.set({ 'error.type': String(statusCode) });
        span.fail('');
      }
      return response;
    },
  );

function attributesOf({ method, path, ref }: Request, server: string) {
  const { hostname, port, protocol } = new URL(server);
  const [pathOnly = ''] = path.split('?');
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'http:' ? 80 : 443)),
    'url.path': pathOnly,
    'espalier.request.verb': ref.verb,
  };
}
