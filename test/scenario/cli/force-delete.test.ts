import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { targetKind } from '../../../src/api/landscaper-kinds.ts';
import { API_VERSION, FINALIZER, labels } from '../../../src/api/labels.ts';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { configMapKind } from '../../../src/landscape/world.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import type { Client, Kind } from '../../../src/runtime/types.ts';
import { failedLandscape } from '../../unit/cli/given.ts';
import { fakeTerminal, type FakeTerminal } from '../../unit/cli/terminal.ts';

const NAMESPACE = 'proj';
/** A copy of the target `cluster` in the scope of an installation. */
const COPY = 'pqyjmbqrqvxd2d6s2k2fvvjxsbc6ag27';
const KINDS: readonly Kind[] = [installationKind, executionKind, deployItemKind];

describe('force-delete on the command line', () => {
  let server: Embedded;
  let client: Client;

  before(async () => {
    server = await startEmbedded({ simulate: false, controllers: ['none'], log, namespace: NAMESPACE });
    client = createClient(
      await connect({ kubeconfig: { text: server.kubeconfig }, userAgent: 'test', clock, log }),
    );
    await ensureCrds(client, clock, log);
    await applyAll(client, [namespaceObject(NAMESPACE)]);
    const managedResources = [
      {
        policy: 'manage',
        resource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'web', namespace: NAMESPACE },
      },
    ];
    const object: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'web', namespace: NAMESPACE },
    };
    await client.send({ verb: 'create', kind: configMapKind, object });
    await client.send({
      verb: 'create',
      kind: targetKind,
      object: {
        apiVersion: API_VERSION,
        kind: 'Target',
        metadata: { name: COPY, namespace: NAMESPACE, labels: { [labels.dataKey]: 'cluster' } },
        spec: { type: 'landscaper.gardener.cloud/kubernetes-cluster' },
      },
    });
    for (const each of failedLandscape()) {
      const kind = KINDS.find((k) => k.kind === each.kind) as Kind;
      const metadata = { ...each.metadata, finalizers: [FINALIZER] };
      const { uid: _uid, ...given } = metadata;
      const { metadata: stored } = await client.send({
        verb: 'create',
        kind,
        object: { ...each, metadata: given },
      });
      const providerStatus = { apiVersion: 't/v1', kind: 'ProviderStatus', managedResources };
      const status = {
        observedGeneration: 1,
        ...each.status,
        lastError: undefined,
        ...(each.kind === 'DeployItem' && { providerStatus }),
      };
      if (each.kind === 'DeployItem') {
        const spec = { target: { name: COPY, namespace: NAMESPACE } };
        const key = `${NAMESPACE}/${stored.name}`;
        const changed = await client.send({ verb: 'merge', kind, key, body: { spec } });
        Object.assign(stored, { resourceVersion: changed.metadata.resourceVersion });
      }
      const body = { ...each, metadata: { resourceVersion: stored.resourceVersion }, status };
      await client.send({ verb: 'merge', kind, key: `${NAMESPACE}/${stored.name}`, body, sub: 'status' });
    }
  });
  after(async () => {
    await client.close();
    await server.close();
  });

  const run = (answer: string | undefined, ...more: string[]) => runWith(answer, 'app', ...more);
  const runWith = async (answer: string | undefined, ...args: string[]): Promise<[number, FakeTerminal]> => {
    const terminal = fakeTerminal({
      env: { KUBECONFIG: server.kubeconfigFile },
      ask: () => Promise.resolve(answer),
    });
    return [await runProgram(['inst', 'force-delete', ...args], terminal), terminal];
  };

  async function left(): Promise<string[]> {
    const names: string[] = [];
    for (const kind of KINDS)
      for await (const page of client.list(kind, { namespace: NAMESPACE }))
        names.push(...page.items.map(({ metadata }) => `${kind.kind} ${metadata.name}`));
    return names.sort();
  }
  const ALL = ['DeployItem app-web-x', 'Execution app', 'Installation app', 'Installation db'];

  it('DEP-93: shows with --dry-run what is deleted and what stays, and changes nothing', async () => {
    const [code, terminal] = await run(undefined, '--dry-run');
    expect(code).to.equal(0);
    expect(terminal.output)
      .to.contain('has installed stays on target cluster:')
      .and.contain('ConfigMap proj/web')
      .and.contain('- would delete deployItem app-web-x');
    expect(await left()).to.deep.equal(ALL);
  });

  it('asks before it does anything, and says what to do if there is no terminal to ask', async () => {
    const [code, nobody] = await run(undefined);
    expect([code, nobody.errors]).to.deep.equal([
      2,
      'error: cannot ask for confirmation without a terminal; check with --dry-run, then add --yes\n',
    ]);
    const [refused, somebody] = await run('no');
    expect([refused, somebody.errors]).to.deep.equal([1, 'error: not confirmed, nothing was deleted\n']);
    expect(await left()).to.deep.equal(ALL);
  });

  it('DEP-93: deletes all objects; objects on the target cluster stay', async () => {
    const [code, terminal] = await run('app');
    expect(code, terminal.errors).to.equal(0);
    expect(terminal.output.trimEnd().split('\n').at(-1)).to.equal('All objects deleted');
    for (const what of ['installation app', 'installation db', 'execution app', 'deployItem app-web-x'])
      expect(terminal.output).to.contain(`- deleted ${what}\n`);
    expect(await left()).to.deep.equal([]);
    expect((await client.get(configMapKind, `${NAMESPACE}/web`)).metadata.name).to.equal('web');
  });

  it('DEP-93: reports at the second call that there is no such installation', async () => {
    const [code, terminal] = await run(undefined, '--yes');
    expect(code).to.equal(1);
    expect(terminal.errors).to.match(/^error: there is no installation app in namespace proj; .*-n.*-A\n$/);
  });

  it('deletes all installations of the namespace with --all, whose name confirms it', async () => {
    const create = async (name: string): Promise<void> => {
      const metadata = { name, namespace: NAMESPACE, finalizers: [FINALIZER] };
      const spec = { blueprint: { inline: { filesystem: {} } } };
      const object = { apiVersion: API_VERSION, kind: 'Installation', metadata, spec };
      await client.send({ verb: 'create', kind: installationKind, object });
    };
    await create('one');
    await create('two');
    const [refused] = await runWith('one', '--all');
    expect([refused, await left()]).to.deep.equal([1, ['Installation one', 'Installation two']]);
    const [code, terminal] = await runWith(NAMESPACE, '--all');
    expect(code, terminal.errors).to.equal(0);
    expect(await left()).to.deep.equal([]);
  });

  for (const args of [[], ['one', '--all']])
    it(`needs either a name or --all: ${args.join(' ') || 'nothing'}`, async () => {
      const [code, terminal] = await runWith(undefined, ...args);
      expect([code, terminal.errors]).to.deep.equal([
        2,
        'error: name one installation, or add --all for all installations of the namespace\n',
      ]);
    });
});
