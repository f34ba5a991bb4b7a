/** A process with some controllers or deployers reads only the kinds that these need. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { startLandscaper, type LandscaperOptions } from '../../../src/cli/composition/landscaper.ts';
import { applyAll, namespaceObject } from '../../../src/cli/objects.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import {
  clusterRoleBindingKind,
  clusterRoleKind,
  serviceAccountKind,
} from '../../../src/cli/commands/install/kinds.ts';
import { kubeconfigOfAccount, startStrictServer, type StrictServer } from '../../support/rights.ts';
import { eventually } from '../../support/waiting.ts';

const NONE = ['none'];

describe('a process', function () {
  this.timeout(60_000);
  let host: StrictServer;
  let admin: Client;
  before(async () => {
    host = await startStrictServer();
    admin = createClient(
      await connect({ kubeconfig: { text: host.kubeconfig }, userAgent: 'test', clock, log }),
    );
    await ensureCrds(admin, clock, log);
    await applyAll(admin, [namespaceObject('shop'), namespaceObject('system')]);
  });
  after(async () => {
    await admin.close();
    await host.close();
  });

  /** Starts a process, calls `during`, stops it. @returns the kinds of our groups that it has listed or watched */
  async function readBy(
    options: Partial<LandscaperOptions>,
    during: () => Promise<void> = () => Promise.resolve(),
  ): Promise<readonly string[]> {
    const before = host.asked().length;
    const kubeconfig = { text: host.kubeconfig };
    const process = await startLandscaper({ kubeconfig, log, crds: false, ...options });
    await during();
    await process.stop();
    const read = host
      .asked()
      .slice(before)
      .filter(({ verb }) => verb === 'list' || verb === 'watch')
      .flatMap(({ objectRef }) => objectRef?.resource ?? []);
    return [...new Set(read)].sort();
  }

  const context: Obj = {
    apiVersion: API_VERSION,
    kind: 'Context',
    metadata: { name: 'default', namespace: 'shop' },
  };

  /** Runs a job of a mock item. */
  async function runs(options: Partial<LandscaperOptions>, config: Obj | object, name: string) {
    const object = {
      apiVersion: API_VERSION,
      kind: 'DeployItem',
      metadata: { name, namespace: 'shop' },
      spec: { type: `${GROUP}/mock`, config: config as Record<string, unknown> },
    };
    const key = `shop/${name}`;
    await admin.send({ verb: 'create', kind: deployItemKind, object });
    return readBy(options, async () => {
      const body = { status: { observedGeneration: 0, jobID: 'j1' } };
      await admin.send({ verb: 'merge', kind: deployItemKind, key, sub: 'status', body });
      await eventually('the job ends', async () => {
        const { status } = (await getIfThere(admin, deployItemKind, key)) ?? {};
        return status?.jobIDFinished === 'j1' && status.phase === 'Succeeded';
      });
    });
  }

  const forDeployers = ['contexts', 'deployitems', 'executions', 'targets'];
  const all = [
    'contexts',
    'dataobjects',
    'deployitems',
    'executions',
    'installations',
    'syncobjects',
    'targets',
    'targetsyncs',
  ];
  const rows: readonly (readonly [
    title: string,
    controllers: readonly string[],
    deployers: readonly string[],
    kinds: readonly string[],
  ])[] = [
    ['the mock deployer', NONE, ['mock'], forDeployers],
    ['the manifest deployer', NONE, ['manifest'], forDeployers],
    ['the helm deployer', NONE, ['helm'], forDeployers],
    [
      'the container deployer',
      NONE,
      ['container'],
      ['contexts', 'deployitems', 'executions', 'pods', 'targets'],
    ],
    ['the controller of Contexts', ['context'], NONE, ['contexts', 'namespaces']],
    ['the controller of TargetSyncs', ['targetsync'], NONE, ['targets', 'targetsyncs']],
    ['the controller of locks', ['syncobject'], NONE, ['executions', 'installations', 'syncobjects']],
    ['the controller of deploy items', ['deployitem'], NONE, ['deployitems', 'executions', 'targets']],
    ['the health check', ['health'], NONE, []],
    ['the controller of installations', ['installation'], NONE, all],
    ['the controller of executions', ['execution'], NONE, all],
  ];
  for (const [title, controllers, deployers, kinds] of rows)
    it(`with ${title} reads ${kinds.join(', ') || 'nothing'}`, async () => {
      const read = await readBy({ controllers, deployers });
      expect(read.filter((kind) => kind !== 'secrets')).to.deep.equal(kinds);
    });

  /** The role in docs/install.md. */
  function documentedRole(): Obj {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/install.md'), 'utf8');
    const [, text = ''] = /### Processes with some parts[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
    return parseYaml(text) as Obj;
  }

  it('with deployers alone works with the role of the documentation', async () => {
    const apiGroup = 'rbac.authorization.k8s.io';
    const account = { namespace: 'system', name: 'deployers' };
    await admin.send({
      verb: 'create',
      kind: serviceAccountKind,
      object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account },
    });
    const role = documentedRole();
    await admin.send({ verb: 'create', kind: clusterRoleKind, object: role });
    const binding = {
      apiVersion: `${apiGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'deployers' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role.metadata.name },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    };
    await admin.send({ verb: 'create', kind: clusterRoleBindingKind, object: binding });
    const kubeconfig = { text: await kubeconfigOfAccount(admin, host.kubeconfig, account) };
    await admin.send({ verb: 'apply', kind: contextKind, object: context, manager: 'test', force: true });
    const config = {
      apiVersion: `mock.deployer.${GROUP}/v1alpha1`,
      kind: 'ProviderConfiguration',
      export: { a: 1 },
    };
    await runs(
      { kubeconfig, controllers: NONE, deployers: ['mock', 'manifest', 'helm'] },
      config,
      'exporting',
    );
    const refused = host
      .asked()
      .filter(
        ({ user, responseStatus }) => user.username.endsWith(':deployers') && responseStatus?.code === 403,
      );
    expect(refused.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).to.deep.equal([]);
  });

  it('with deployers alone, as one of several replicas, divides deploy items one by one', async () => {
    await admin.send({ verb: 'apply', kind: contextKind, object: context, manager: 'test', force: true });
    const config = { apiVersion: `mock.deployer.${GROUP}/v1alpha1`, kind: 'ProviderConfiguration' };
    const fleet = { namespace: 'system', name: 'deployers' };
    const read = await runs({ controllers: NONE, deployers: ['mock'], fleet }, config, 'web');
    expect(read).to.deep.equal(['contexts', 'deployitems', 'executions', 'leases', 'targets']);
  });
});
