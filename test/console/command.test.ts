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
import type { DeployItemTemplate } from '../../src/api/kinds/execution.ts';
import type { PlanDocument } from '../../src/cli/commands/plan/document.ts';
import { root } from '../support/landscape.ts';
import { selfCommand } from '../../src/cli/self-command.ts';

const PROGRAM = join(import.meta.dirname, '../../dist/src/cli/main.js');
const MAX_BYTES = 300_000;
const DNS_DEPLOYER = `
  export const dns = {
    type: 'example.org/dns', name: 'dns.example.org', version: '1.0.0',
    config: { decode: (document) => document },
    apply() { throw new Error('a plan must not apply'); },
    remove() { throw new Error('a plan must not remove'); },
    async plan() {
      const ref = { apiVersion: 'dns.example.org/v1', kind: 'Zone', name: 'shop' };
      return { objects: [{ change: 'create', ref, after: { ...ref } }], notes: [] };
    },
  };`;

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

  /** With the session that the printed link starts. */
  async function session(child: ReturnType<typeof start>): Promise<(path: string) => Promise<Response>> {
    const { origin, hash } = await linkOf(child);
    const started = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json' },
      body: JSON.stringify({ token: hash.replace('#token=', '') }),
    });
    expect(started.status).to.equal(204);
    const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? '';
    return (path) => fetch(origin + path, { headers: { cookie } });
  }

  async function stop(child: ReturnType<typeof start>): Promise<void> {
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    expect(await exit).to.deep.equal([0, null]);
  }

  it('serves the landscapes of the kubeconfig until it is interrupted', async () => {
    const scene = await cluster.scene();
    await scene.create(root('web'));
    const child = start('--port', '0');
    const get = await session(child);
    const answer = await get('/api/landscapes');
    const { items } = (await answer.json()) as { items: { id: string }[] };
    expect(items.map(({ id }) => id)).to.deep.equal([`${scene.ns}/web`]);
    await stop(child);
  });

  it('plans with the configuration and the deployers that it is given', async () => {
    const scene = await cluster.scene();
    const config = { apiVersion: 'dns.example.org/v1', kind: 'Cfg' };
    const items = [{ name: 'zone', type: 'example.org/dns', config }] as unknown as DeployItemTemplate[];
    await scene.create(root('names', { items }));
    await scene.create(root('typo', { annotations: {}, more: { improts: [] } }));
    writeFileSync(join(folder, 'config.yaml'), 'strict: true\n');
    writeFileSync(join(folder, 'deployer.mjs'), DNS_DEPLOYER);
    const planned = async (...args: readonly string[]) => {
      const child = start('--port', '0', '-n', scene.ns, ...args);
      const get = await session(child);
      const of = async (name: string): Promise<PlanDocument> =>
        (await (await get(`/api/landscapes/${scene.ns}/${name}/changes`)).json()) as PlanDocument;
      const plans = { names: await of('names'), typo: await of('typo') };
      await stop(child);
      return plans;
    };
    const without = await planned();
    expect(without.names.items.map(({ isKnown }) => isKnown)).to.deep.equal([false]);
    expect(without.typo.problems).to.deep.equal([]);
    const { names, typo } = await planned(
      ...['--config', join(folder, 'config.yaml')],
      ...['--deployer', join(folder, 'deployer.mjs')],
    );
    expect(names.items[0]?.objects.map(({ kind, name }) => `${kind} ${name}`)).to.deep.equal(['Zone shop']);
    expect(typo.problems.map(({ message }) => message).join()).to.contain('improts');
  });

  it('names a mistake in the configuration at the start', async () => {
    const file = join(folder, 'wrong.yaml');
    writeFileSync(file, 'strict: perhaps\n');
    const child = start('--port', '0', '--config', file);
    let errors = '';
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    expect(await once(child, 'exit')).to.deep.equal([2, null]);
    expect(errors).to.contain(`configuration ${file}: strict`);
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
    expect(errors).to.contain(`install the definitions with: ${selfCommand(['node', PROGRAM], [])} crds`);
    await server.close();
  });

  it('is small', () => {
    const sizes = [...readAssets().values()].map(({ body }) => gzipSync(body).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).to.be.below(MAX_BYTES);
  });
});
