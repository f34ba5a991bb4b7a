import { expect } from 'chai';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { systemClock, timestamp } from '../../../src/lib/clock.ts';
import { configMapKind, secretKind } from '../../../src/landscape/world.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Kind, Obj, View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import type { Scene } from '../../support/scene.ts';
import { startUnusableServers } from '../../support/unusable-servers.ts';

const RBAC = 'rbac.authorization.k8s.io';

describe('targets on a cluster', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['manifest'] });

  const create = (kind: Kind, scene: Scene, name: string, more: object): Promise<Obj> => {
    const apiVersion = kind.group === '' ? 'v1' : API_VERSION;
    const object = { apiVersion, kind: kind.kind, metadata: { name, namespace: scene.ns }, ...more };
    return scenes.cluster.client.send({ verb: 'create', kind, object });
  };

  /** A service account that may do everything; its name does not matter here. */
  async function account(scene: Scene): Promise<void> {
    const { client } = scenes.cluster;
    await client.raw('POST', `/api/v1/namespaces/${scene.ns}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'deploy', namespace: scene.ns },
    });
    await client.raw('POST', `/apis/${RBAC}/v1/clusterrolebindings`, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: `deploy-${scene.ns}` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'deploy', namespace: scene.ns }],
    });
  }

  const target = (scene: Scene, spec: object): Promise<Obj> =>
    create(targetKind, scene, 'there', { spec: { type: `${GROUP}/kubernetes-cluster`, ...spec } });

  const settingsOf = (scene: Scene): object => ({
    apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
    kind: 'ProviderConfiguration',
    updateStrategy: 'update',
    manifests: [
      {
        policy: 'manage',
        manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace: scene.ns } },
      },
    ],
  });

  /** One job of an item that creates a ConfigMap in the namespace of the scene. */
  async function job(scene: Scene, id: string): Promise<View<DeployItem>> {
    const type = `${GROUP}/kubernetes-manifest`;
    const key = `${scene.ns}/web`;
    const { client, world } = scenes.cluster;
    if (!world.deployItems.get(key)) {
      const notes = { [annotations.deployerType]: type, [annotations.deployerTargetName]: 'there' };
      await client.send({
        verb: 'create',
        kind: deployItemKind,
        object: {
          apiVersion: API_VERSION,
          kind: 'DeployItem',
          metadata: { name: 'web', namespace: scene.ns, annotations: notes },
          spec: {
            type,
            target: { name: 'there', namespace: scene.ns },
            timeout: '1m',
            config: settingsOf(scene),
          },
        } as never,
      });
    }
    const now = timestamp(systemClock);
    const status = {
      observedGeneration: 0,
      jobID: id,
      jobIDGenerationTime: now,
      transitionTimes: { triggerTime: now, initTime: null },
    };
    await client.send({ verb: 'merge', kind: deployItemKind, key, body: { status }, sub: 'status' });
    return scene.until(`job ${id} has ended`, () => {
      const item = world.deployItems.get(key);
      return item?.status?.jobIDFinished === id ? item : undefined;
    });
  }

  const made = (scene: Scene) => scenes.cluster.client.get(configMapKind, `${scene.ns}/made`);

  async function address(): Promise<{ server: string; caData?: string }> {
    const connection = await connect({
      kubeconfig: { text: scenes.cluster.kubeconfig },
      userAgent: 'test',
      clock: systemClock,
      log: silentLogger,
    });
    const found = await connection.address();
    await connection.close();
    return found;
  }

  it('DEP-85: a self target is this cluster, accessed as a service account', async () => {
    const scene = await scenes.scene();
    await account(scene);
    await target(scene, { config: { selfConfig: { serviceAccount: { name: 'deploy' } } } });
    const { status } = await job(scene, 'j1');
    expect(status?.phase, JSON.stringify(status?.lastError)).to.equal('Succeeded');
    expect((await made(scene)).metadata.name).to.equal('made');
  });

  it('DEP-84: an OIDC target is accessed with a token, which serves several jobs', async () => {
    const scene = await scenes.scene();
    await account(scene);
    const { server, caData } = await address();
    const oidcConfig = {
      server,
      ...(caData && { caData }),
      serviceAccount: { name: 'deploy' },
      expirationSeconds: 3600,
    };
    await target(scene, { config: { oidcConfig } });
    const mark = scenes.cluster.server?.audit.mark();
    for (const id of ['j1', 'j2']) {
      const { status } = await job(scene, id);
      expect(status?.phase, JSON.stringify(status?.lastError)).to.equal('Succeeded');
    }
    if (mark === undefined) return;
    const slice = scenes.cluster.server?.audit.since(mark);
    const tokens = slice?.by({ subresource: 'token', namespace: scene.ns }).events ?? [];
    expect(tokens).to.have.length(1);
  });

  it('a cluster whose certificate is not trusted ends the job at once, and the message says where the authority belongs', async () => {
    const servers = await startUnusableServers();
    try {
      const scene = await scenes.scene();
      const cluster = { server: `https://${servers.untrusted}` };
      const kubeconfig = {
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'it',
        clusters: [{ name: 'it', cluster }],
        users: [{ name: 'it', user: { token: 'x' } }],
        contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
      };
      await target(scene, { config: { kubeconfig } });
      const { status } = await job(scene, 'j1');
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(status?.lastError?.message)
        .to.contain(`cannot trust ${cluster.server}`)
        .and.contain('into the kubeconfig');
      expect(status?.conditions?.map(({ type }) => type)).to.deep.equal(['Ready', 'Stalled']);
    } finally {
      await servers.stop();
    }
  });

  it('DEP-83: a kubeconfig that is replaced in its secret is used by the next job without a restart', async () => {
    const scene = await scenes.scene();
    const wrong = JSON.stringify({
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { token: 't' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    });
    await create(secretKind, scene, 'access', { stringData: { kubeconfig: wrong } });
    await target(scene, { secretRef: { name: 'access', key: 'kubeconfig' } });
    const ended = job(scene, 'j1');
    await scene.until(
      'it says that the cluster cannot be reached',
      () => scenes.cluster.world.deployItems.get(`${scene.ns}/web`)?.status?.lastError,
    );
    const data = { kubeconfig: Buffer.from(scenes.cluster.kubeconfig).toString('base64') };
    await scenes.cluster.client.send({
      verb: 'merge',
      kind: secretKind,
      key: `${scene.ns}/access`,
      body: { data },
    });
    expect((await ended).status?.phase).to.equal('Succeeded');
  });
});
