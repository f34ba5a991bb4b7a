/** What is installed, as a table of options and results. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaults, readConfiguration } from '../../../../src/cli/configuration/configuration.ts';
import { changedFields } from '../../../../src/cli/commands/install/changes.ts';
import { productObjects } from '../../../../src/cli/commands/install/objects.ts';
import { isPlainContext, named } from '../../../../src/cli/commands/install/remaining-objects.ts';
import {
  missingFolders,
  settingsFrom,
  type InstallOptions,
  type InstallSettings,
} from '../../../../src/cli/commands/install/settings.ts';
import { wordsFor } from '../../../../src/cli/commands/install/names.ts';
import { createProgram, runProgram } from '../../../../src/cli/program.ts';
import { toYaml } from '../../../../src/lib/yaml.ts';
import { ownField } from '../../../../src/lib/objects.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import { allRights } from '../../../support/product-chart.ts';
import { fakeTerminal } from '../terminal.ts';

const IMAGE = 'registry.example.org/espalier:0.1.0';

const settings = (options: Partial<InstallOptions> = {}): InstallSettings =>
  settingsFrom({
    image: IMAGE,
    namespace: 'ls-system',
    replicas: 1,
    crds: true,
    allNamespaces: true,
    ...options,
  });

const find = (objects: readonly Obj[], words: string): Obj =>
  objects.find((object) => wordsFor(object) === words) ?? expect.fail(`there is no ${words}`);

const at = (object: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (found, key) =>
      Array.isArray(found) ? (found as readonly unknown[])[Number(key)] : ownField(found, String(key)),
    object,
  );

const container = (object: unknown): unknown => at(object, 'spec', 'template', 'spec', 'containers', 0);

describe('the objects of an installed Espalier', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const configured = (document: object, more: Partial<InstallOptions> = {}): readonly Obj[] => {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, toYaml(document));
    return productObjects(settings({ config, ...more }));
  };

  it('start with the namespace and end with the objects that need everything else', () => {
    expect(productObjects(settings({ webhooks: true })).map(wordsFor)).to.deep.equal([
      'Namespace ls-system',
      'Namespace ls-system-pods',
      'NetworkPolicy ls-system/espalier',
      'NetworkPolicy ls-system-pods/espalier-container-items',
      'NetworkPolicy ls-system/espalier-webhooks',
      'PodDisruptionBudget ls-system/espalier-webhooks',
      'ServiceAccount ls-system/espalier',
      'ServiceAccount ls-system/espalier-webhooks',
      'ConfigMap ls-system/espalier',
      'ClusterRole espalier',
      'ClusterRole espalier-viewer',
      'ClusterRole espalier-webhooks',
      'ClusterRole espalier-webhooks-reviews',
      'ClusterRoleBinding espalier',
      'ClusterRoleBinding espalier-webhooks',
      'ClusterRoleBinding espalier-webhooks-reviews',
      'Role ls-system/espalier',
      'Role ls-system-pods/espalier',
      'Role ls-system/espalier-webhooks',
      'RoleBinding ls-system/espalier',
      'RoleBinding ls-system-pods/espalier',
      'RoleBinding ls-system/espalier-webhooks',
      'Service ls-system/espalier-webhooks',
      'Deployment ls-system/espalier',
      'Deployment ls-system/espalier-webhooks',
    ]);
  });

  it('run the program with options that it knows', () => {
    const objects = configured(
      { lsDeployments: { deploymentsNamespace: 'a', lsHealthCheckName: 'b' } },
      { webhooks: true },
    );
    for (const name of ['espalier', 'espalier-webhooks']) {
      const args = at(container(find(objects, `Deployment ls-system/${name}`)), 'args') as readonly string[];
      const program = createProgram(fakeTerminal(), () => undefined);
      const command = program.commands.find((each) => each.name() === args[0]) ?? expect.fail(args[0]);
      expect(command.parseOptions([...args.slice(1)]).unknown).to.deep.equal([]);
    }
  });

  it('pass on to the pods their identity, the shared lease, and the deployers', () => {
    const deployment = find(
      productObjects(settings({ namespace: 'own', replicas: 3, deployers: ['mock', 'helm'] })),
      'Deployment own/espalier',
    );
    expect(at(deployment, 'spec', 'replicas')).to.equal(3);
    expect(at(container(deployment), 'args')).to.deep.equal([
      'start',
      '--no-crds',
      '--deployers=helm,mock',
      '--lease=own/espalier',
      '--metrics-address=0.0.0.0:8080',
    ]);
    expect(
      (at(container(deployment), 'env') as { name: string }[]).map(({ name }) => name),
    ).to.include.members(['MY_POD_NAME', 'MY_POD_NAMESPACE']);
  });

  it('allow the eviction of all pods but one, and never block a node with a single replica', () => {
    const names = (replicas: number): readonly string[] =>
      productObjects(settings({ replicas }))
        .map(wordsFor)
        .filter((name) => name.startsWith('PodDisruptionBudget'));
    expect(names(1)).to.deep.equal([]);
    expect(names(2)).to.deep.equal(['PodDisruptionBudget ls-system/espalier']);
    const budget = find(productObjects(settings({ replicas: 3 })), 'PodDisruptionBudget ls-system/espalier');
    expect(at(budget, 'spec', 'maxUnavailable')).to.equal(1);
    expect(at(budget, 'spec', 'selector', 'matchLabels')).to.deep.include({
      'app.kubernetes.io/component': 'controllers',
    });
  });

  for (const [name, port, from] of [
    ['espalier', 8080, 'monitoring'],
    ['espalier-webhooks', 9443, undefined],
  ] as const)
    it(`allow only traffic to the port of the server: ${name}`, () => {
      const objects = productObjects(settings({ webhooks: true }));
      const policy = find(objects, `NetworkPolicy ls-system/${name}`);
      const pod = find(objects, `Deployment ls-system/${name}`);
      expect(at(policy, 'spec', 'policyTypes')).to.deep.equal(['Ingress', 'Egress']);
      expect(at(policy, 'spec', 'podSelector')).to.deep.equal(at(pod, 'spec', 'selector'));
      const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': from } };
      expect(at(policy, 'spec', 'ingress')).to.deep.equal([
        { ports: [{ protocol: 'TCP', port }], ...(from && { from: [{ namespaceSelector }] }) },
      ]);
      expect(at(container(pod), 'ports', 0, 'containerPort')).to.equal(port);
    });

  it('allow only chosen namespaces to read the metrics', () => {
    const metricsFrom = ['monitoring', 'ops'];
    const objects = productObjects(settings({ metricsFrom, webhooks: true }));
    expect(at(find(objects, 'NetworkPolicy ls-system/espalier'), 'spec', 'ingress', 0, 'from')).to.deep.equal(
      metricsFrom.map((name) => ({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
      })),
    );
    expect(
      at(find(objects, 'NetworkPolicy ls-system/espalier-webhooks'), 'spec', 'ingress', 0),
    ).not.to.have.property('from');
    expect(() => settings({ metricsFrom: ['a b'] })).to.throw('"a b" is not a valid name of a namespace');
  });

  for (const name of ['espalier', 'espalier-webhooks'])
    it(`satisfy the restricted pod security standard: ${name}`, () => {
      const deployment = find(productObjects(settings({ webhooks: true })), `Deployment ls-system/${name}`);
      expect(at(deployment, 'spec', 'template', 'spec', 'securityContext')).to.deep.include({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(at(container(deployment), 'securityContext')).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(at(container(deployment), 'volumeMounts', 0)).to.deep.equal({ name: 'tmp', mountPath: '/tmp' });
    });

  it('differ only in the image if another image is given', () => {
    const objects = (image: string) =>
      JSON.stringify(productObjects(settings({ image, deployers: ['manifest'] })));
    expect(objects('a/new:2')).to.equal(objects(IMAGE).replaceAll(IMAGE, 'a/new:2'));
  });

  it('run images of items in a namespace of their own, with programs of the same image, unless the file says otherwise', () => {
    const read = (objects: readonly Obj[]) => {
      const file = join(folder, 'read.yaml');
      writeFileSync(
        file,
        String(at(find(objects, 'ConfigMap ls-system/espalier'), 'data', 'configuration.yaml')),
      );
      return readConfiguration(file).container;
    };
    expect(read(productObjects(settings()))).to.deep.include({
      namespace: 'ls-system-pods',
      init: { ...defaults.container.init, image: IMAGE },
      wait: { ...defaults.container.wait, image: IMAGE },
    });
    const given = { namespace: 'pods', initContainer: { image: 'mine' }, waitContainer: { image: null } };
    const objects = configured({ container: given });
    expect(read(objects)).to.deep.include({ namespace: 'pods' });
    expect(read(objects).init.image).to.equal('mine');
    expect(read(objects).wait.image).to.equal(IMAGE);
    expect(objects.map(wordsFor)).to.include('Role pods/espalier');
  });

  it('have no configuration, and no rights for pods, if neither is needed', () => {
    const objects = productObjects(settings({ deployers: ['manifest'] }));
    expect(objects.filter(({ kind }) => kind === 'ConfigMap')).to.deep.equal([]);
    const rules = at(find(objects, 'Role ls-system/espalier'), 'rules') as {
      resources: string[];
      verbs: string[];
    }[];
    expect(
      rules.filter(({ resources }) => resources.includes('pods')).map(({ verbs }) => verbs),
    ).to.deep.equal([['get']]);
  });

  it('accept a configuration whose sections have no value', () => {
    const map = find(configured({ container: null, helm: null }), 'ConfigMap ls-system/espalier');
    const document = parseYaml(String(at(map, 'data', 'configuration.yaml')));
    expect(at(document, 'container', 'namespace')).to.equal('ls-system-pods');
  });

  it('check the health if the configuration says so', () => {
    const lsDeployments = { deploymentsNamespace: 'there', lsHealthCheckName: 'h' };
    const objects = configured({ lsDeployments });
    expect(at(find(objects, 'Role there/espalier'), 'rules', 0, 'resources')).to.deep.equal(['deployments']);
    expect(at(find(objects, 'RoleBinding there/espalier'), 'subjects', 0, 'namespace')).to.equal('ls-system');
  });

  it('replace pods if the configuration has changed', () => {
    const mark = (document: object) =>
      at(
        find(configured(document), 'Deployment ls-system/espalier'),
        'spec',
        'template',
        'metadata',
        'annotations',
      );
    expect(mark({ helm: { chartCacheSize: 1 } })).not.to.deep.equal(mark({ helm: { chartCacheSize: 2 } }));
  });

  it('have no right to create CRDs if the configuration says that they are managed elsewhere', () => {
    const config = join(folder, 'c.yaml');
    writeFileSync(config, 'crdManagement: {deployCrd: false}\n');
    expect(settings({ config }).crds).to.equal(false);
    expect(settings().crds).to.equal(true);
  });

  it('use the given pull secret for the registry of the image', () => {
    const deployment = find(
      productObjects(settings({ pullSecret: 'login' })),
      'Deployment ls-system/espalier',
    );
    expect(at(deployment, 'spec', 'template', 'spec', 'imagePullSecrets')).to.deep.equal([{ name: 'login' }]);
  });
});

describe('the role of an installed Espalier', () => {
  const all = productObjects(settings({ webhooks: true }));
  const rules = all.flatMap(
    (object) =>
      (at(object, 'rules') ?? []) as readonly { verbs: string[]; resources: string[]; apiGroups: string[] }[],
  );

  it('names every verb, resource and group, and allows no privilege escalation', () => {
    for (const { verbs, resources, apiGroups } of rules) {
      expect([...verbs, ...resources, ...apiGroups].filter((word) => word.includes('*'))).to.deep.equal([]);
      expect(verbs.filter((verb) => ['escalate', 'bind', 'impersonate'].includes(verb))).to.deep.equal([]);
    }
  });

  it('allows tokens of other accounts only on request, and only to deployers that connect with them', () => {
    const tokens = (deployers: readonly string[], set: readonly string[] = []) => {
      const role = find(productObjects(settings({ deployers, set })), 'ClusterRole espalier');
      return (at(role, 'rules') as readonly { resources: string[] }[]).filter(({ resources }) =>
        resources.includes('serviceaccounts/token'),
      );
    };
    const requested = ['rbac.serviceAccountTokens=true'];
    expect(tokens(['mock', 'container'], requested)).to.deep.equal([]);
    expect(tokens(['mock', 'helm'], requested)).to.have.length(1);
    expect(tokens(['mock', 'helm'])).to.deep.equal([]);
  });
});

describe('the page about the installation', () => {
  it('has the role of a Deployment with deployers alone', () => {
    const [, text = ''] = /### Processes with some parts[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
    const set = ['deployments=separate', 'rbac.serviceAccountTokens=true'];
    const role = find(productObjects(settings({ set })), 'ClusterRole espalier-deployers');
    expect(at(parseYaml(text), 'rules')).to.deep.equal(at(role, 'rules'));
  });

  const page = readFileSync(join(import.meta.dirname, '../../../../docs/install.md'), 'utf8');
  const quoted = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

  it('lists each right with its purpose, and no other', () => {
    const [, rights = ''] = page.split(/^## Permissions$|^## When it does not start$/m);
    const rows = [...rights.matchAll(/^(\| `.*\|)$/gm)].map(([row]) => row);
    expect(rows).to.deep.equal(
      allRights().map(
        ({ resources, verbs, names, why }) =>
          `| ${quoted(resources)}${names ? ` (${quoted(names)})` : ''} | ${verbs.join(', ')} | ${why} |`,
      ),
    );
  });
});

describe('install', () => {
  const mistakes: readonly (readonly [args: string, code: number, line: RegExp])[] = [
    ['install', 2, /^error: no image given; set --image/],
    [
      'install --image Not*An*Image',
      2,
      /^error: "Not\*An\*Image" is not a valid image; write it like registry/,
    ],
    ['install --image a:b -n Up', 2, /^error: "Up" is not a valid name of a namespace/],
    ['install --image a:b --pull-secret _', 2, /^error: "_" is not a valid name of a pull secret/],
    ['install --image a:b --replicas 0', 2, /^error: .*'0' is invalid: write a number from 1 to 100/],
    [
      'install --image a:b --deployers helmet',
      2,
      /^error: there is no deployer "helmet"; known are helm, manifest/,
    ],
    ['install --image a:b -o json', 2, /^error: -o is only valid with --dry-run; add --dry-run/],
    ['install --image a:b --config /nowhere', 2, /^error: cannot read configuration \/nowhere: ENOENT/],
  ];
  for (const [args, code, line] of mistakes)
    it(`prints one line for: ${args}`, async () => {
      const terminal = fakeTerminal();
      expect(await runProgram(args.split(' '), terminal)).to.equal(code);
      expect(terminal.errors).to.match(line);
      expect(terminal.errors.trimEnd()).not.to.contain('\n');
      expect(terminal.output).to.equal('');
    });

  it('prints only the objects with --dry-run, without a cluster', async () => {
    const terminal = fakeTerminal();
    expect(await runProgram(['install', '-A', '--image', IMAGE, '--dry-run'], terminal)).to.equal(0);
    const documents = terminal.output.split('\n---\n').map((text) => parseYaml(text) as Obj);
    expect(documents.filter(({ kind }) => kind === 'CustomResourceDefinition')).to.have.length(12);
    expect(documents.slice(12)).to.deep.equal(JSON.parse(JSON.stringify(productObjects(settings()))));
    const json = fakeTerminal();
    await runProgram(['install', '-A', '--image', IMAGE, '--dry-run', '--no-crds', '-o', 'json'], json);
    expect((JSON.parse(json.output) as { items: unknown[] }).items).to.have.length(documents.length - 12);
  });

  it('mounts secrets of registries and authorities, and adds their files to the configuration', () => {
    const set = [
      'registries.secrets={my.login,other}',
      'caBundle.configMap=ca',
      'config.registry.caFiles={/x}',
    ];
    const objects = productObjects(settings({ set }));
    const map = objects.find(({ kind }) => kind === 'ConfigMap') as Obj & { data: Record<string, string> };
    const { registry } = parseYaml(map.data['configuration.yaml'] ?? '') as { registry: unknown };
    expect(registry).to.deep.equal({
      caFiles: ['/x', '/etc/espalier-ca/ca.crt'],
      oci: {
        configFiles: [
          '/etc/espalier-registries/my.login/.dockerconfigjson',
          '/etc/espalier-registries/other/.dockerconfigjson',
        ],
      },
    });
    const { volumes, containers } = podOf(objects);
    const mounts = containers[0]?.volumeMounts ?? [];
    const folders = volumes.map(({ name, secret, configMap }) => [
      secret?.secretName ?? configMap?.name,
      mounts.find((mount) => mount.name === name)?.mountPath,
    ]);
    expect(folders).to.deep.include.members([
      ['my.login', '/etc/espalier-registries/my.login'],
      ['other', '/etc/espalier-registries/other'],
      ['ca', '/etc/espalier-ca'],
    ]);
    for (const { name } of volumes) expect(name).to.match(/^[a-z0-9-]{1,63}$/);
  });

  it('names the value that mounts a file of the configuration', async () => {
    const set = 'config.registry.oci.configFiles={/a.json},config.registry.caFiles={/ca.pem}';
    const terminal = fakeTerminal();
    await runProgram(['install', '-A', '--image', IMAGE, '--dry-run', '--set', set], terminal);
    expect(terminal.errors).to.contain(
      '/a.json: pods do not have this path; name a Secret with the file in registries.secrets',
    );
    expect(terminal.errors).to.contain(
      '/ca.pem: pods do not have this path; name a ConfigMap or Secret with the file in caBundle',
    );
  });

  it('warns of folders that do not exist in pods', () => {
    const config = { registry: { local: { rootPath: '/here' } } };
    expect(missingFolders({ values: { config } })).to.deep.equal(['registry.local.rootPath: /here']);
    expect(missingFolders({ values: { config: { registry: null } } })).to.deep.equal([]);
    const files = { registry: { oci: { configFiles: ['/a/x.json', '/ab/y.json'] }, caFiles: ['/a/ca.pem'] } };
    const extraVolumeMounts = [{ name: 'a', mountPath: '/a' }];
    expect(missingFolders({ values: { config: files, extraVolumeMounts } })).to.deep.equal([
      'registry.oci.configFiles: /ab/y.json',
    ]);
    expect(missingFolders({ values: { config: files } })).to.have.length(3);
  });
});

describe('the changes of a write', () => {
  const object = (spec: object, metadata: object = {}): Obj & { spec: object } => ({
    apiVersion: 'v1',
    kind: 'K',
    spec,
    metadata: { name: 'n', ...metadata },
  });

  it('are shown by the innermost fields', () => {
    const before = object({ replicas: 1, list: [{ image: 'a', same: 1 }] });
    const after = object({ replicas: 2, list: [{ image: 'b', same: 1 }] });
    expect(changedFields(before, after)).to.deep.equal(['replicas', 'image']);
    expect(changedFields(object({ l: [1] }), object({ l: [1, 2] }))).to.deep.equal(['l']);
  });

  it('are empty if only the server has written', () => {
    const before = object({}, { resourceVersion: '1', generation: 1 });
    const annotations = { 'deployment.kubernetes.io/revision': '2' };
    const after = { ...object({}, { resourceVersion: '2', generation: 2, annotations }), status: { x: 1 } };
    expect(changedFields(before, after)).to.deep.equal([]);
  });

  it('are cut to one line', () => {
    expect(changedFields(object({}), object({ a: 1, b: 1, c: 1, d: 1, e: 1 }))).to.have.length(5);
  });
});

describe('the objects left in a cluster', () => {
  const context = (name: string, more: object = {}): Obj => ({
    apiVersion: 'v1',
    kind: 'Context',
    metadata: { name, namespace: 'n' },
    ...more,
  });

  it('do not include Contexts, which every namespace has', () => {
    expect(isPlainContext(context('default'))).to.equal(true);
    expect(isPlainContext(context('default', { registryPullSecrets: [] }))).to.equal(false);
    expect(isPlainContext(context('mine'))).to.equal(false);
  });

  it('are listed as far as they fit in a line', () => {
    const many = Array.from({ length: 7 }, (_, i) => context(`c${String(i)}`));
    expect(named(many)).to.match(/^Context n\/c0, .*Context n\/c4 and 2 more$/);
  });
});

interface Pod {
  readonly volumes: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string };
    readonly configMap?: { readonly name: string };
  }[];
  readonly containers: readonly {
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
}

/** The pod of the first Deployment. */
function podOf(objects: readonly Obj[]): Pod {
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: Pod } };
  };
  return deployment.spec.template.spec;
}
