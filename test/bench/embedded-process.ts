/**
 * The embedded API server in a process of its own, until its parent disconnects. It sends `{ kubeconfig }`, and for
 * each message the requests since the last one, with the sizes of their bodies and answers.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { startApiServer } from '../../src/apiserver/server.ts';

/** Size of the body and of the answer of each write, by the id of the request in the audit log. */
const sizes = new Map<string, { readonly bodyBytes: number; readonly answerBytes: number }>();
// Costs a microsecond; a proxy that counts would cost as much as the server.
subscribe('http.server.response.finish', (message) => {
  const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
  const id = response.getHeader('audit-id');
  if (request.method === 'GET' || typeof id !== 'string') return;
  sizes.set(id, {
    bodyBytes: Number(request.headers['content-length'] ?? 0),
    answerBytes: Number(response.getHeader('content-length') ?? 0),
  });
});

const server = await startApiServer({ history: { events: 1_000_000, seconds: 3600 } });
let mark = server.audit.mark();
process.on('message', () => {
  const { events } = server.audit.since(mark);
  mark = server.audit.mark();
  process.send?.(events.map((event) => ({ ...event, ...sizes.get(event.auditID) })));
  sizes.clear();
});
process.once('disconnect', () => void server.close().then(() => process.exit(0)));
process.send?.({ kubeconfig: server.kubeconfig });
