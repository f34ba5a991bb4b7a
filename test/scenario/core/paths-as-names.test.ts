/** Names that would lead out of the namespace (../) end a job at once, wherever they are. No webhook is involved. */
import { expect } from 'chai';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { fakeItem, lonelyItem, plan, root } from '../../support/landscape.ts';

const PATH = '../../bb/secrets/x';

describe('a path used as a name', () => {
  const here = useCluster();

  const ref = { componentName: 'example.org/c', version: '1.0.0' };
  const component = {
    componentDescriptor: {
      ref: { ...ref, repositoryContext: { type: 'ociRegistry', baseUrl: 'x.invalid' } },
    },
    blueprint: { ref: { resourceName: 'blueprint' } },
  };
  const rows: readonly (readonly [string, object, object?])[] = [
    ['the context of an installation', { context: 'bb/default' }],
    ['a secret to import from', { imports: { data: [{ name: 'a', secretRef: { name: PATH } }] } }],
    ['a config map to import from', { imports: { data: [{ name: 'a', configMapRef: { name: PATH } }] } }],
    ['a data object of a root', { imports: { data: [{ name: 'a', dataRef: PATH }] } }],
    ['a target of a root', { imports: { targets: [{ name: 'a', target: PATH }] } }],
    ['a target to export to', { exports: { targets: [{ name: 'a', target: PATH }] } }],
    [
      'a pull secret of the context',
      { context: 'mine', ...component },
      { registryPullSecrets: [{ name: PATH }] },
    ],
    [
      'the OCM configuration of the context',
      { context: 'mine', ...component },
      { ocmConfig: { name: PATH } },
    ],
    [
      'the overwrites of the context',
      { context: 'mine', ...component },
      { componentVersionOverwrites: PATH },
    ],
  ];
  for (const [title, spec, context] of rows) {
    it(`ends the job: ${title}`, async () => {
      const scene = await here.scene();
      if (context) {
        const metadata = { name: 'mine', namespace: scene.ns };
        const object = { apiVersion: API_VERSION, kind: contextKind.kind, metadata, ...context } as Obj;
        await scene.cluster.client.send({ verb: 'create', kind: contextKind, object });
      }
      await scene.create(root('web', { spec }));
      const { status } = await scene.finished('web', 'Failed');
      expect(status?.lastError?.message).to.contain('cannot be the name of a').and.contain("'/'");
    });
  }

  it('ends the job: the target of an item that a blueprint renders', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [fakeItem('app', { target: { name: PATH } })] }));
    const { status } = await scene.finished('web', 'Failed');
    expect(status?.lastError?.message).to.contain(`"${PATH}": cannot be the name of an object`);
  });

  it('ends the job: the target of an execution', async () => {
    const scene = await here.scene();
    await scene.create(plan([fakeItem('app', { target: { name: PATH, namespace: scene.ns } })]));
    await scene.patchStatus(executionKind, 'plan', { jobID: 'j1', observedGeneration: 0 });
    const { status } = await scene.until('it has failed', () => {
      const found = scene.execution('plan');
      return found?.status?.phase === 'Failed' && found;
    });
    expect(status?.lastError?.message).to.contain('cannot be the name of an object');
  });

  for (const spec of [{ target: { name: PATH, namespace: 'n' } }, { context: 'bb/default' }]) {
    it(`ends the job: the ${Object.keys(spec).join()} of a deploy item`, async () => {
      const scene = await here.scene();
      await scene.create(lonelyItem(spec));
      const { name } = lonelyItem(spec).metadata;
      await scene.patchStatus(deployItemKind, name, {
        jobID: 'j1',
        observedGeneration: 0,
        jobIDGenerationTime: new Date().toISOString(),
      });
      const { status } = await scene.until('it has failed', () => {
        const found = scene.cluster.world.deployItems.get(`${scene.ns}/${name}`);
        return found?.status?.phase === 'Failed' && found;
      });
      expect(status?.lastError?.message).to.contain('cannot be the name of an object');
    });
  }
});
