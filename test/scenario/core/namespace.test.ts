/** Deletion of a whole namespace: Contexts, Targets and secrets are deleted before anything is uninstalled. */
import { expect } from 'chai';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { GROUP, annotations } from '../../../src/api/labels.ts';
import { configMapKind, namespaceKind, secretKind } from '../../../src/landscape/world.ts';
import { NotFound } from '../../../src/runtime/errors.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind } from '../../../src/runtime/types.ts';
import { isRealServer, useCluster } from '../../support/cluster.ts';
import { child, fakeItem, mockItem, root, target } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

/** The order of deletion: objects without finalizers are gone before the deletion of any Landscaper object starts. */
const kinds = [
  contextKind,
  targetKind,
  secretKind,
  configMapKind,
  dataObjectKind,
  deployItemKind,
  executionKind,
  installationKind,
] as readonly Kind[];

/** Acts as the namespace controller, on servers without one. */
async function emptyByHand({ cluster: { client }, ns }: Scene): Promise<void> {
  for (const kind of kinds) {
    for await (const { items } of client.list(kind, { namespace: ns })) {
      for (const { metadata } of items) {
        await client.send({ verb: 'delete', kind, key: `${ns}/${metadata.name}` }).catch((error: unknown) => {
          if (!(error instanceof NotFound)) throw error;
        });
      }
    }
  }
}

/** `kubectl delete namespace` */
async function deleteNamespace(scene: Scene): Promise<void> {
  await scene.cluster.client.send({ verb: 'delete', kind: namespaceKind, key: scene.ns });
  if (isRealServer()) await emptyByHand(scene);
}

/** An item that creates a ConfigMap in a namespace that stays. */
const configMapItem = (namespace: string) => ({
  name: 'map',
  type: `${GROUP}/kubernetes-manifest`,
  target: { import: 'cluster' },
  config: {
    apiVersion: `manifest.deployer.${GROUP}/v1alpha2`,
    kind: 'ProviderConfiguration',
    updateStrategy: 'update',
    manifests: [
      {
        policy: 'manage',
        manifest: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'installed', namespace } },
      },
    ],
  },
});

describe('the deletion of a namespace', function () {
  this.timeout(60_000);
  const here = useCluster({ deployers: ['mock', 'manifest'] });
  const imports = { imports: { targets: [{ name: 'cluster', target: 'cluster' }] } };
  const withTarget = (item: object) =>
    root('web', {
      items: [item as ReturnType<typeof mockItem>],
      more: { imports: [{ name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` }] },
      spec: imports,
    });
  const cluster = () => target('cluster', 'kubernetes-cluster', { kubeconfig: here.cluster.kubeconfig });

  it('needs no Context to uninstall a landscape', async () => {
    const scene = await here.scene();
    await scene.create(
      root('web', { items: [mockItem('a')], children: [child('below', { items: [mockItem('b')] })] }),
    );
    await scene.finished('web', 'Succeeded');
    await deleteNamespace(scene);
    await scene.empty();
  });

  it('is not blocked by items that no deployer ever picked up', async () => {
    const scene = await here.scene();
    const fails = mockItem('a', { phase: 'Failed' });
    await scene.create(root('web', { items: [fails, fakeItem('b', { dependsOn: ['a'] })] }));
    await scene.finished('web', 'Failed');
    await deleteNamespace(scene);
    await scene.empty();
  });

  it('is not blocked by items whose target never existed', async () => {
    const scene = await here.scene();
    const lost = { ...configMapItem(scene.ns), target: { name: 'lost', namespace: scene.ns } };
    await scene.create(root('web', { items: [lost as ReturnType<typeof mockItem>] }));
    await scene.finished('web', 'Failed');
    await deleteNamespace(scene);
    await scene.empty();
  });

  it('reports what to do if something is installed and its target is gone; doing it ends the deletion', async () => {
    const [scene, elsewhere] = [await here.scene(), await here.scene()];
    await scene.create(cluster());
    await scene.create(withTarget(configMapItem(elsewhere.ns)));
    const { status: installed } = await scene.finished('web', 'Succeeded');
    await deleteNamespace(scene);
    const { status } = await scene.finished('web', 'DeleteFailed', { after: installed?.jobID });
    const { lastError } = status ?? {};
    const values = { [annotations.deleteWithoutUninstall]: 'true', [annotations.operation]: 'reconcile' };
    for (const [key, value] of Object.entries(values))
      expect(lastError?.message).to.contain(`${key}=${value}`);
    await scene.annotate(installationKind, 'web', values);
    await scene.empty();
    expect(await getIfThere(here.cluster.client, configMapKind, `${elsewhere.ns}/installed`)).to.not.equal(
      undefined,
    );
  });

  it('ends the running job and then uninstalls', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [mockItem('a'), fakeItem('b', { dependsOn: ['a'] })] }));
    await scene.waiting('web', 'b');
    await deleteNamespace(scene);
    await scene.answer('web', 'b', 'Failed', { lastReconcileTime: '2026-01-01T00:00:00Z' });
    await scene.uninstall('web', 'b');
    await scene.empty();
  });
});
