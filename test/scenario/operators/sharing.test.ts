/** Operators whose replicas share the work, on an API server: as processes, and as programs that are killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { roleBindingKind, roleKind, serviceAccountKind } from '../../../src/cli/commands/install/kinds.ts';
import { DefinitionError, Forbidden, NotFound } from '../../../src/runtime/errors.ts';
import { shardLeaseName, shardOf } from '../../../src/runtime/fleet/names.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import {
  startOperator,
  type OperatorOptions,
  type OperatorProcess,
} from '../../../src/runtime/operator/start-operator.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import {
  pages,
  read,
  startOperatorCluster,
  type OperatorCluster,
  type Page,
} from '../../support/operators.ts';
import { kubeconfigOfAccount, startStrictServer } from '../../support/rights.ts';
import { pause } from '../../support/waiting.ts';
import { eventually } from '../../support/waiting.ts';

const root = join(import.meta.dirname, '../../..');
const NAMES = Array.from({ length: 12 }, (_, i) => `page-${String(i)}`);
/** Short, so that a test need not wait 15 s for a takeover. */
const TIMES = { durationMs: 3_000, renewDeadlineMs: 2_000, renewMs: 300 };
/** No Lease expires within a test. */
const LONG = { ...TIMES, durationMs: 3_600_000, renewDeadlineMs: 1_800_000 };

