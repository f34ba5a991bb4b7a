import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { eventKind, type CoreEvent } from '../../../src/runtime/controller/recorder.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { dataObjectKind, targetKind } from '../../../src/api/landscaper-kinds.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { annotations } from '../../../src/api/labels.ts';
import { failedLandscape, installation } from '../../unit/cli/given.ts';
import { timeoutOption } from '../../support/patience.ts';
import { fakeTerminal, runUntilTimeout, type FakeTerminal } from '../../unit/cli/terminal.ts';

const NAMESPACE = 'proj';

interface Result {
  readonly code: number;
  readonly terminal: FakeTerminal;
}

async function espalier(server: Embedded, ...args: string[]): Promise<Result> {
  const terminal = fakeTerminal({ env: { KUBECONFIG: server.kubeconfigFile } });
  return { code: await runProgram(args, terminal), terminal };
}

describe('installations on the command line, without controllers', () => {
  let server: Embedded;
  let client: Client;

  before(async () => {
    // The owners of these objects do not exist; a garbage collector would delete the objects.
    server = await startEmbedded({
      simulate: false,
      controllers: ['none'],
      log: silentLogger,
      namespace: NAMESPACE,
    });
    const kubeconfig = { text: server.kubeconfig };
    client = createClient(
      await connect({ kubeconfig, userAgent: 'test', clock: systemClock, log: silentLogger }),
    );
    await ensureCrds(client, systemClock, silentLogger);
    await applyAll(client, [namespaceObject(NAMESPACE), namespaceObject('empty')]);
    for (const object of failedLandscape()) await createWithStatus(client, object);
  });
  after(async () => {
    await client.close();
    await server.close();
  });

  it('DEP-89: inspect prints the tree and an empty line', async () => {
    const { code, terminal } = await espalier(server, 'installations', 'inspect', 'app', '-n', NAMESPACE);
    expect(terminal.output).to.equal(`[✅ Succeeded] Installation app
    ├── [❌ Failed] Installation db
    │   Last error: boom
    └── [✅ Succeeded] Execution app
        └── [✅ Succeeded (outdated)] DeployItem app-web-x

`);
    expect(code).to.equal(0);
  });

  it("uses the namespace of the kubeconfig's context", async () => {
    const { terminal } = await espalier(server, 'inst', 'status', 'app');
    expect(terminal.output).to.contain('Installation app');
  });

  it('DEP-89: inspect -f shows only objects that have failed', async () => {
    const failed = await espalier(server, 'inst', 'inspect', 'app', '-f');
    expect(failed.terminal.output).to.contain('Installation db').and.not.contain('Execution');
    const nothing = await espalier(server, 'inst', 'inspect', '-n', 'empty', '-f');
    expect([nothing.code, nothing.terminal.output]).to.deep.equal([0, 'no installations\n']);
  });

  it('DEP-89: inspect -f reports that nothing has failed', async () => {
    await createWithStatus(client, installation('sound', { phase: 'Succeeded' }));
    const { code, terminal } = await espalier(server, 'inst', 'inspect', 'sound', '-f');
    expect([code, terminal.output]).to.deep.equal([0, 'no failed objects\n']);
    await client.send({ verb: 'delete', kind: installationKind, key: `${NAMESPACE}/sound` });
  });

  it('inspect --exit-code reports failures to scripts by its exit code', async () => {
    expect((await espalier(server, 'inst', 'inspect', 'app', '--exit-code')).code).to.equal(1);
    expect((await espalier(server, 'inst', 'inspect', '-n', 'empty', '--exit-code')).code).to.equal(0);
  });

  it('inspect -o json has the shape that scripts expect', async () => {
    const { terminal } = await espalier(server, 'inst', 'inspect', 'app', '-o', 'json');
    const [root] = JSON.parse(terminal.output) as {
      installation: Obj;
      subInstallations: { installation: Obj }[];
      execution: { execution: Obj; deployItems: { deployItem: Obj }[] };
    }[];
    expect(root?.installation.metadata.name).to.equal('app');
    expect(root?.subInstallations[0]?.installation.metadata.name).to.equal('db');
    expect(root?.execution.deployItems[0]?.deployItem.metadata.name).to.equal('app-web-x');
  });

  it('inspect -o name and -o dot show every object of the tree', async () => {
    const names = await espalier(server, 'inst', 'inspect', 'app', '-o', 'name');
    expect(names.terminal.output.split('\n').sort()).to.deep.equal([
      '',
      'deployitem.landscaper.gardener.cloud/app-web-x',
      'execution.landscaper.gardener.cloud/app',
      'installation.landscaper.gardener.cloud/app',
      'installation.landscaper.gardener.cloud/db',
    ]);
    const dot = await espalier(server, 'inst', 'inspect', 'app', '-o', 'dot');
    expect(dot.terminal.output)
      .to.match(/^digraph/)
      .and.contain('label="Installation db\\nFailed"');
    const roots = await espalier(server, 'graph', '-o', 'name');
    expect(roots.terminal.output).to.contain('installation.landscaper.gardener.cloud/app\n');
    const graph = await espalier(server, 'graph', '-o', 'mermaid');
    expect(graph.terminal.output).to.contain('["proj/app<br/>Succeeded"]');
  });

  it('inst events shows the events of the whole tree, and only those', async () => {
    const [app, db] = await Promise.all(
      ['app', 'db'].map((name) => client.get(installationKind, `${NAMESPACE}/${name}`)),
    );
    for (const [name, about] of [
      ['one', app],
      ['two', db],
    ] as const)
      await client.send({ verb: 'create', kind: eventKind, object: eventOf(name, about) });
    const { terminal } = await espalier(server, 'inst', 'events', 'app');
    expect(terminal.output).to.match(/Installation\/app .* one\n.*Installation\/db .* two\n$/);
    const names = await espalier(server, 'inst', 'events', 'app', '-o', 'name');
    expect(names.terminal.output).to.match(/^(event\/\S+\n)+$/);
    const below = await espalier(server, 'inst', 'events', 'db', '-o', 'json');
    expect(JSON.parse(below.terminal.output)).to.have.length(1);
  });

  it('doctor finds an export whose writer is gone, and exits with 1', async () => {
    const object = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'DataObject',
      metadata: { name: 'url', labels: { 'data.landscaper.gardener.cloud/source': 'Inst.gone' } },
      data: 1,
    };
    const sound = await espalier(server, 'doctor', '-n', 'empty');
    expect([sound.code, sound.terminal.output]).to.deep.equal([0, 'no problems found\n']);
    await client.send({
      verb: 'create',
      kind: dataObjectKind,
      object: { ...object, metadata: { ...object.metadata, namespace: 'empty' } },
    });
    const named = await espalier(server, 'doctor', '-n', 'empty', '-o', 'name');
    expect(named.terminal.output).to.match(/^(\w+\.landscaper\.gardener\.cloud\/\S+\n)+$/);
    const { code, terminal } = await espalier(server, 'doctor', '-n', 'empty');
    expect(code).to.equal(1);
    expect(terminal.output).to.contain('DataObject empty/url: orphaned-export\n');
    expect(terminal.output).to.contain('doctor -n empty --fix --check orphaned-export\n');
  });

  it('doctor --targets reports the target whose cluster does not answer', async () => {
    const text = readFileSync(server.kubeconfigFile, 'utf8');
    await client.send({
      verb: 'create',
      kind: namespaceKind,
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'targets' } },
    });
    for (const [name, kubeconfig] of [
      ['here', text],
      ['away', text.replace(/^( *server: .*:)\d+$/m, (_, start: string) => `${start}1`)],
    ] as const)
      await client.send({
        verb: 'create',
        kind: targetKind,
        object: {
          apiVersion: 'landscaper.gardener.cloud/v1alpha1',
          kind: 'Target',
          metadata: { name, namespace: 'targets' },
          spec: { type: 'landscaper.gardener.cloud/kubernetes-cluster', config: { kubeconfig } },
        },
      });
    const without = await espalier(server, 'doctor', '-n', 'targets');
    expect([without.code, without.terminal.output]).to.deep.equal([0, 'no problems found\n']);
    const { code, terminal } = await espalier(server, 'doctor', '-n', 'targets', '--targets', '-o', 'json');
    const found = JSON.parse(terminal.output) as readonly Readonly<Record<string, string>>[];
    expect(code).to.equal(1);
    expect(found.map((one) => [one['check'], one['object']])).to.deep.equal([
      ['unreachable-target', 'Target targets/away'],
    ]);
    expect(found[0]?.['evidence']).to.contain('ECONNREFUSED');
  });

  it('doctor reports a definition that lacks a field', async () => {
    const key = 'contexts.landscaper.gardener.cloud';
    const stored = await client.get(CustomResourceDefinition, key);
    const properties = stored.spec?.versions[0]?.schema?.openAPIV3Schema?.properties ?? {};
    const { repositoryContext, ...rest } = properties;
    expect(repositoryContext).not.to.equal(undefined);
    const replace = (wanted: object) => {
      const versions = (stored.spec?.versions ?? []).map((version) => ({
        ...version,
        schema: { openAPIV3Schema: { ...version.schema?.openAPIV3Schema, properties: wanted } },
      }));
      return client.send({
        verb: 'merge',
        kind: CustomResourceDefinition,
        key,
        body: { spec: { versions } },
      });
    };
    await replace(rest);
    const { code, terminal } = await espalier(server, 'doctor', '-n', 'targets');
    await replace(properties);
    expect(code).to.equal(1);
    expect(terminal.output).to.contain(`CustomResourceDefinition ${key}: outdated-definition\n`);
    expect(terminal.output).to.contain('drops the fields repositoryContext');
    expect((await espalier(server, 'doctor', '-n', 'targets')).code).to.equal(0);
  });

  const refused: readonly (readonly [options: string, line: string])[] = [
    ['app -A', 'the --all-namespaces option cannot be used when an installation name is provided'],
    ['-o json -w', 'no more than one output mode may be set: json, wide'],
    [
      '-o xml',
      "invalid option for '--output'/'-o' flag: xml; choose text, tree, wide, yaml, json, name, dot, mermaid",
    ],
  ];
  for (const [options, line] of refused)
    it(`DEP-90: inspect ${options} is refused`, async () => {
      const { code, terminal } = await espalier(server, 'installations', 'inspect', ...options.split(' '));
      expect(code).to.equal(1);
      expect(terminal.errors).to.equal(`error: ${line}\n`);
      expect(terminal.output).to.equal('');
    });

  it('DEP-92: reconcile and interrupt annotate', async () => {
    const operationOf = async (): Promise<string | undefined> =>
      (await client.get(installationKind, `${NAMESPACE}/app`)).metadata.annotations?.[
        'landscaper.gardener.cloud/operation'
      ];
    const started = await espalier(server, 'installations', 'reconcile', 'app', '-n', NAMESPACE);
    expect(started.terminal.output).to.equal('The reconcile annotation was added to the installation\n');
    expect(await operationOf()).to.equal('reconcile');
    const ended = await espalier(server, 'installations', 'interrupt', 'app', '-n', NAMESPACE);
    expect(ended.terminal.output).to.equal('The interrupt annotation was added to the installation\n');
    expect(await operationOf()).to.equal('interrupt');
  });

  it('reconcile --all requests a job of every root, and of no other installation', async () => {
    const started = await espalier(server, 'inst', 'reconcile', '--all');
    expect([started.code, started.terminal.errors]).to.deep.equal([0, '']);
    const requested: string[] = [];
    const roots: string[] = [];
    for await (const { items } of client.list(installationKind, { namespace: NAMESPACE })) {
      for (const { metadata } of items) {
        if (!metadata.ownerReferences) roots.push(metadata.name);
        if (metadata.annotations?.[annotations.operation] === 'reconcile') requested.push(metadata.name);
      }
    }
    expect(requested).to.deep.equal(roots).and.to.contain('app').and.not.to.contain('db');
    for (const name of roots)
      expect(started.terminal.output).to.contain(`${NAMESPACE}/${name}: a job was requested`);
  });

  for (const [why, args] of [
    ['neither a name nor --all is given', []],
    ['both are given', ['app', '--all']],
    ['all namespaces are meant, but not all roots', ['app', '-A']],
    ['it should wait for all', ['--all', '--wait']],
  ] as const)
    it(`reconcile says what to do if ${why}`, async () => {
      const { code, terminal } = await espalier(server, 'inst', 'reconcile', ...args);
      expect([code, terminal.errors]).to.satisfy(
        ([c, e]: [number, string]) => c === 2 && e.includes('--all'),
      );
    });

  it('DEP-92: reconcile accepts only roots', async () => {
    const { code, terminal } = await espalier(server, 'inst', 'reconcile', 'db');
    expect(code).to.equal(1);
    expect(terminal.errors).to.equal(
      'error: the command is only supported for root installations; db belongs to app\n',
    );
  });

  for (const command of ['inspect', 'reconcile', 'interrupt'])
    it(`${command} says what to do if there is no such installation`, async () => {
      const { code, terminal } = await espalier(server, 'inst', command, 'nope');
      expect(code).to.equal(1);
      expect(terminal.errors).to.match(
        /^error: there is no installation nope in namespace proj; .*-n.*-A\n$/,
      );
    });

  it('reconcile --wait stops at its timeout and says how to continue', async () => {
    await createWithStatus(client, installation('busy', { phase: 'Progressing' }));
    const wait = (name: string) =>
      runUntilTimeout(['inst', 'reconcile', name, '--wait'], name, { KUBECONFIG: server.kubeconfigFile });
    const { code, terminal } = await wait('busy');
    expect(code).to.equal(1);
    expect(terminal.errors).to.match(
      /^error: timed out; the job continues, watch it with: .*inspect busy -n proj --watch\n$/,
    );
    const idle = await wait('app');
    expect(idle.code).to.equal(1);
    expect(idle.terminal.errors).to.match(
      /^error: timed out; the job was requested, but no controller has started it; .*inspect app -n proj --watch\n$/,
    );
  });

  it('accepts the names that inspect and progress print', async () => {
    const shown = async (...args: string[]): Promise<string> =>
      (await espalier(server, 'inst', 'inspect', ...args)).terminal.output.split('\n')[0] ?? '';
    expect(await shown('app/db')).to.equal('[❌ Failed] Installation db');
    expect(await shown(`${NAMESPACE}/db`, '-n', 'empty')).to.equal('[❌ Failed] Installation db');
    const { terminal } = await espalier(server, 'inst', 'reconcile', 'app/db');
    expect(terminal.errors).to.contain('db belongs to app');
  });

  it('reconcile reports that the job of a suspended root has to wait, and does not wait for it', async () => {
    const held = installation('held', { phase: 'Succeeded' });
    const metadata = { ...held.metadata, annotations: { [annotations.suspended]: 'true' } };
    await createWithStatus(client, { ...held, metadata });
    const message = 'held is suspended; the job starts when the annotation espalier.dev/suspended is removed';
    const asked = await espalier(server, 'inst', 'reconcile', 'held');
    expect([asked.code, asked.terminal.errors]).to.deep.equal([0, `${message}\n`]);
    const waiting = await espalier(server, 'inst', 'reconcile', 'held', '--wait');
    expect([waiting.code, waiting.terminal.errors]).to.deep.equal([1, `error: ${message}\n`]);
    const { metadata: stored } = await client.get(installationKind, `${NAMESPACE}/held`);
    expect(stored.annotations?.[annotations.operation]).to.equal('reconcile');
  });
});

