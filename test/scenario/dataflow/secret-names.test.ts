/** Values of secrets do not become names: the job ends before anything is created with such a name. */
import { expect } from 'chai';
import { secretKind } from '../../../src/landscape/world.ts';
import { useCluster } from '../../support/cluster.ts';
import type { Scene } from '../../support/scene.ts';
import { child, fakeItem, root, type InstallationParts } from '../../support/landscape.ts';

const VALUE = 'hunter2-hunter2';

/** Creates an installation whose templates read a secret. */
async function created(scene: Scene, parts: InstallationParts): Promise<void> {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret' as const,
    metadata: { name: 'access', namespace: scene.ns },
    data: { password: Buffer.from(VALUE).toString('base64') },
  };
  await scene.cluster.client.send({ verb: 'create', kind: secretKind, object });
  const imports = [{ name: 'password', type: 'data', schema: {} }];
  const installation = root('web', { ...parts, more: { ...parts.more, imports } });
  const data = [{ name: 'password', secretRef: { name: 'access', key: 'password' } }];
  await scene.create({ ...installation, spec: { ...installation.spec, imports: { data } } });
}

describe('a template that puts the value of a secret into a name', () => {
  const here = useCluster();
  const password = '{{ .imports.password }}';
  const subinstallation = {
    subinstallationExecutions: [
      {
        name: 's',
        type: 'GoTemplate',
        template: JSON.stringify({ subinstallations: [child(`web-${password}`)] }),
      },
    ],
  };
  const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: password } };
  const config = { apiVersion: 'test.example/v1', kind: 'Cfg', manifests: [{ manifest }] };
  const rows: readonly (readonly [string, InstallationParts])[] = [
    ['a deploy item', { items: [fakeItem(`web-${password}`)] }],
    ['an object in a deploy item', { items: [fakeItem('web', { config })] }],
    ['a sub-installation', { more: subinstallation }],
  ];
  for (const [what, parts] of rows) {
    it(`ends the job without showing the value: ${what}`, async () => {
      const scene = await here.scene();
      await created(scene, parts);
      const { status } = await scene.finished('web', 'Failed');
      await scene.calm();
      expect(status?.lastError?.message).to.contain('value of import "password", which comes from a secret');
      expect(JSON.stringify(status)).to.not.contain(VALUE);
      expect(scene.installations).to.have.length(1);
      expect(scene.execution('web')).to.equal(undefined);
    });
  }
});

describe('a template that puts the value of a secret into a name, where that is allowed', () => {
  const here = useCluster({ config: { allowsSecretsInNames: true } });

  it('creates the object, and the installation reports the import of the value', async () => {
    const scene = await here.scene();
    await created(scene, { items: [fakeItem('web-{{ .imports.password }}')] });
    await scene.waiting('web', `web-${VALUE}`);
    const { status } = scene.installation('web') ?? {};
    const condition = status?.conditions?.find(({ type }) => type === 'ValidateBlueprint');
    expect(condition?.message).to.contain('value of import "password", which comes from a secret');
    expect(condition?.message).to.not.contain(VALUE);
  });
});
