import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataObjectKind, type DataObject } from '../../../src/api/kinds/dataobject.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { namespaceKind } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { freePort } from '../../support/ports.ts';
import { objection } from '../../support/webhooks.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const root = join(import.meta.dirname, '../../..');

/** A separate process; `until` waits for its output. */
class Program {
  readonly process: ChildProcess;
  output = '';
  errors = '';

  /** @param args of node */
  constructor(args: readonly string[]) {
    this.process = spawn(process.execPath, ['--import', 'tsx', ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.process.stderr?.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
  }

  async until(text: string): Promise<void> {
    while (!this.output.includes(text) && !this.errors.includes(text)) {
      if (this.process.exitCode !== null) throw new Error(`ended: ${this.output}${this.errors}`);
      const { stdout, stderr } = this.process;
      // Remove the listeners of the promises that lost the race, or each round leaves listeners behind.
      const round = new AbortController();
      await Promise.race([
        once(stdout!, 'data', round),
        once(stderr!, 'data', round),
        once(this.process, 'exit', round),
      ]).finally(() => {
        round.abort();
      });
    }
  }

  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    const exit = once(this.process, 'exit') as Promise<[number | null]>;
    this.process.kill(signal);
    return (await exit)[0];
  }
}

const espalier = (...args: string[]): Program => new Program(['src/cli/main.ts', ...args]);

async function clientFor(kubeconfigFile: string): Promise<Client> {
  const kubeconfig = { file: kubeconfigFile };
  return createClient(
    await connect({ kubeconfig, userAgent: 'test', clock: systemClock, log: silentLogger }),
  );
}

const kubeconfigIn = (output: string): string => /KUBECONFIG=(\S+)/.exec(output)?.[1] ?? '';

describe('espalier demo', function () {
  this.timeout(60_000);

  it('installs the sample landscape and exits with 0 without a terminal', async () => {
    const terminal = fakeTerminal();
    expect(await runProgram(['demo'], terminal)).to.equal(0);
    expect(terminal.errors).to.equal('');
    expect(terminal.output).to.match(/^hello-landscape +Installation +✔ Succeeded/m);
    expect(terminal.output).to.match(/^│ +├─ storage +DeployItem +✔ Succeeded/m);
    expect(terminal.output).to.contain('It exports hello-url: http://web.hello.svc');
    expect(terminal.output).to.contain('Try next:');
  });

  it('prints its objects for other clusters', async () => {
    const terminal = fakeTerminal();
    expect(await runProgram(['demo', '--print'], terminal)).to.equal(0);
    const kinds = [...terminal.output.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    expect(kinds).to.deep.equal(['Namespace', 'ConfigMap', 'Target', 'Installation']);
  });
});

describe('espalier dev', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps objects and address in its folder, and exits with 0 on SIGTERM', async () => {
    const data = join(folder, 'data');
    const first = espalier('dev', '--data', data, '--namespace', 'mine');
    await first.until('Ctrl-C to stop');
    const kubeconfig = readFileSync(join(data, 'kubeconfig'), 'utf8');
    expect(kubeconfig).to.contain('namespace: mine');
    const client = await clientFor(join(data, 'kubeconfig'));
    await client.send({
      verb: 'create',
      kind: dataObjectKind,
      object: {
        apiVersion: 'landscaper.gardener.cloud/v1alpha1',
        kind: 'DataObject',
        metadata: { name: 'kept', namespace: 'mine' },
        data: 42,
      },
    });
    const invalid = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Target',
      metadata: { name: 'unclear', namespace: 'mine' },
      spec: { type: 'landscaper.gardener.cloud/kubernetes-cluster', config: {}, secretRef: { name: 'x' } },
    };
    const refusal: unknown = await client
      .send({ verb: 'create', kind: targetKind, object: invalid })
      .catch((error: unknown) => error);
    expect((refusal as Error).message).to.contain('admission webhook "targets.validation');
    expect(await first.end('SIGTERM')).to.equal(0);

    const second = espalier('dev', '--data', data, '--namespace', 'mine');
    await second.until('Ctrl-C to stop');
    expect((await client.get<DataObject>(dataObjectKind, 'mine/kept')).data).to.equal(42);
    await client.close();
    expect(await second.end()).to.equal(0);
  });

  it('exits if its controllers cannot start', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const failed = espalier('dev', '--metrics-address', `127.0.0.1:${String(port)}`);
    const [code] = (await once(failed.process, 'exit')) as [number | null];
    server.close();
    expect(code).to.equal(1);
    expect(failed.errors).to.contain(`127.0.0.1:${String(port)}`);
  });

  it('reports the port that is in use', async () => {
    const first = espalier('apiserver');
    await first.until('KUBECONFIG');
    const port = /127\.0\.0\.1:(\d+)/.exec(first.output)?.[1] ?? '';
    const terminal = fakeTerminal();
    expect(await runProgram(['apiserver', '--port', port], terminal)).to.equal(1);
    expect(terminal.errors).to.equal(
      `error: cannot listen on 127.0.0.1:${port}: the port is in use; choose another with --port, or 0 for any free one\n`,
    );
    await first.end();
  });
});

