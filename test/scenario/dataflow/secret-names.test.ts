/** Values of secrets do not become names: the job ends before anything is created with such a name. */
import { expect } from 'chai';
import { secretKind } from '../../../src/landscape/world.ts';
import { useCluster } from '../../support/cluster.ts';
import { child, fakeItem, root, type InstallationParts } from '../../support/landscape.ts';

const VALUE = 'hunter2-hunter2';

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
      const object = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'access', namespace: scene.ns },
        data: { password: Buffer.from(VALUE).toString('base64') },
      };
      await scene.cluster.client.send({ verb: 'create', kind: secretKind, object });
      const installation = root('web', {
        ...parts,
        more: { ...parts.more, imports: [{ name: 'password', type: 'data', schema: {} }] },
      });
      const data = [{ name: 'password', secretRef: { name: 'access', key: 'password' } }];
      await scene.create({ ...installation, spec: { ...installation.spec, imports: { data } } });
      const { status } = await scene.finished('web', 'Failed');
      await scene.calm();
      expect(status?.lastError?.message).to.contain('value of import "password", which comes from a secret');
      expect(JSON.stringify(status)).to.not.contain(VALUE);
      expect(scene.installations).to.have.length(1);
      expect(scene.execution('web')).to.equal(undefined);
    });
  }
});
