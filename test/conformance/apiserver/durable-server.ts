/**
 * A server that stores its data in a folder, in a process that a test can kill: prints its address and token, then
 * serves.
 */
import { startApiServer } from '../../../src/apiserver/server.ts';

const dir = process.argv[2];
if (dir === undefined) throw new Error('usage: durable-server.ts FOLDER');
void startApiServer({ storage: { kind: 'file', dir } }).then(
  (server) => {
    process.stdout.write(`${JSON.stringify({ url: server.url, ca: server.ca, token: server.token })}\n`);
    process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));
  },
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
