import { readFileSync } from 'node:fs';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { controllers } from './controllers.ts';

const external = process.env['ESPALIER_TEST_KUBECONFIG'];

if (external) {
  controllers('the API server given', () =>
    Promise.resolve({ kubeconfig: readFileSync(external, 'utf8'), stop: () => Promise.resolve() }),
  );
} else {
  controllers('the embedded API server', async () => {
    const server = await startApiServer();
    return { kubeconfig: server.kubeconfig, stop: () => server.close() };
  });
}
