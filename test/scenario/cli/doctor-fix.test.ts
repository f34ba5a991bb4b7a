/** `espalier doctor --fix` on the embedded API server, without controllers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { API_VERSION, GROUP, annotations } from '../../../src/api/labels.ts';
import { dataObjectKind, syncObjectKind } from '../../../src/api/landscaper-kinds.ts';
import { roleBindingKind, roleKind } from '../../../src/cli/commands/install/kinds.ts';
import { fix } from '../../../src/cli/commands/doctor/fix.ts';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { diagnose } from '../../../src/cli/doctor/checks.ts';
import type { Findable } from '../../../src/cli/doctor/findable.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { collect } from '../../../src/cli/tree/collect.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { microTimestamp, systemClock as clock } from '../../../src/lib/clock.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { root } from '../../support/landscape.ts';
import { fakeTerminal, type FakeTerminal } from '../../unit/cli/terminal.ts';

const NS = 'shop';

describe('espalier doctor --fix', function () {
  this.timeout(60_000);
  let server: Embedded;
  let client: Client;
  before(async () => {
    server = await startEmbedded({ simulate: false, controllers: ['none'], log });
    client = createClient(
      await connect({ kubeconfig: { text: server.kubeconfig }, userAgent: 'test', clock, log }),
    );
    await ensureCrds(client, clock, log);
    await applyAll(client, [namespaceObject(NS)]);
  });
  after(async () => {
    await client.close();
    await server.close();
  });
  const create = async (kind: Kind, object: object): Promise<void> => {
    await client.send({ verb: 'create', kind, object: object as Obj });
  };
  const exportOf = (name: string): Promise<void> =>
    create(dataObjectKind, {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: { name, namespace: NS, labels: { 'data.landscaper.gardener.cloud/source': 'Inst.gone' } },
      data: 1,
    });
  const names = async (kind: Kind): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const page of client.list(kind, { namespace: NS }))
      found.push(...page.items.map(({ metadata }) => metadata.name));
    return found;
  };
  const doctor = async (
    answers: readonly string[] | undefined,
    ...args: string[]
  ): Promise<{ code: number; terminal: FakeTerminal }> => {
    const rest = [...(answers ?? [])];
    const terminal = fakeTerminal({
      env: { KUBECONFIG: server.kubeconfigFile },
      ask: () => Promise.resolve(answers && (rest.shift() ?? '')),
    });
    return { code: await runProgram(['doctor', '-n', NS, '--fix', ...args], terminal), terminal };
  };

  it('deletes an orphaned export after a yes, keeps it after anything else, and stops after q', async () => {
    for (const name of ['a', 'b', 'c']) await exportOf(name);
    const { code, terminal } = await doctor(['', 'y', 'q']);
    expect(terminal.output).to.contain(
      'DataObject shop/a: orphaned-export\n  evidence: its writer "Inst.gone"',
    );
    expect(terminal.output).to.contain('result:   skipped');
    expect(terminal.output).to.contain('result:   cured');
    expect(terminal.output).to.contain('stopped; 2 findings remain');
    expect(code).to.equal(1);
    expect(await names(dataObjectKind)).to.deep.equal(['a', 'c']);
  });

  it('needs a terminal, or --yes with a check', async () => {
    const mute = await doctor(undefined);
    expect([mute.code, mute.terminal.errors]).to.deep.equal([
      2,
      'error: cannot ask without a terminal; add --yes and --check with the name of the check\n',
    ]);
    const blanket = await doctor(undefined, '--yes');
    expect(blanket.terminal.errors).to.contain('--yes needs --check with the name of the check to fix');
    const typo = await doctor(undefined, '--yes', '--check', 'orphans');
    expect(typo.terminal.errors).to.contain(
      '--check orphans is not a check; use one of controllers-not-running',
    );
    expect(await names(dataObjectKind)).to.deep.equal(['a', 'c']);
    const { code, terminal } = await doctor(undefined, '--yes', '--check', 'orphaned-export');
    expect(terminal.output).to.contain('no findings remain');
    expect(code).to.equal(0);
    expect(await names(dataObjectKind)).to.deep.equal([]);
  });

  it('deletes the lock of an object that does not exist', async () => {
    await create(syncObjectKind, {
      apiVersion: API_VERSION,
      kind: 'SyncObject',
      metadata: { name: 'installations-gone', namespace: NS },
      spec: {
        podName: 'landscaper-0',
        kind: 'Installation',
        name: 'web',
        lastUpdateTime: '2026-01-01T00:00:00Z',
        prefix: 'installations',
      },
    });
    const { code, terminal } = await doctor(['y']);
    expect(terminal.output).to.contain('evidence: it locks Installation "web" for pod "landscaper-0"');
    expect(terminal.output).to.contain('result:   cured');
    expect(code).to.equal(0);
    expect(await names(syncObjectKind)).to.deep.equal([]);
  });

  it('requests a job of the root of an object that no controller continues, and says if none does', async () => {
    await create(installationKind, {
      ...root('web', { annotations: {} }),
      metadata: { name: 'web', namespace: NS },
    });
    const status = { observedGeneration: 1, phase: 'Progressing', jobID: 'j', jobIDFinished: 'j' };
    await client.send({
      verb: 'merge',
      kind: installationKind,
      key: `${NS}/web`,
      body: { status },
      sub: 'status',
    });
    const { code, terminal } = await doctor(['y']);
    expect(terminal.output).to.contain('check whether the controllers run');
    expect(code).to.equal(1);
    const web = await client.get(installationKind, `${NS}/web`);
    expect(web.metadata.annotations?.[annotations.operation]).to.equal('reconcile');
    await client.send({ verb: 'delete', kind: installationKind, key: `${NS}/web` });
  });

  describe('acts only on what it has read', () => {
    const all = async (): Promise<Findable> => {
      const data: Obj[] = [];
      for await (const page of client.list(dataObjectKind, { namespace: NS }))
        data.push(...page.items.map((item) => ({ ...item, kind: 'DataObject' })));
      return { ...(await collect(client, NS)), data, now: clock.wall() };
    };
    /** @param meanwhile called after the last read before the write */
    const attempt = async (meanwhile: () => Promise<unknown>): Promise<string> => {
      const terminal = fakeTerminal();
      const read = async () => {
        const found = await all();
        return { findings: diagnose(found), all: found };
      };
      const first = await read();
      let reads = 0;
      await fix(first, {
        client,
        terminal,
        diagnose: async () => {
          const found = await read();
          if (reads++ === 0) await meanwhile();
          return found;
        },
        textOf: ({ object }) => object,
        pause: () => Promise.resolve(),
        isConfirmed: true,
      });
      return terminal.output;
    };
    beforeEach(() => exportOf('url'));
    afterEach(() =>
      client.send({ verb: 'delete', kind: dataObjectKind, key: `${NS}/url` }).catch(() => undefined),
    );

    it('and not on an object that has changed since', async () => {
      const output = await attempt(() =>
        client.send({ verb: 'merge', kind: dataObjectKind, key: `${NS}/url`, body: { data: 2 } }),
      );
      expect(output).to.contain('the object has just changed; nothing was done');
      expect(await names(dataObjectKind)).to.deep.equal(['url']);
    });

    it('and not on an object that was created again since', async () => {
      const output = await attempt(async () => {
        await client.send({ verb: 'delete', kind: dataObjectKind, key: `${NS}/url` });
        await exportOf('url');
      });
      expect(output).to.contain('nothing was done');
      expect(await names(dataObjectKind)).to.deep.equal(['url']);
    });
  });

  it('deletes the Lease of a replica that has ended, and keeps one that is renewed', async () => {
    await applyAll(client, [namespaceObject('ls-system')]);
    const lease = (holderIdentity: string, renewTime: string): object => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: `espalier-member-${holderIdentity}`,
        namespace: 'ls-system',
        labels: { 'espalier.dev/fleet': 'espalier', 'espalier.dev/role': 'member' },
      },
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
    });
    await create(leaseKind, lease('ended', '2026-01-01T00:00:00.000000Z'));
    await create(leaseKind, lease('runs', microTimestamp(clock)));
    const { code, terminal } = await doctor(['y']);
    expect(terminal.output).to.contain('Lease ls-system/espalier-member-ended: stale-lease');
    expect(terminal.output).to.contain('result:   cured');
    expect(code, terminal.output).to.equal(0);
    const left: string[] = [];
    for await (const page of client.list(leaseKind, { namespace: 'ls-system' }))
      left.push(...page.items.map(({ metadata }) => metadata.name));
    expect(left).to.deep.equal(['espalier-member-runs']);
  });

  it('applies a definition that drops fields', async () => {
    const name = 'contexts.landscaper.gardener.cloud';
    const key = await client.get(CustomResourceDefinition, name);
    const [version] = key.spec?.versions ?? [];
    const openAPIV3Schema = { type: 'object', properties: { metadata: { type: 'object' } } };
    const versions = [{ ...version, schema: { openAPIV3Schema } }];
    await client.send({
      verb: 'merge',
      kind: CustomResourceDefinition,
      key: name,
      body: { spec: { versions } },
    });
    const { code, terminal } = await doctor(['y']);
    expect(terminal.output).to.contain(`CustomResourceDefinition ${name}: outdated-definition`);
    expect(terminal.output).to.contain('result:   cured');
    expect(code, terminal.output).to.equal(0);
  });
});