describe('a program that is slow to stop', function () {
  this.timeout(60_000);

  it('exits with 1 at the second signal', async () => {
    const script = `
      const { onInterrupt } = await import('./src/runtime/manager/signals.ts');
      setInterval(() => undefined, 1000);
      onInterrupt(() => console.log('stopping'));
      console.log('up');
    `;
    const program = new Program(['--input-type=module', '-e', script]);
    await program.until('up');
    program.process.kill('SIGTERM');
    await program.until('stopping');
    expect(await program.end('SIGINT')).to.equal(1);
  });
});

describe('espalier apiserver', function () {
  this.timeout(60_000);

  it('serves until it is interrupted and deletes its temporary kubeconfig', async () => {
    const program = espalier('apiserver', '--crds');
    await program.until('KUBECONFIG');
    const file = kubeconfigIn(program.output);
    const client = await clientFor(file);
    expect((await client.get(namespaceKind, 'default')).metadata.name).to.equal('default');
    await client.close();
    expect(await program.end()).to.equal(0);
    expect(existsSync(file)).to.equal(false);
    expect(program.errors).to.equal('');
  });
});

describe('espalier start --lease', function () {
  this.timeout(90_000);

  it('divides the work among replicas, and gives all of it to the last one', async () => {
    const server = espalier('apiserver');
    await server.until('KUBECONFIG');
    const options = ['--kubeconfig', kubeconfigIn(server.output), '--lease', 'default/espalier'];
    const first = espalier('start', ...options);
    await first.until('"shards":16,"of":16');
    const second = espalier('start', ...options);
    await second.until('"shards":8,"of":16');
    await first.until('"shards":8,"of":16');

    expect(await first.end('SIGTERM')).to.equal(0);
    await second.until('"shards":16,"of":16');
    expect(await second.end('SIGTERM')).to.equal(0);
    await server.end();
  });
});

describe('espalier webhooks', function () {
  this.timeout(60_000);

  it('reject invalid objects at the API server, until all of them are disabled', async () => {
    const server = espalier('apiserver', '--crds');
    await server.until('KUBECONFIG');
    const kubeconfig = kubeconfigIn(server.output);
    const port = String(await freePort());
    const options = ['--kubeconfig', kubeconfig, '--host', '127.0.0.1', '--port', port];
    options.push('--webhook-url', `https://127.0.0.1:${port}`, '--cert-ns', 'default');
    const both = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Target',
      metadata: { name: 'both', namespace: 'default' },
      spec: { type: 'test.example/t', config: 1, secretRef: { name: 's' } },
    };
    const client = await clientFor(kubeconfig);

    const webhooks = espalier('webhooks', ...options);
    await webhooks.until('started');
    expect((await objection(client, 'targets', both))?.message).to.contain(
      'denied the request: spec: Invalid value',
    );
    expect(await webhooks.end('SIGTERM')).to.equal(0);
    expect((await objection(client, 'targets', both))?.message).to.contain('failed calling webhook');

    const nothing = espalier('webhooks', ...options, '--disable-webhooks', 'all');
    await nothing.until('started');
    expect(await objection(client, 'targets', both)).to.equal(undefined);
    expect(await nothing.end()).to.equal(0);
    await client.close();
    await server.end();
  });
});
