/** Two installations, or an installation and a user, that write the same DataObject or Target. */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { labels } from '../../../src/api/labels.ts';
import { executionContext, objectName } from '../../../src/dataflow/scope.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  blueprint,
  child,
  childA,
  dataObject,
  mockItem,
  root,
  stack,
  target,
} from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const LINK = objectName('Inst.stack', 'link');

/** From the next job on, `stack` imports `link` itself. */
async function importLink(scene: Scene, children: readonly object[]): Promise<void> {
  await scene.create(dataObject('outside', 'imported'));
  const imports = { data: [{ name: 'link', dataRef: 'outside' }] };
  await scene.patch(installationKind, 'stack', { spec: { imports } });
  await scene.setBlueprint('stack', blueprint({ takes: ['link'], children }));
}

describe('two writers of the same object', () => {
  const here = useCluster();

  it('the import of a parent does not overwrite the export of a child', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [childA()] }));
    await scene.finished('stack', 'Succeeded');
    const a = scene.dataObject(LINK)?.metadata.ownerReferences?.[0]?.name ?? '';
    const before = scene.dataObject(LINK);
    await importLink(scene, [childA()]);
    const { status } = await scene.again('stack', 'Failed');
    const { message = '', codes } = status?.lastError ?? {};
    expect(message).to.contain(`installation '${scene.ns}/${a}' keeps its export 'link' there`);
    expect(message).to.contain(
      `installation '${scene.ns}/stack' does not overwrite it with its import 'link'`,
    );
    expect(message).to.contain('rename or remove one of the two');
    expect(codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(status?.conditions?.find(({ type }) => type === 'CreateImports')).to.include({ status: 'False' });
    expect(scene.dataObject(LINK)).to.deep.equal(before);
  });

  it('an imported target does not overwrite the one that a child exports', async () => {
    const scene = await here.scene();
    await scene.create(target('cluster'));
    const exporter = child('a', {
      more: {
        exports: [{ name: 't', type: 'target', targetType: 'landscaper.gardener.cloud/kubernetes-cluster' }],
        exportExecutions: [
          {
            name: 'e',
            type: 'GoTemplate',
            template:
              'exports: {t: {type: landscaper.gardener.cloud/kubernetes-cluster, config: {kubeconfig: theirs}}}',
          },
        ],
      },
      spec: { exports: { targets: [{ name: 't', target: 'shared' }] } },
    });
    const definition = {
      name: 'shared',
      type: 'target',
      targetType: 'landscaper.gardener.cloud/kubernetes-cluster',
    };
    await scene.create(stack({ children: [exporter] }));
    await scene.finished('stack', 'Succeeded');
    const name = objectName('Inst.stack', 'shared');
    const before = scene.target(name);
    expect(before?.spec.config).to.deep.equal({ kubeconfig: 'theirs' });
    await scene.patch(installationKind, 'stack', {
      spec: { imports: { targets: [{ name: 'shared', target: 'cluster' }] } },
    });
    await scene.setBlueprint('stack', blueprint({ children: [exporter], more: { imports: [definition] } }));
    const { status } = await scene.again('stack', 'Failed');
    expect(status?.lastError?.message).to.match(
      /target '.*' for import 'shared'.* keeps its export 'shared'/,
    );
    expect(scene.target(name)).to.deep.equal(before);
  });

  it('an object that a child no longer exports becomes the import, and the child is removed from its owners', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [childA()] }));
    await scene.finished('stack', 'Succeeded');
    await importLink(scene, [child('a')]);
    await scene.again('stack', 'Succeeded');
    const link = scene.dataObject(LINK);
    expect(link?.data).to.equal('imported');
    expect(link?.metadata.labels).to.include({ [labels.dataSource]: 'Inst.stack' });
    expect(link?.metadata.ownerReferences?.map(({ name }) => name)).to.deep.equal(['stack']);
  });

  it('an exporter that was removed from the blueprint gives up the object as well', async () => {
    const scene = await here.scene();
    await scene.create(stack({ children: [childA()] }));
    await scene.finished('stack', 'Succeeded');
    await importLink(scene, []);
    await scene.again('stack', 'Succeeded');
    expect(scene.dataObject(LINK)?.data).to.equal('imported');
  });

  it('an execution does not publish its exports over an object of another owner', async () => {
    const scene = await here.scene();
    const name = objectName(executionContext('web'), '');
    await scene.create(dataObject(name, 'mine'));
    await scene.create(root('web', { items: [mockItem('app', { export: { x: 1 } })] }));
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError?.message).to.contain(`execution '${scene.ns}/web' publishes the exports`);
    expect(scene.dataObject(name)?.data).to.equal('mine');
    await scene.remove(dataObjectKind, name);
    await scene.again('web', 'Succeeded');
  });
});
