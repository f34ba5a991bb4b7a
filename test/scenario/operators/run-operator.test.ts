/** An operator as a process: what `startOperator` starts and stops, and how `runOperator` begins and ends as a program. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { namespaceScope } from '../../../src/runtime/cache/namespace-scope.ts';
import { bySameName } from '../../../src/runtime/sources/mappers.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { KubeconfigError, LeadershipLostError, SourceError } from '../../../src/runtime/errors.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import {
  startOperator,
  type Operator,
  type OperatorOptions,
  type OperatorProcess,
} from '../../../src/runtime/operator/start-operator.ts';
import { runOperator } from '../../../src/runtime/operator/run-operator.ts';
import { watchSource } from '../../../src/runtime/sources/sources.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { AnyObj, Page } from '../../support/operators.ts';
import { recordingLogger, type LogLine } from '../../support/recording-logger.ts';
import {
  kindOfTest,
  pages,
  read,
  startOperatorCluster,
  type OperatorCluster,
} from '../../support/operators.ts';
import { pause } from '../../support/waiting.ts';
import { eventually } from '../../support/waiting.ts';

const root = join(import.meta.dirname, '../../..');

describe('an operator as a process', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let namespace: string;
  let running: OperatorProcess[];
  before(async () => {
    cluster = await startOperatorCluster();
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
    running = [];
  });
  afterEach(() => Promise.all(running.map((operator) => operator.stop())));
  after(() => cluster?.stop());

  const start = async (options: Partial<OperatorOptions>): Promise<OperatorProcess> => {
    const operator = await startOperator({
      name: 'page-operator',
      kubeconfig: cluster.kubeconfig,
      add: addPages,
      ...options,
    });
    running.push(operator);
    return operator;
  };
  const addPages = (operator: Operator) =>
    operator.add<Page>({
      name: 'pages',
      kind: pages,
      cache: { namespaces: [namespace] },
      reconciler: {
        async reconcile(page, ctx) {
          const object = { ...ctx.draft(), status: { seen: page.spec['text'] } };
          return { write: 'status', object };
        },
      },
    });
  const create = (name: string): Promise<Page> => {
    const metadata = { name, namespace };
    const object = { apiVersion: 'runtime.test.example/v1', kind: 'Page', metadata, spec: { text: 'hello' } };
    return cluster.client.send({ verb: 'create', kind: pages, object });
  };
  const isSeen = (name: string) =>
    eventually(`page ${name} is reconciled`, async () => {
      const page = await read(cluster, pages, `${namespace}/${name}`);
      return page?.status?.['seen'] === 'hello';
    });

  it('connects, reconciles, serves metrics and probes, and closes everything when it stops', async () => {
    const check = { name: 'moon', probe: 'ready', problem: () => undefined } as const;
    const metricsAddress = { host: '127.0.0.1', port: 0 };
    const operator = await start({ metricsAddress, checks: [check] });
    await operator.started;
    await create('one');
    await isSeen('one');
    const health = operator.health ?? '';
    expect(await (await fetch(`${health}/readyz?verbose`)).text()).to.include('[+]moon ok');
    expect(await (await fetch(`${health}/metrics`)).text()).to.include('rest_client_requests_total');
    expect(await operator.stop()).to.equal(0);
    await operator.ended;
    const refused = await fetch(health).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TypeError);
  });

  it('follows the namespaces of a scope, with all caches that name none', async () => {
    const second = await cluster.namespace();
    const scope = namespaceScope([namespace]);
    const seen = new Map<string, string>();
    const operator = await start({
      namespaces: scope,
      add: (op) =>
        op.add<Page>({
          name: 'pages',
          kind: pages,
          sources: [watchSource<ConfigMap, Page>({ cache: op.caches.of(ConfigMap), toPrimary: bySameName })],
          reconciler: {
            reconcile(_page, ctx) {
              seen.set(ctx.key, ctx.secondary(ConfigMap)?.data?.['text'] ?? 'none');
              return Promise.resolve({ write: 'none' });
            },
          },
        }),
    });
    await operator.started;
    const put = async (of: string, text: string): Promise<void> => {
      const metadata = { name: 'one', namespace: of };
      const apiVersion = 'runtime.test.example/v1';
      const map = { apiVersion: 'v1', kind: 'ConfigMap' as const, metadata, data: { text } };
      await cluster.client.send({ verb: 'create', kind: ConfigMap, object: map });
      const object = { apiVersion, kind: 'Page', metadata, spec: {} };
      await cluster.client.send({ verb: 'create', kind: pages, object });
    };
    await put(second, 'second');
    await put(namespace, 'first');
    await eventually('the first is reconciled', () => seen.get(`${namespace}/one`) === 'first');
    expect(seen.has(`${second}/one`)).to.equal(false);
    await scope.set([second]);
    await eventually('the second is reconciled', () => seen.get(`${second}/one`) === 'second');
    seen.clear();
    const body = { data: { text: 'changed' } };
    for (const of of [namespace, second])
      await cluster.client.send({ verb: 'merge', kind: ConfigMap, key: `${of}/one`, body });
    await eventually('the second is reconciled again', () => seen.get(`${second}/one`) === 'changed');
    expect(seen.has(`${namespace}/one`)).to.equal(false);
  });

  it('stops by itself when it loses its lease, and says so', async () => {
    const lease = { namespace, durationMs: 1_500, renewDeadlineMs: 1_000, retryMs: 50 };
    const operator = await start({ lease, identity: 'first' });
    await operator.started;
    const key = `${namespace}/page-operator`;
    const held = await cluster.client.get(leaseKind, key);
    expect(held.spec?.holderIdentity).to.equal('first');
    const spec = {
      holderIdentity: 'thief',
      renewTime: '2100-01-01T00:00:00.000000Z',
      leaseDurationSeconds: 60,
    };
    await cluster.client.send({ verb: 'merge', kind: leaseKind, key, body: { spec } });
    const error = await operator.ended.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(LeadershipLostError);
    await create('late');
    expect((await cluster.client.get(leaseKind, key)).spec?.holderIdentity).to.equal('thief');
    expect((await read(cluster, pages, `${namespace}/late`))?.status).to.equal(undefined);
  });

  it('reports by which source it cannot start', async () => {
    const absent = kindOfTest('absent.example', 'Absent');
    const operator = await start({
      syncTimeoutMs: 200,
      add: (op) =>
        op.add({
          name: 'absent',
          kind: absent,
          reconciler: { reconcile: () => Promise.resolve({ write: 'none' }) },
        }),
    });
    const errors = await Promise.all(
      [operator.started, operator.ended].map((each) => each.catch((reason: unknown) => reason)),
    );
    for (const error of errors)
      expect(error)
        .to.be.instanceOf(SourceError)
        .with.property('message')
        .which.matches(/absents/);
  });

  it('does not start without a kubeconfig', async () => {
    const before = process.env['KUBECONFIG'];
    process.env['KUBECONFIG'] = join(root, 'no-such-file');
    const error = await startOperator({ name: 'x', add: () => undefined }).catch((reason: unknown) => reason);
    if (before === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = before;
    expect(error).to.be.instanceOf(KubeconfigError);
  });

  it('watches objects of another cluster', async () => {
    const other = await startOperatorCluster();
    try {
      const far = await other.namespace();
      const seen: string[] = [];
      const operator = await start({
        async add(op) {
          const { caches } = await op.connect(other.kubeconfig);
          const cache = caches.of(ConfigMap, { namespaces: [far] });
          op.add<Page>({
            name: 'pages',
            kind: pages,
            cache: { namespaces: [namespace] },
            sources: [watchSource<ConfigMap, Page>({ cache, toPrimary: () => [`${namespace}/one`] })],
            reconciler: {
              reconcile(_page, ctx) {
                seen.push(ctx.secondary(ConfigMap)?.data?.['text'] ?? 'none');
                return Promise.resolve({ write: 'none' });
              },
            },
          });
        },
      });
      await operator.started;
      await create('one');
      await eventually('the page is reconciled', () => seen.includes('none'));
      const metadata = { name: 'far', namespace: far };
      const object = { apiVersion: 'v1', kind: 'ConfigMap' as const, metadata, data: { text: 'hello' } };
      await other.client.send({ verb: 'create', kind: ConfigMap, object });
      await eventually('the other cluster has been heard', () => seen.includes('hello'));
      await operator.stop();
    } finally {
      await other.stop();
    }
  });
});

describe('runOperator in this process', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  before(async () => {
    cluster = await startOperatorCluster();
  });
  after(() => cluster?.stop());

  /** Runs an operator; returns its log, what it wrote to standard error, and the exit code that it set. */
  const run = async (options: Partial<OperatorOptions>) => {
    const { log, lines } = recordingLogger();
    const errors: string[] = [];
    const { write } = process.stderr;
    const { exitCode } = process;
    const listeners = process.listenerCount('SIGTERM');
    process.stderr.write = (text: string | Uint8Array) => errors.push(String(text)) > 0;
    try {
      const { kubeconfig } = cluster;
      await runOperator({ name: 'page-operator', kubeconfig, log, add: () => undefined, ...options });
      return { lines, errors, exitCode: process.exitCode };
    } finally {
      process.stderr.write = write;
      process.exitCode = exitCode;
      expect(process.listenerCount('SIGTERM')).to.equal(listeners);
    }
  };
  const fieldsOf = (lines: readonly LogLine[], message: string) =>
    lines.find((line) => line.message === message)?.fields;
  const terminate = (): Promise<void> => {
    void pause(50).then(() => process.kill(process.pid, 'SIGTERM'));
    return Promise.resolve();
  };

  it('ends in order at SIGTERM', async () => {
    const metricsAddress = { host: '127.0.0.1', port: 0 };
    const { lines, errors, exitCode } = await run({ metricsAddress, add: terminate });
    expect([errors, exitCode]).to.deep.equal([[], undefined]);
    expect(fieldsOf(lines, 'starting')).to.include({ operator: 'page-operator' });
    expect(fieldsOf(lines, 'starting'))
      .to.have.property('health')
      .that.matches(/^http:\/\/127\.0\.0\.1:\d+$/);
    const without = await run({ add: terminate });
    expect(fieldsOf(without.lines, 'starting')).to.deep.equal({ operator: 'page-operator' });
  });

  it('sets exit code 1 when it abandons a reconcile', async () => {
    const namespace = await cluster.namespace();
    const metadata = { name: 'endless', namespace };
    const object = { apiVersion: 'runtime.test.example/v1', kind: 'Page', metadata, spec: {} };
    await cluster.client.send({ verb: 'create', kind: pages, object });
    const { errors, exitCode } = await run({
      drainMs: 20,
      add: (operator) =>
        operator.add<Page>({
          name: 'pages',
          kind: pages,
          cache: { namespaces: [namespace] },
          reconciler: {
            reconcile: () => {
              void terminate();
              return new Promise(() => undefined);
            },
          },
        }),
    });
    expect([errors, exitCode]).to.deep.equal([[], 1]);
  });

  it('prints an error of the runtime in one line, and throws any other', async () => {
    const kubeconfig = { text: 'a: [' };
    const { errors, exitCode } = await run({ kubeconfig });
    expect(errors.join('')).to.match(/^error: the kubeconfig is not valid YAML[^\n]*\n$/);
    expect(exitCode).to.equal(1);
    const bug = new RangeError('bug');
    const failing = run({
      add: () => {
        throw bug;
      },
    });
    expect(await failing.catch((error: unknown) => error)).to.equal(bug);
  });

  it('reports why it stopped by itself', async () => {
    const namespace = await cluster.namespace();
    const lease = { namespace, durationMs: 1_500, renewDeadlineMs: 1_000, retryMs: 50 };
    const { lines, errors, exitCode } = await run({
      lease,
      add: () => {
        void eventually('it leads', async () => {
          const key = `${namespace}/page-operator`;
          const held = await getIfThere(cluster.client, leaseKind, key);
          if (!held) return false;
          const spec = { holderIdentity: 'thief', renewTime: '2100-01-01T00:00:00.000000Z' };
          await cluster.client.send({ verb: 'merge', kind: leaseKind, key, body: { spec } });
          return true;
        });
      },
    });
    expect(errors.join('')).to.match(/^error: writes are blocked, lease \S+: thief took the lease\n$/);
    expect(exitCode).to.equal(1);
    expect(fieldsOf(lines, 'operator stopped'))
      .to.have.property('err')
      .that.is.instanceOf(LeadershipLostError);
  });
});