describe('reconcile --wait, with controllers', () => {
  let server: Embedded;
  let landscaper: Landscaper;

  before(async () => {
    server = await startEmbedded({ simulate: false, log: silentLogger, namespace: NAMESPACE });
    landscaper = await startLandscaper({ kubeconfig: { text: server.kubeconfig }, log: silentLogger });
    await applyAll(landscaper.client, [
      namespaceObject(NAMESPACE),
      mocked('fine', 'Succeeded'),
      mocked('broken', 'Failed'),
    ]);
  });
  after(async () => {
    await landscaper.stop();
    await server.close();
  });

  it('shows the phases, and exits with 0 when the job succeeds', async () => {
    const { code, terminal } = await espalier(
      server,
      'inst',
      'reconcile',
      'fine',
      '--wait',
      ...timeoutOption(),
    );
    expect(terminal.errors).to.equal('');
    expect(code).to.equal(0);
    expect(terminal.output).to.match(/DeployItem fine\/pretended: Succeeded/);
    expect(terminal.output).to.match(/^fine +Installation +✔ Succeeded/m);
  });

  it('points at the failed leaf and exits with 1', async () => {
    const { code, terminal } = await espalier(
      server,
      'inst',
      'reconcile',
      'broken',
      '--wait',
      ...timeoutOption(),
    );
    expect(code).to.equal(1);
    expect(terminal.output).to.match(/pretended +DeployItem +✖ Failed/);
    expect(terminal.errors).to.match(/^DeployItem broken-\S+ Failed: /);
  });
});

