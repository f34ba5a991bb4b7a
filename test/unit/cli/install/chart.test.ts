/** The chart of the product: its values, its schema, and what it renders. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { wordsFor } from '../../../../src/cli/commands/install/names.ts';
import { withSetOption } from '../../../../src/cli/commands/install/set-option.ts';
import { isObject, ownField, type Fields } from '../../../../src/lib/objects.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { casesOf } from '../../../support/charts.ts';
import { productChartFolder, renderProduct } from '../../../support/product-chart.ts';

const textOf = (name: string): string => readFileSync(join(productChartFolder, name), 'utf8');
const yamlOf = (name: string): Fields => parseYaml(textOf(name)) as Fields;
const full = yamlOf('ci/full-values.yaml');
const observability = join(productChartFolder, '../../docs/observability');

/** The chart needs a decision about namespaces. */
const everywhere = { allNamespaces: true };
const decided = ({ rbac = {}, ...values }: Fields): Fields => ({
  ...values,
  rbac: { ...everywhere, ...(rbac as Fields) },
});

const objectsOf = (values: Fields): readonly Obj[] =>
  renderProduct(decided(values)).manifests.map(({ document }) => document as Obj);
const namesOf = (values: Fields): readonly string[] => objectsOf(values).map(wordsFor);
const find = (values: Fields, words: string): Obj =>
  objectsOf(values).find((object) => wordsFor(object) === words) ?? expect.fail(`there is no ${words}`);
const at = (object: unknown, ...path: readonly string[]): unknown => path.reduce(ownField, object);

interface PodSpec {
  readonly containers: readonly Fields[];
  readonly [field: string]: unknown;
}
const podOf = (values: Fields, name = 'espalier'): { readonly metadata: Fields; readonly spec: PodSpec } =>
  at(find(values, `Deployment ls-system/${name}`), 'spec', 'template') as ReturnType<typeof podOf>;