describe('espalier doctor --fix, for a user who may only read', function () {
  this.timeout(60_000);
  const USER = 'reader';
  let server: ApiServer;
  let admin: Client;
  let folder: string;
  before(async () => {
    server = await startApiServer({ authorization: 'RBAC' });
    admin = createClient(
      await connect({ kubeconfig: { text: server.kubeconfig }, userAgent: 'test', clock, log }),
    );
    await ensureCrds(admin, clock, log);
    await applyAll(admin, [namespaceObject(NS)]);
    const send = (kind: Kind, object: object): Promise<unknown> =>
      admin.send({ verb: 'create', kind, object: object as Obj });
    const RBAC = 'rbac.authorization.k8s.io';
    const metadata = { name: USER, namespace: NS };
    await send(roleKind, {
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [GROUP], resources: ['*'], verbs: ['list'] }],
    });
    await send(roleBindingKind, {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: RBAC, kind: 'Role', name: USER },
      subjects: [{ kind: 'User', name: USER }],
    });
    await send(dataObjectKind, {
      apiVersion: API_VERSION,
      kind: 'DataObject',
      metadata: {
        name: 'url',
        namespace: NS,
        labels: { 'data.landscaper.gardener.cloud/source': 'Inst.gone' },
      },
      data: 1,
    });
    folder = mkdtempSync(join(tmpdir(), 'espalier-doctor-'));
    // The administrator impersonates the user, as `kubectl --as` does.
    const kubeconfig = parseYaml(server.kubeconfig) as { users: { name: string; user: object }[] };
    const users = kubeconfig.users.map((one) => ({ ...one, user: { ...one.user, as: USER } }));
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify({ ...kubeconfig, users }), { mode: 0o600 });
  });
  after(async () => {
    await admin.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  it('finds what the user may list, says which permission is missing, and changes nothing', async () => {
    const terminal = fakeTerminal({
      env: { KUBECONFIG: join(folder, 'kubeconfig') },
      ask: () => Promise.resolve('y'),
    });
    const code = await runProgram(['doctor', '-n', NS, '--fix'], terminal);
    expect(terminal.errors).to.equal(
      'definitions are not checked: you may not list CustomResourceDefinitions\n',
    );
    expect(terminal.output).to.contain('DataObject shop/url: orphaned-export');
    expect(terminal.output)
      .to.contain('you lack the permission; nothing was done: ')
      .and.contain('dataobjects');
    expect(terminal.output).to.contain('1 finding remains');
    expect(code).to.equal(1);
    const kept = await admin.get(dataObjectKind, `${NS}/url`);
    expect(kept.metadata.name).to.equal('url');
  });
});
