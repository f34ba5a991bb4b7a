/**
 * The embedded API server in a process of its own, until its parent disconnects. It sends `{ kubeconfig }`, and for
 * each message the requests since the last one.
 */
import { startApiServer } from '../../src/apiserver/server.ts';

const server = await startApiServer({ history: { events: 1_000_000, seconds: 3600 } });
let mark = server.audit.mark();
process.on('message', () => {
  const { events } = server.audit.since(mark);
  mark = server.audit.mark();
  process.send?.(events);
});
process.once('disconnect', () => void server.close().then(() => process.exit(0)));
process.send?.({ kubeconfig: server.kubeconfig });
