import { startApiServer } from '../../../src/apiserver/server.ts';
import { clientAndCache } from './client-and-cache.ts';

clientAndCache('the embedded API server', async () => {
  const server = await startApiServer();
  return { kubeconfig: server.kubeconfig, stop: () => server.close() };
});