describe('an operator whose replicas share the work', function () {
  this.timeout(300_000);
  let cluster: OperatorCluster;
  let namespace: string;
  let running: OperatorProcess[];
  let reconciles: string[];
  let active: Map<string, string>;
  let overlaps: string[];
  before(async () => {
    cluster = await startOperatorCluster();
  });
  beforeEach(async () => {
    namespace = await cluster.namespace();
    running = [];
    reconciles = [];
    active = new Map();
    overlaps = [];
  });
  afterEach(() => Promise.all(running.map((operator) => operator.stop())));
  after(() => cluster?.stop());

  const start = async (identity: string, more: Partial<OperatorOptions> = {}): Promise<OperatorProcess> => {
    const operator = await startOperator({
      name: 'shared-pages',
      kubeconfig: cluster.kubeconfig,
      identity,
      sharing: { namespace, ...TIMES },
      add: (op) =>
        op.add<Page>({
          name: 'pages',
          kind: pages,
          cache: { namespaces: [namespace] },
          reconciler: {
            async reconcile(page, ctx) {
              const other = active.get(ctx.key);
              if (other !== undefined) overlaps.push(`${ctx.key} by ${other} and ${identity}`);
              active.set(ctx.key, identity);
              reconciles.push(`${identity} ${page.metadata.name}`);
              await pause(20);
              active.delete(ctx.key);
              const status = { by: identity, text: page.spec['text'] };
              return { write: 'status', object: { ...ctx.draft(), status } };
            },
          },
        }),
      ...more,
    });
    running.push(operator);
    await operator.started;
    return operator;
  };
  const create = async (text = 'one'): Promise<void> => {
    for (const name of NAMES) {
      const metadata = { name, namespace };
      const object = { apiVersion: 'runtime.test.example/v1', kind: 'Page', metadata, spec: { text } };
      await cluster.client.send({ verb: 'create', kind: pages, object });
    }
  };
  const change = async (text: string): Promise<void> => {
    for (const name of NAMES)
      await cluster.client.send({
        verb: 'merge',
        kind: pages,
        key: `${namespace}/${name}`,
        body: { spec: { text } },
      });
  };
  const all = () => Promise.all(NAMES.map((name) => read(cluster, pages, `${namespace}/${name}`)));
  const isDone = (text: string) =>
    eventually(`every page shows ${text}`, async () =>
      (await all()).every((page) => page?.status?.['text'] === text),
    );
  /** Names of replicas without the random end of their identity, by shard of each page. */
  const holders = async (fleet = 'shared-pages'): Promise<Map<string, string>> => {
    const found = new Map<string, string>();
    for (const name of NAMES) {
      const key = `${namespace}/${shardLeaseName(fleet, shardOf(`${namespace}/${name}`))}`;
      const lease = await read(cluster, leaseKind, key);
      found.set(name, lease?.spec?.holderIdentity?.replace(/-[^-]*$/, '') ?? '');
    }
    return found;
  };
  const isDivided = (count: number) =>
    eventually(`the work is divided among ${String(count)}`, async () => {
      const held = [...(await holders()).values()];
      return !held.includes('') && new Set(held).size === count;
    });

  it('divides the objects among three, each to one of them, and hands them over when one stops', async () => {
    const sharing = { namespace, ...LONG };
    const [first] = [
      await start('a', { sharing }),
      await start('b', { sharing }),
      await start('c', { sharing }),
    ];
    await create();
    await isDone('one');
    await isDivided(3);
    reconciles.length = 0;
    await change('two');
    await isDone('two');
    const by = await holders();
    for (const name of NAMES)
      expect(
        reconciles.filter((line) => line.endsWith(` ${name}`)),
        name,
      ).to.deep.equal([`${by.get(name)} ${name}`]);
    await first?.stop();
    await isDivided(2);
    await change('three');
    await isDone('three');
    expect(overlaps).to.deep.equal([]);
  });

  it('refuses a lease at the same time', async () => {
    const error: unknown = await start('a', { lease: { namespace } }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(DefinitionError);
  });

  it('does not start in a namespace that does not exist', async () => {
    const sharing = { namespace: 'missing', ...TIMES };
    const error: unknown = await start('a', { sharing }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(NotFound);
    expect(String(error)).to.match(/namespaces "missing" not found/);
  });

  describe('as programs', () => {
    let folder: string;
    let children: ChildProcess[];
    beforeEach(() => {
      children = [];
      folder = mkdtempSync(join(tmpdir(), 'espalier-sharing-'));
      writeFileSync(join(folder, 'kubeconfig.yaml'), cluster.kubeconfig.text);
    });
    afterEach(() => {
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('continues when one is killed, and when one is asked to end', async () => {
      const program = async (REPLICA: string): Promise<ChildProcess> => {
        const script = join(import.meta.dirname, 'shared-program.ts');
        const KUBECONFIG = join(folder, 'kubeconfig.yaml');
        const child = spawn(process.execPath, ['--import', 'tsx', script], {
          cwd: root,
          env: { ...process.env, KUBECONFIG, NAMESPACE: namespace, REPLICA },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        children.push(child);
        let output = '';
        child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
        await eventually(`${REPLICA} runs`, () => output.includes('controllers started'));
        return child;
      };
      const [a, b] = [await program('a'), await program('b'), await program('c')];
      await create();
      await isDone('one');
      await isDivided(3);
      a.kill('SIGKILL');
      await change('two');
      await isDone('two');
      await isDivided(2);
      for (const page of await all()) expect(page?.status?.['by']).to.be.oneOf(['a', 'b', 'c']);
      b.kill('SIGTERM');
      if (b.exitCode === null) await once(b, 'exit');
      expect(b.exitCode).to.equal(0);
      await isDivided(1);
      await change('three');
      await isDone('three');
      for (const page of await all()) expect(page?.status?.['by']).to.equal('c');
    });
  });
});

describe('the permissions of an operator whose replicas share the work', function () {
  this.timeout(60_000);

  it('are checked at the start, and the error names those that are missing', async () => {
    const server = await startStrictServer();
    const connection = await connect({
      kubeconfig: { text: server.kubeconfig },
      userAgent: 'test',
      clock: systemClock,
      log: silentLogger,
    });
    const client = createClient(connection);
    try {
      const create = (kind: Kind, object: object) =>
        client.send({ verb: 'create', kind, object: object as Obj });
      const metadata = { name: 'shared', namespace: 'default' };
      await create(serviceAccountKind, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
      const apiVersion = 'rbac.authorization.k8s.io/v1';
      const rules = [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'list', 'create'] },
      ];
      await create(roleKind, { apiVersion, kind: 'Role', metadata, rules });
      const subjects = [{ kind: 'ServiceAccount', ...metadata }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'shared' };
      await create(roleBindingKind, { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef });
      const text = await kubeconfigOfAccount(client, server.kubeconfig, metadata);
      const operator = await startOperator({
        name: 'shared',
        kubeconfig: { text },
        sharing: 'leases',
        add: () => undefined,
      });
      const error: unknown = await operator.started.catch((reason: unknown) => reason);
      await operator.stop();
      expect(error).to.be.instanceOf(Forbidden);
      expect(String(error)).to.include(
        'need permission to watch, update, delete leases.coordination.k8s.io in namespace default',
      );
    } finally {
      await client.close();
      await server.close();
    }
  });
});