/** An installation with one mock item that ends in `phase`. */
function mocked(name: string, phase: string): Obj {
  const blueprint = `
apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
deployExecutions:
  - name: default
    type: GoTemplate
    template: |
      deployItems:
        - name: pretended
          type: landscaper.gardener.cloud/mock
          config:
            apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1
            kind: ProviderConfiguration
            phase: ${phase}
`;
  const object: Installation = {
    apiVersion: 'landscaper.gardener.cloud/v1alpha1',
    kind: 'Installation',
    metadata: { name, namespace: NAMESPACE },
    spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': blueprint } } } },
  };
  return object;
}

const eventOf = (name: string, about: Installation | undefined): CoreEvent =>
  ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: NAMESPACE },
    involvedObject: {
      kind: 'Installation',
      name: about?.metadata.name,
      namespace: NAMESPACE,
      uid: about?.metadata.uid,
    },
    type: 'Normal',
    reason: 'Tested',
    message: name,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
  }) as unknown as CoreEvent;

async function createWithStatus(client: Client, object: Obj): Promise<void> {
  const kind = [installationKind, executionKind, deployItemKind].find((k) => k.kind === object.kind) as Kind;
  const { uid: _, ...metadata } = object.metadata;
  const times = { lastTransitionTime: '2026-01-01T00:00:00Z', lastUpdateTime: '2026-01-01T00:00:00Z' };
  const { status, ...rest } = object as Obj & { status?: { lastError?: object } };
  const lastError = status?.lastError && { ...status.lastError, ...times };
  await client.send({ verb: 'create', kind, object: { ...rest, metadata } });
  const key = `${metadata.namespace ?? ''}/${metadata.name}`;
  await client.send({
    verb: 'merge',
    kind,
    key,
    sub: 'status',
    body: { status: { observedGeneration: 1, ...status, ...(lastError && { lastError }) } },
  });
}
