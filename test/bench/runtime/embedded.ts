/** The embedded API server in a separate process, until its parent disconnects; it sends `{ kubeconfig }`. */
import { startApiServer } from '../../../src/apiserver/server.ts';

const server = await startApiServer({ listen: { tls: false } });
process.send?.({ kubeconfig: server.kubeconfig });
process.once('disconnect', () => void server.close().then(() => process.exit(0)));
