/** An informer of client-node: scenario API-185. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';
import { expect } from 'chai';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { leftOut } from '../../support/skip.ts';
import { eventually } from '../../support/waiting.ts';

const PATH = '/api/v1/namespaces/default/configmaps';

if (process.env['ESPALIER_TEST_KUBECONFIG'])
  leftOut(
    'API-185: an informer of client-node has the same cache in the end',
    'it reaches behind the wire of the embedded server',
  );
else
  describe('an informer of client-node', function () {
    this.timeout(60_000);
    let dir: string;
    let server: ApiServer;

    const start = (port = 0): Promise<ApiServer> =>
      startApiServer({ listen: { port }, storage: { kind: 'file', dir } });
    const api = (): CoreV1Api => configOf(server).makeApiClient(CoreV1Api);
    const configOf = ({ kubeconfig }: ApiServer): KubeConfig => {
      const config = new KubeConfig();
      config.loadFromString(kubeconfig);
      return config;
    };
    const create = (name: string): Promise<unknown> =>
      api().createNamespacedConfigMap({
        namespace: 'default',
        body: { metadata: { name }, data: { a: '1' } },
      });
    const change = async (name: string): Promise<void> => {
      const object = await api().readNamespacedConfigMap({ namespace: 'default', name });
      object.data = { a: '2' };
      await api().replaceNamespacedConfigMap({ namespace: 'default', name, body: object });
    };
    const remove = (name: string): Promise<unknown> =>
      api().deleteNamespacedConfigMap({ namespace: 'default', name });
    const words = (objects: readonly V1ConfigMap[]): string =>
      objects
        .map(({ metadata }) => `${String(metadata?.name)}@${String(metadata?.resourceVersion)}`)
        .sort()
        .join(' ');
    const stored = async (): Promise<string> =>
      words((await api().listNamespacedConfigMap({ namespace: 'default' })).items);

    beforeEach(async () => {
      dir = mkdtempSync(join(tmpdir(), 'espalier-informer-'));
      server = await start();
    });
    afterEach(async () => {
      await server.close();
      rmSync(dir, { recursive: true });
    });

    it('API-185: has the same cache as the server after a 410 and a restart of the server', async () => {
      let lists = 0;
      const client = api();
      const informer = makeInformer(configOf(server), PATH, () => {
        lists++;
        return client.listNamespacedConfigMap({ namespace: 'default' });
      });
      let failures = 0;
      informer.on('error', () => void failures++);
      const isSame = async (): Promise<boolean> => words(informer.list()) === (await stored());

      const { test } = server;
      for (const name of ['a', 'b', 'c']) await create(name);
      const others = test.watchers;
      await informer.start();
      await eventually('the informer watches', () => test.watchers > others);
      await create('d');
      await eventually('the informer sees what it watches', isSame);
      expect(lists).to.equal(1);

      // It reconnects at once the first time, and waits a second the next: long enough for its version to expire.
      test.cutWatches('/configmaps');
      await eventually('the informer is back', () => test.watchers > others);
      test.cutWatches('/configmaps');
      await remove('a');
      await change('b');
      await create('e');
      test.compact();
      await eventually('the cache is right after a 410', isSame);
      expect([lists, failures]).to.deep.equal([2, 0]);

      const port = Number(new URL(server.url).port);
      await eventually('the informer watches again', () => test.watchers > others);
      await server.close();
      server = await start(port);
      await remove('b');
      await create('f');
      // As its documentation says: restart it after an error.
      await eventually('the cache is right after the restart', async () => {
        if (failures > 0) {
          failures = 0;
          await informer.start();
        }
        return isSame();
      });
      await change('f');
      await eventually('it watches the server that came back', isSame);
      await informer.stop();
    });
  });
