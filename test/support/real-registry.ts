/** A real registry on this machine, if it was built. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRegistry } from '../../hack/registry/binary.ts';
import { freePort } from './ports.ts';

/** Why there is none; undefined if there is one. */
export const whyNoRegistry = (): string | undefined =>
  findRegistry() === undefined
    ? 'there is no docker-registry on the PATH; make test-registry builds one'
    : undefined;

export interface RealRegistry {
  /** `host:port` */
  readonly address: string;
  stop(): Promise<void>;
}

/** @param folder its storage */
export async function startRealRegistry(folder: string): Promise<RealRegistry> {
  mkdirSync(folder, { recursive: true });
  const address = `127.0.0.1:${String(await freePort())}`;
  const config = {
    version: 0.1,
    log: { level: 'info', formatter: 'json' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: address },
  };
  const file = join(folder, 'config.yml');
  writeFileSync(file, JSON.stringify(config));
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'none' };
  const child = spawn(findRegistry() ?? '', ['serve', file], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  await new Promise<void>((ready, failed) => {
    const read = (chunk: Buffer): void => {
      lines.push(chunk.toString('utf8'));
      if (lines.join('').includes('listening on')) ready();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', failed);
    child.once('exit', (code) => {
      failed(new Error(`the registry ended with code ${String(code)}: ${lines.join('').slice(-1000)}`));
    });
  });
  return {
    address,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