describe('the chart of the product', () => {
  it('has the version of the package, and belongs to it', () => {
    const text = readFileSync(join(productChartFolder, '../../package.json'), 'utf8');
    const { version, files } = JSON.parse(text) as { version: string; files: readonly string[] };
    const { version: chartVersion, appVersion } = yamlOf('Chart.yaml');
    expect([chartVersion, appVersion]).to.deep.equal([version, version]);
    expect(files).to.include('charts');
  });

  it('contains the CustomResourceDefinitions', () => {
    expect(renderProduct(decided({})).crds).to.have.length(12);
  });

  for (const { name, values } of casesOf(productChartFolder))
    it(`renders complete objects, each once: ${name}`, () => {
      const objects = objectsOf(
        values === undefined ? {} : (parseYaml(readFileSync(values, 'utf8')) as Fields),
      );
      const names = objects.map(wordsFor);
      expect(new Set(names).size).to.equal(names.length);
      for (const object of objects) {
        expect(object.apiVersion, wordsFor(object)).to.be.a('string');
        expect(object.metadata.labels, wordsFor(object)).to.include({
          'app.kubernetes.io/managed-by': 'Helm',
        });
      }
    });

  it('creates only what the values need', () => {
    expect(
      namesOf({ deployers: ['mock'], rbac: { create: false }, networkPolicy: { enabled: false } }),
    ).to.deep.equal(['ServiceAccount ls-system/espalier', 'Deployment ls-system/espalier']);
    const all = namesOf(full);
    expect(all).to.include.members([
      'Role pods/espalier-deployers',
      'Role health/espalier',
      'Service ls-system/espalier',
      'ServiceMonitor ls-system/espalier',
      'PrometheusRule ls-system/espalier',
      'PodDisruptionBudget ls-system/espalier',
      'Deployment ls-system/espalier-webhooks',
    ]);
    const set = withSetOption(full, 'podDisruptionBudget.enabled=false');
    expect(all.filter((name) => !namesOf(set).includes(name))).to.deep.equal([
      'PodDisruptionBudget ls-system/espalier',
      'PodDisruptionBudget ls-system/espalier-deployers',
      'PodDisruptionBudget ls-system/espalier-webhooks',
    ]);
  });

  it('uses every value of the full file in the pods', () => {
    const { metadata, spec } = podOf(full);
    expect(metadata['labels']).to.include({ 'example.org/zone': 'a' });
    expect(metadata['annotations']).to.include({ 'example.org/scrape': 'true' });
    for (const key of ['imagePullSecrets', 'nodeSelector', 'tolerations', 'affinity', 'priorityClassName'])
      expect(spec[key], key).to.deep.equal(full[key]);
    expect(spec['securityContext']).to.include({ runAsUser: 2000, fsGroup: 2000 });
    const [spread, own] = spec['topologySpreadConstraints'] as readonly Fields[];
    expect(at(spread, 'labelSelector', 'matchLabels')).to.have.property('app.kubernetes.io/component');
    expect(at(own, 'labelSelector', 'matchLabels')).to.deep.equal({ 'app.kubernetes.io/name': 'espalier' });
    const [container = {}] = spec.containers;
    expect(container['image']).to.match(/^registry\.example\.org\/espalier:0\.2\.0@sha256:0123/);
    expect(container['imagePullPolicy']).to.equal('IfNotPresent');
    expect(container['resources']).to.deep.equal(full['resources']);
    expect(container['args']).to.include('--metrics-address=0.0.0.0:8081');
    expect(container['env']).to.deep.include.members([
      { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/espalier-ca/bundle.pem' },
      { name: 'HTTPS_PROXY', value: 'http://proxy.example.org:3128' },
      { name: 'NODE_OPTIONS', value: '--max-old-space-size=800' },
    ]);
    expect(podOf(full, 'espalier-webhooks').spec.containers[0]?.['args']).to.include('--port=9444');
  });

  it('installs the console only on request, without credentials of registries', () => {
    expect(namesOf({}).filter((name) => name.includes('console'))).to.deep.equal([]);
    const { spec } = podOf(full, 'espalier-console');
    expect(spec['serviceAccountName']).to.equal('espalier-console');
    const [container = {}] = spec.containers;
    expect(container['args']).to.deep.equal([
      'console',
      '--in-cluster',
      '--port=8443',
      '--tls-cert=/etc/espalier-console-tls/tls.crt',
      '--tls-key=/etc/espalier-console-tls/tls.key',
      '--allowed-hosts=console.example.org,console',
      '--trust-forwarded-headers',
      '--allow-targets',
      '--allow-plans',
      '--max-plans=3',
      '--max-plans-per-user=2',
      '--plan-memory=768',
      '--plan-timeout=90s',
      '--deployer=/opt/dns/deployer --zone example.org',
      '--config=/etc/espalier/configuration.yaml',
    ]);
    expect(at(container['readinessProbe'], 'httpGet', 'scheme')).to.equal('HTTPS');
    const volumes = (spec['volumes'] as readonly Fields[]).map(({ name }) => name);
    expect(volumes).to.include('console-tls').and.to.include('configuration');
    expect(volumes.filter((name) => String(name).startsWith('registry-'))).to.deep.equal([]);
    const policy = find(full, 'NetworkPolicy ls-system/espalier-console');
    expect(JSON.stringify(policy)).to.contain('"kubernetes.io/metadata.name":"ingress-nginx"');
  });

  it('lets the console connect to targets, and plan, only on request, with memory for all plans', () => {
    const consoleWith = (values: Fields): Fields =>
      podOf({ console: { enabled: true, ...values } }, 'espalier-console').spec.containers[0] ?? {};
    const memoryOf = (container: Fields): unknown => at(container['resources'], 'limits', 'memory');
    const usual = consoleWith({});
    expect(String(usual['args'])).not.to.contain('allow');
    expect(memoryOf(usual)).to.equal('512Mi');
    const connected = consoleWith({ allowTargets: true });
    expect(connected['args']).to.include('--allow-targets').and.not.include('--allow-plans');
    const planning = { allowTargets: true, plans: { enabled: true, max: 4 } };
    expect(consoleWith(planning)['args']).to.include.members([
      '--allow-plans',
      '--max-plans=4',
      '--max-plans-per-user=1',
      '--plan-memory=512',
      '--plan-timeout=2m',
    ]);
    expect(memoryOf(consoleWith(planning))).to.equal('2560Mi');
    const own = { ...planning, resources: { limits: { memory: '3Gi' } } };
    expect(memoryOf(consoleWith(own))).to.equal('3Gi');
    expect(consoleWith({ resources: { limits: null } })['resources']).not.to.have.property('limits');
    expect(() => consoleWith({ plans: { enabled: true } })).to.throw('needs console.allowTargets=true');
  });

  it('gives the console of some namespaces permissions in these alone', () => {
    const names = namesOf(yamlOf('ci/namespaces-values.yaml'));
    expect(names).to.include.members(['Role shop/espalier-console', 'RoleBinding bank/espalier-console']);
    expect(names).not.to.include('ClusterRole espalier-console');
    expect(namesOf({ console: { enabled: true }, rbac: { create: false } })).not.to.include(
      'ClusterRole espalier-console',
    );
  });

  it('contains the alerts and dashboards of the documentation, unchanged', () => {
    const rule = find(full, 'PrometheusRule ls-system/espalier');
    expect(at(rule, 'spec')).to.deep.equal(
      parseYaml(readFileSync(join(observability, 'rules.yaml'), 'utf8')),
    );
    expect(rule.metadata.labels).to.include({ release: 'prometheus' });
    const boards = readdirSync(observability).filter((file) => file.endsWith('.json'));
    expect(boards).to.have.length(3);
    for (const file of boards) {
      const board = find(full, `ConfigMap ls-system/espalier-dashboard-${file.replace('.json', '')}`);
      expect(at(board, 'data')).to.deep.equal({ [file]: readFileSync(join(observability, file), 'utf8') });
      expect(board.metadata.labels).to.include({ grafana_dashboard: 'true' });
      expect(board.metadata.annotations).to.deep.equal({ grafana_folder: 'Espalier' });
    }
    const byDefault = find(
      { dashboards: { enabled: true } },
      'ConfigMap ls-system/espalier-dashboard-landscapes',
    );
    expect(byDefault.metadata.labels).to.include({ grafana_dashboard: '1' });
  });

  it('refuses to choose between some namespaces and all, unless it grants no permissions', () => {
    expect(() => renderProduct({})).to.throw('name the namespaces with landscapes in config.watchNamespaces');
    const permits = (values: Fields): boolean =>
      renderProduct(values).manifests.some(
        ({ document }) => wordsFor(document as Obj) === 'ClusterRoleBinding espalier',
      );
    const controllers = { contexts: { config: { default: { disable: true } } } };
    expect(permits({ rbac: everywhere })).to.equal(true);
    expect(permits({ config: { watchNamespaces: ['shop'], controllers } })).to.equal(false);
    expect(permits({ config: { watchNamespaces: ['shop'], controllers }, rbac: everywhere })).to.equal(false);
    expect(permits({ rbac: { create: false } })).to.equal(false);
  });

  it('creates a namespace for pods of container items, unless the configuration names one', () => {
    const created = (values: Fields, namespace?: string): readonly string[] =>
      renderProduct(decided(values), namespace)
        .manifests.map(({ document }) => document as Obj)
        .filter(({ kind }) => kind === 'Namespace')
        .map(({ metadata }) => metadata.name);
    expect(created({})).to.deep.equal(['ls-system-pods']);
    expect(created({}, 'n'.repeat(63))).to.deep.equal([`${'n'.repeat(58)}-pods`]);
    expect(created({ config: { container: { namespace: 'ls-system' } } })).to.deep.equal([]);
    expect(created({ deployers: ['helm'] })).to.deep.equal([]);
    expect(at(find({}, 'Namespace ls-system-pods'), 'metadata', 'annotations')).to.deep.equal({
      'helm.sh/resource-policy': 'keep',
    });
  });

  it('lets viewers see neither deploy items nor executions, which contain values', () => {
    const rules = at(find({}, 'ClusterRole espalier-viewer'), 'rules');
    expect(JSON.stringify(rules)).not.to.match(/deployitems|executions|secrets|targets"|dataobjects|\*/);
    expect(namesOf({}).filter((name) => name.endsWith('Binding espalier-viewer'))).to.deep.equal([]);
  });

  it('uses the version of the chart for an image without tag and digest', () => {
    const imageOf = (image: Fields): unknown => podOf({ image }).spec.containers[0]?.['image'];
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(imageOf({})).to.equal(`espalier:${String(yamlOf('Chart.yaml')['appVersion'])}`);
    expect(imageOf({ repository: 'host:5000/a', tag: 'x' })).to.equal('host:5000/a:x');
    expect(imageOf({ digest })).to.equal(`espalier@${digest}`);
  });
});

describe('the schema of the values', () => {
  const schema = JSON.parse(textOf('values.schema.json')) as Fields;

  /** Paths of all values whose keys the schema lists. */
  function pathsOf(part: unknown, path = ''): readonly string[] {
    const properties = ownField(part, 'properties');
    if (!isObject(properties)) return [path];
    return Object.entries(properties).flatMap(([key, each]) => pathsOf(each, `${path}.${key}`));
  }
  const valueAt = (values: unknown, path: string): unknown => at(values, ...path.split('.').slice(1));

  it('lists the values that values.yaml has, and full-values.yaml changes them', () => {
    const defaults = yamlOf('values.yaml');
    // Helm adds `global`; `espalier install` sets `managedBy`; a ConfigMap and a Secret, and the sources of certificates,
    // exclude each other.
    const exceptions = [
      '.global',
      '.managedBy',
      '.caBundle.secret',
      '.webhooks.certificates.secret',
      '.webhooks.certificates.caBundle',
    ];
    const paths = pathsOf(schema).filter((path) => !exceptions.includes(path));
    for (const path of paths) {
      expect(valueAt(defaults, path), path).not.to.equal(undefined);
      const isSwitch = path === '.networkPolicy.enabled' || path === '.podDisruptionBudget.enabled';
      if (isSwitch || path === '.rbac.create') continue; // Without them, less is rendered.
      expect(valueAt(full, path), path).not.to.equal(undefined);
      expect(valueAt(full, path), path).not.to.deep.equal(valueAt(defaults, path));
    }
    expect(Object.keys(defaults)).to.have.members(
      Object.keys(ownField(schema, 'properties') as Fields).filter((key) => key !== 'global'),
    );
  });

  for (const [option, place] of [
    ['unknown=1', ''],
    ['image.name=x', '/image'],
    ['image.digest=sha256:1', '/image/digest'],
    ['image.repository=', '/image/repository'],
    ['image.pullPolicy=Sometimes', '/image/pullPolicy'],
    ['imagePullSecrets={a}', '/imagePullSecrets/0'],
    ['replicas=0', '/replicas'],
    ['replicas=two', '/replicas'],
    ['deployers={helmet}', '/deployers/0'],
    ['deployers={}', '/deployers'],
    ['config=x', '/config'],
    ['metrics.port=70000', '/metrics/port'],
    ['console.allowedHosts={https://console}', '/console/allowedHosts/0'],
    ['console.replicas=2', '/console'],
    ['console.plans.timeout=soon', '/console/plans/timeout'],
    ['serviceMonitor.interval=often', '/serviceMonitor/interval'],
    ['prometheusRule.labels.a=1', '/prometheusRule/labels/a'],
    ['dashboards.label=x', '/dashboards'],
    ['webhooks.enabled=yes', '/webhooks/enabled'],
    ['webhooks.certificates.source=vault', '/webhooks/certificates/source'],
    ['webhooks.certificates.caBundle=ca.crt', '/webhooks/certificates/caBundle'],
    ['webhooks.certificates.issuer.kind=clusterIssuer', '/webhooks/certificates/issuer/kind'],
    ['webhooks.certificates.secret=A_B', '/webhooks/certificates/secret'],
    ['webhooks.skipValidation=none', '/webhooks/skipValidation'],
    ['networkPolicy.metricsFrom={A_B}', '/networkPolicy/metricsFrom/0'],
    ['podDisruptionBudget.maxUnavailable=0', '/podDisruptionBudget/maxUnavailable'],
    ['networkPolicy.egress.except={10.0.0.1}', '/networkPolicy/egress/except/0'],
    ['tmpSizeLimit=much', '/tmpSizeLimit'],
    ['rbac.scope=namespace', '/rbac'],
    ['podLabels.a=1', '/podLabels/a'],
    ['extraEnv[0].value=x', '/extraEnv/0'],
    ['caBundle.configMap=a,caBundle.secret=b', '/caBundle'],
  ] as const)
    it(`refuses ${option}`, () => {
      expect(() => renderProduct(withSetOption(decided({}), option))).to.throw(`- at '${place}':`);
    });
});