describe('runOperator', function () {
  this.timeout(60_000);
  let cluster: OperatorCluster;
  let folder: string;
  before(async () => {
    cluster = await startOperatorCluster();
    folder = mkdtempSync(join(tmpdir(), 'espalier-operator-'));
    writeFileSync(join(folder, 'kubeconfig.yaml'), cluster.kubeconfig.text);
  });
  after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await cluster?.stop();
  });

  const main = (script: string, env: NodeJS.ProcessEnv) => {
    const program = ['--conditions', 'espalier-source', '--import', 'tsx', join(root, script)];
    const child = spawn(process.execPath, program, {
      cwd: root,
      env: { ...process.env, KUBECONFIG: join(folder, 'kubeconfig.yaml'), ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, output: () => output };
  };
  const end = async (child: ChildProcess): Promise<unknown> =>
    child.exitCode ?? (await once(child, 'exit'))[0];

  const samples = 'docs/samples/operators';
  const install = (file: string): Promise<void> =>
    cluster.install(parseYaml(readFileSync(join(root, samples, file), 'utf8')) as AnyObj);

  it('runs the sample until SIGTERM, and ends with exit code 0', async () => {
    await install('webpage/webpages.yaml');
    const { child, output } = main(`${samples}/webpage/main.ts`, {});
    try {
      await eventually('its controllers run', () => output().includes('controllers started'));
      child.kill('SIGTERM');
      expect(await end(child)).to.equal(0);
      expect(output()).to.include('"msg":"stopped"');
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('ends with one line and exit code 1 when another process takes its lease', async () => {
    await install('notice/notices.yaml');
    const namespace = await cluster.namespace();
    const { child, output } = main(`${samples}/notice/main.ts`, { NAMESPACE: namespace, HEALTH_PORT: '0' });
    try {
      await eventually('it leads', () => output().includes('controllers started'));
      const key = `${namespace}/notice-operator`;
      const body = { spec: { holderIdentity: 'thief', renewTime: '2100-01-01T00:00:00.000000Z' } };
      await cluster.client.send({ verb: 'merge', kind: leaseKind, key, body });
      expect(await end(child)).to.equal(1);
      expect(output()).to.match(/^error: writes are blocked, lease \S+: thief took the lease$/m);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('ends with one line and exit code 1 when it cannot start', async () => {
    const { child, output } = main(`${samples}/webpage/main.ts`, { KUBECONFIG: '/no/such/file' });
    expect(await end(child)).to.equal(1);
    expect(output()).to.match(/^error: cannot read kubeconfig \/no\/such\/file: [^\n]*\n$/);
  });
});
