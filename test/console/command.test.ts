/** `espalier console` as a program, without a browser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { startApiServer } from '../../src/apiserver/server.ts';
import { readAssets } from '../../src/cli/console/assets.ts';
import { startCluster, type Cluster } from '../support/cluster.ts';
import { root } from '../support/landscape.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/src/cli/main.js');
const MAX_BYTES = 300_000;

describe('espalier console', function () {
  this.timeout(60_000);
  let cluster: Cluster;
  let folder: string;
  before(async () => {
    cluster = await startCluster();
    folder = mkdtempSync(join(tmpdir(), 'espalier-console-'));
    writeFileSync(join(folder, 'kubeconfig'), cluster.kubeconfig);
  });
  after(async () => {
    rmSync(folder, { recursive: true });
    await cluster.stop();
  });

  const start = (...args: readonly string[]) =>
    spawn(process.execPath, [PROGRAM, 'console', '--kubeconfig', join(folder, 'kubeconfig'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  /** The printed link. */
  async function linkOf(child: ReturnType<typeof start>): Promise<URL> {
    for await (const line of createInterface({ input: child.stdout })) {
      const [link] = /http:\S+/.exec(line.replace(/ at http\S+\./, '')) ?? [];
      if (link !== undefined) return new URL(link);
    }
    throw new Error('the program printed no link');
  }

  it('serves the landscapes of the kubeconfig until it is interrupted', async () => {
    const scene = await cluster.scene();
    await scene.create(root('web'));
    const child = start('--port', '0');
    const { origin, hash } = await linkOf(child);
    const session = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ token: hash.replace('#token=', '') }),
    });
    expect(session.status).to.equal(204);
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
    const answer = await fetch(`${origin}/api/landscapes`, { headers: { cookie } });
    const { items } = (await answer.json()) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).to.deep.equal([`${scene.ns}/web`]);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });

  it('names the port that is in use, and the way out', async () => {
    const first = start('--port', '0');
    const { port } = await linkOf(first);
    const second = start('--port', port);
    let errors = '';
    second.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const [code] = (await once(second, 'exit')) as [number];
    expect(code).to.equal(1);
    expect(errors).to.contain(
      `cannot serve the console on port ${port}: the port is in use; choose another with --port`,
    );
    first.kill('SIGINT');
    await once(first, 'exit');
  });

  it('names the missing definitions instead of waiting for them', async () => {
    const server = await startApiServer({ listen: { tls: false } });
    const file = join(folder, 'without-definitions');
    writeFileSync(file, server.kubeconfig);
    const child = start('--port', '0', '--kubeconfig', file);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    expect(await once(child, 'exit')).to.deep.equal([1, null]);
    expect(errors).to.contain('install the definitions with: espalier crds');
    await server.close();
  });

  it('is small', () => {
    const sizes = [...readAssets().values()].map(({ body }) => gzipSync(body).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.below(MAX_BYTES);
  });
});
