/** The sample of docs/helm.md, installed by the whole product in both modes, on whatever server the tests run on. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseYamlAll } from '../../../src/lib/yaml.ts';
import { createDiscovery } from '../../../src/runtime/transport/discovery.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';

type Any = Obj & { spec?: { blueprint?: { inline?: { filesystem: Record<string, string> } } } };

describe('the sample with a chart', () => {
  const use = useCluster({ deployers: ['helm'] });

  for (const [mode, isRelease] of [
    ['as objects', false],
    ['as a release', true],
  ] as const) {
    it(`is installed ${mode} and uninstalled`, async () => {
      const { client, kubeconfig } = use.cluster;
      const { kindOf } = createDiscovery(client);
      const scene = await use.scene();
      const { ns: namespace } = scene;
      const create = async (object: Obj): Promise<void> => {
        const kind = await kindOf(object.apiVersion, object.kind);
        const metadata = { ...object.metadata, namespace };
        await client.send({ verb: 'create', kind, object: { ...object, metadata } });
      };
      const find = async (kindName: string, key: string): Promise<Obj | undefined> =>
        getIfThere(client, await kindOf('v1', kindName), key);
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'cluster' },
        stringData: { kubeconfig },
      };
      await create(secret);
      for (const object of parseYamlAll(
        readFileSync('docs/samples/hello-chart/installation.yaml', 'utf8'),
      ) as Any[]) {
        const files = object.spec?.blueprint?.inline?.filesystem;
        if (files) {
          files['blueprint.yaml'] = (files['blueprint.yaml'] ?? '')
            .replace('helmDeployment: false', `helmDeployment: ${String(isRelease)}`)
            .replace('namespace: greetings', `namespace: ${namespace}`);
        }
        await create(object);
      }
      await scene.until('the installation has succeeded', () => {
        const found = use.cluster.world.installations.get(`${namespace}/hello-chart`);
        return found?.status?.phase === 'Succeeded' ? found : undefined;
      });
      const made = await find('ConfigMap', `${namespace}/hello-greeting`);
      expect((made as { data?: object } | undefined)?.data).to.deep.equal({ text: 'good morning' });
      const record = `${namespace}/sh.helm.release.v1.hello.v1`;
      expect((await find('Secret', record)) !== undefined).to.equal(isRelease);
      const kind = await kindOf('landscaper.gardener.cloud/v1alpha1', 'Installation');
      await client.send({ verb: 'delete', kind, key: `${namespace}/hello-chart` });
      await scene.until('the installation is gone', () =>
        use.cluster.world.installations.get(`${namespace}/hello-chart`) ? undefined : true,
      );
      expect(await find('ConfigMap', `${namespace}/hello-greeting`)).to.equal(undefined);
      expect(await find('Secret', record)).to.equal(undefined);
    }).timeout(60_000);
  }
});
