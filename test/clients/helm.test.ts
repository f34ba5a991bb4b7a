/** Helm: scenario API-187. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findHelm } from '../../hack/helm/binary.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import { productChartFolder } from '../support/product-chart.ts';
import { skipUnlessControlled, useSubject, type Json } from '../conformance/apiserver/subject.ts';
import { leftOut } from '../support/skip.ts';
import { KubeconfigFile } from './program.ts';
import { timeoutOption } from '../support/patience.ts';

const chart: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'values.yaml': 'replicas: 1\npassword: first\n',
  'crds/thing.yaml': `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: things.helm.example.com }
spec:
  group: helm.example.com
  scope: Namespaced
  names: { plural: things, kind: Thing }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: { spec: { type: object, properties: { size: { type: integer } } } }
`,
  'templates/thing.yaml': `apiVersion: helm.example.com/v1
kind: Thing
metadata: { name: thing }
spec: { size: {{ .Values.replicas }} }
`,
  'templates/secret.yaml': `apiVersion: v1
kind: Secret
metadata: { name: shop }
stringData: { password: {{ .Values.password }} }
`,
  'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: { name: shop }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: shop } }
  template:
    metadata: { labels: { app: shop } }
    spec: { containers: [{ name: c, image: nginx }] }
`,
};

const helm = findHelm();

if (helm === undefined) leftOut('API-187: helm', 'helm is not built; make test-clients does');
else
  describe('helm', function () {
    this.timeout(180_000);
    const s = useSubject({ simulate: true });
    let config: KubeconfigFile;
    let folder: string;
    let ns: string;

    before(function () {
      skipUnlessControlled(this, s);
      config = new KubeconfigFile(s);
      folder = mkdtempSync(join(tmpdir(), 'espalier-helm-'));
      for (const [path, text] of Object.entries(chart)) {
        mkdirSync(dirname(join(folder, 'shop', path)), { recursive: true });
        writeFileSync(join(folder, 'shop', path), text);
      }
    });
    after(() => {
      if (s.isGenuine) return;
      config.remove();
      rmSync(folder, { recursive: true });
    });

    /** The server is in this process, so waiting for helm must not block it. */
    async function run(...args: readonly string[]): Promise<void> {
      const env = {
        ...process.env,
        HELM_CACHE_HOME: folder,
        HELM_CONFIG_HOME: folder,
        HELM_DATA_HOME: folder,
      };
      const child = spawn(helm ?? '', ['--kubeconfig', config.path, '--namespace', ns, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      expect(code, `helm ${args.join(' ')}: ${printed}`).to.equal(0);
    }

    interface State {
      readonly replicas: number;
      readonly ready: number;
      readonly size: number;
      readonly password: string;
    }
    const state = async (): Promise<State> => {
      const { spec, status } = (await s.get(`/apis/apps/v1/namespaces/${ns}/deployments/shop`)).body;
      const thing = (await s.get(`/apis/helm.example.com/v1/namespaces/${ns}/things/thing`)).body;
      const secret = (await s.get(`/api/v1/namespaces/${ns}/secrets/shop`)).body;
      return {
        replicas: spec.replicas,
        ready: status.readyReplicas,
        size: thing.spec.size,
        password: Buffer.from(secret.data.password, 'base64').toString(),
      };
    };
    /** `v1 superseded` for each release Secret. */
    const releases = async (): Promise<string[]> => {
      const { items } = (await s.get(`/api/v1/namespaces/${ns}/secrets?labelSelector=name=shop,owner=helm`))
        .body;
      return (items as Json[]).map(({ metadata, type }) => {
        const { version, status } = metadata.labels as Record<string, string>;
        expect([metadata.name, type]).to.deep.equal([
          `sh.helm.release.v1.shop.v${String(version)}`,
          'helm.sh/release.v1',
        ]);
        return `v${String(version)} ${String(status)}`;
      });
    };

    it('API-187: installs, upgrades, rolls back and uninstalls a chart, and waits for it', async () => {
      ns = await s.namespace();
      const path = join(folder, 'shop');
      const first = { replicas: 1, ready: 1, size: 1, password: 'first' };
      await run('install', 'shop', path, '--wait', ...timeoutOption());
      expect(await state()).to.deep.equal(first);
      expect(await releases()).to.deep.equal(['v1 deployed']);

      await run('upgrade', 'shop', path, '--wait', ...timeoutOption(), '--set', 'replicas=3,password=second');
      expect(await state()).to.deep.equal({ replicas: 3, ready: 3, size: 3, password: 'second' });
      expect(await releases()).to.deep.equal(['v1 superseded', 'v2 deployed']);

      await run('rollback', 'shop', '1', '--wait', ...timeoutOption());
      expect(await state()).to.deep.equal(first);
      expect(await releases()).to.deep.equal(['v1 superseded', 'v2 superseded', 'v3 deployed']);

      await run('uninstall', 'shop', '--wait', ...timeoutOption());
      expect(await releases()).to.deep.equal([]);
      expect((await s.get(`/apis/apps/v1/namespaces/${ns}/deployments/shop`)).code).to.equal(404);
      expect((await s.get(`/api/v1/namespaces/${ns}/secrets/shop`)).code).to.equal(404);
      // Helm never deletes CRDs.
      expect((await s.get(`/apis/helm.example.com/v1/namespaces/${ns}/things/thing`)).body.reason).to.equal(
        'NotFound',
      );
      expect((await s.get(`/apis/helm.example.com/v1/namespaces/${ns}/things`)).code).to.equal(200);
    });

    it('API-187: installs, upgrades and uninstalls the chart of Espalier', async () => {
      ns = await s.namespace();
      const deployment = async (name: string): Promise<Json> =>
        (await s.get(`/apis/apps/v1/namespaces/${ns}/deployments/${name}`)).body;
      const everywhere = 'rbac.allNamespaces=true';
      await run('install', 'espalier', productChartFolder, '--wait', ...timeoutOption(), '--set', everywhere);
      expect((await deployment('espalier')).status.readyReplicas).to.equal(1);
      expect((await s.get(`/apis/${API_VERSION}/namespaces/${ns}/installations`)).code).to.equal(200);

      const set = `${everywhere},replicas=2,webhooks.enabled=true,image.repository=example.org/espalier`;
      await run('upgrade', 'espalier', productChartFolder, '--wait', ...timeoutOption(), '--set', set);
      expect((await deployment('espalier')).status.readyReplicas).to.equal(2);
      expect((await deployment('espalier-webhooks')).status.readyReplicas).to.equal(2);

      const upgradeTo = (deployments: string) =>
        run(
          'upgrade',
          'espalier',
          productChartFolder,
          '--wait',
          ...timeoutOption(),
          '--set',
          `${set},deployments=${deployments}`,
        );
      await upgradeTo('separate');
      expect((await deployment('espalier-deployers')).status.readyReplicas).to.equal(2);
      await upgradeTo('together');
      expect((await deployment('espalier-deployers')).reason).to.equal('NotFound');
      const account = `/api/v1/namespaces/${ns}/serviceaccounts/espalier-deployers`;
      expect((await s.get(account)).code).to.equal(404);

      await run('uninstall', 'espalier', '--wait', ...timeoutOption());
      expect((await deployment('espalier')).reason).to.equal('NotFound');
    });
  });
