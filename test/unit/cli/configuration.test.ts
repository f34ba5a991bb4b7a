import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { expect } from 'chai';
import {
  defaults,
  readConfiguration,
  type Configuration,
} from '../../../src/cli/configuration/configuration.ts';
import { UsageError } from '../../../src/cli/errors.ts';

describe('the configuration file', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-configuration-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** The warnings in the log, without the name of the file. */
  let warned: string[] = [];
  let told: string[] = [];
  beforeEach(() => {
    warned = [];
    told = [];
  });
  const read = (text: string): Configuration => {
    const file = join(folder, 'config.yaml');
    writeFileSync(file, text);
    const into = (list: string[]) => (fields: object) =>
      void list.push((fields as { readonly problem: string }).problem);
    return readConfiguration(file, { warn: into(warned), info: into(told) });
  };

  it('uses the defaults if it is empty; then no deployment is checked', () => {
    expect(read('')).to.deep.equal(defaults);
    expect(read('')).not.to.have.property('health');
  });

  it('switches off the conditions for other tools', () => {
    expect(read('').hasReadyConditions).to.equal(true);
    expect(read('readyConditions: false').hasReadyConditions).to.equal(false);
  });

  it('sets how many levels of installations a tree may have, up to the limit of the controllers', () => {
    expect(read('limits: {treeDepth: 3}').limits).to.deep.equal({ ...defaults.limits, treeDepth: 3 });
    expect(read('limits:').limits).to.include({ treeDepth: 30, treeRecursion: 5 });
    expect(read('limits: {treeRecursion: 0}').limits).to.include({ treeRecursion: 0 });
    for (const wrong of ['-1', '61'])
      expect(() => read(`limits: {treeRecursion: ${wrong}}`), wrong).to.throw(
        UsageError,
        /limits\.treeRecursion: /,
      );
    expect(read('limits: {remoteRetryTimeout: 90s}').limits).to.include({ remoteRetryMs: 90_000 });
    expect(read('limits: {remoteRetryTimeout: none}').limits).to.include({ remoteRetryMs: Infinity });
    expect(() => read('limits: {remoteRetryTimeout: soon}')).to.throw(
      UsageError,
      /limits\.remoteRetryTimeout: /,
    );
    for (const wrong of ['0', '61', '1.5', 'many']) {
      expect(() => read(`limits: {treeDepth: ${wrong}}`), wrong).to.throw(UsageError, /limits\.treeDepth: /);
    }
    expect(warned).to.deep.equal([]);
  });

  it('limits the size of responses of servers, in integers', () => {
    const responses = {
      targetResponseMiB: 20,
      targetResponseDepth: 100,
      hostResponseMiB: 128,
      downloadMiB: 32,
    };
    expect(read(JSON.stringify({ limits: responses })).limits).to.deep.equal({
      ...defaults.limits,
      responses,
    });
    expect(read('limits: {targetResponseMiB: 20, downloadMiB: }').limits.responses).to.deep.equal({
      targetResponseMiB: 20,
    });
    for (const key of Object.keys(responses)) {
      for (const wrong of ['0', '1.5', '100000', 'many']) {
        expect(() => read(`limits: {${key}: ${wrong}}`), wrong).to.throw(UsageError, `limits.${key}: `);
      }
    }
  });

  it('limits the number of objects of a tree', () => {
    expect(read('limits: {treeObjects: 500}').limits).to.deep.equal({ ...defaults.limits, treeObjects: 500 });
    expect(read('limits:').limits).to.include({ treeObjects: 10_000 });
    for (const wrong of ['0', '1.5', 'many']) {
      expect(() => read(`limits: {treeObjects: ${wrong}}`), wrong).to.throw(
        UsageError,
        /limits\.treeObjects: /,
      );
    }
  });

  it('limits one installation, within the memory of the process', () => {
    const limits = { deployItems: 20_000, deployItemsMiB: 24, subinstallations: 5 };
    expect(read(`limits: ${JSON.stringify(limits)}`).limits).to.deep.equal({ ...defaults.limits, ...limits });
    for (const wrong of [
      'deployItems: 0',
      'deployItems: 100001',
      'deployItemsMiB: 25',
      'subinstallations: 1.5',
    ]) {
      expect(() => read(`limits: {${wrong}}`), wrong).to.throw(
        UsageError,
        `limits.${wrong.split(':')[0] ?? ''}: `,
      );
    }
  });

  it('lists the deployments whose health is checked, without duplicates', () => {
    const { health } = read(`
      kind: LandscaperConfiguration
      lsDeployments:
        lsController: controller
        lsMainController: main
        webHook: webhook
        deploymentsNamespace: ls-system
        lsHealthCheckName: landscaper
        additionalDeployments: {deployments: [deployer, main]}
    `);
    expect(health).to.deep.equal({
      namespace: 'ls-system',
      name: 'landscaper',
      deployments: ['controller', 'main', 'webhook', 'deployer'],
    });
  });

  it('reports which field of the health check is missing', () => {
    expect(() => read('lsDeployments: {lsController: controller, lsHealthCheckName: x}')).to.throw(
      /lsDeployments.deploymentsNamespace/,
    );
  });

  it('lets init containers use the registries that controllers may use', () => {
    const argsOf = (text: string): unknown => read(text).container.init.args;
    const allowed = 'registry: {oci: {allowPlainHttp: true}}';
    expect(argsOf(allowed)).to.deep.equal(['--allow-plain-http']);
    expect(argsOf(`{${allowed}, container: {initContainer: {image: init:1}}}`)).to.deep.equal([
      '--allow-plain-http',
    ]);
    expect(argsOf('registry: {oci: {allowPlainHttp: false}}')).to.equal(undefined);
    expect(argsOf(`{${allowed}, container: {initContainer: {command: [/init]}}}`)).to.equal(undefined);
    expect(argsOf(`{${allowed}, container: {initContainer: {args: [-v]}}}`)).to.deep.equal(['-v']);
  });

  it('sets where containers run, and their images', () => {
    const { container } = read(`
      container:
        namespace: pods
        defaultImage: {image: tools:1}
        pullSecretNamespaces: [shared]
        imagePullPolicy: Always
        resources: {requests: {cpu: 1, memory: 1Gi}}
        securityContext: {runAsUser: 0, runAsGroup: null, capabilities: {}}
        initContainer: {image: init:1, imagePullPolicy: Never, resources: {limits: {}}}
        waitContainer: {image: wait:1, command: [/wait], args: [-v], imagePullPolicy: ""}
        garbageCollection: {disable: true, worker: 5, requeueTimeSeconds: 60}
        debug: {keepPod: true}
    `);
    expect(container).to.deep.equal({
      namespace: 'pods',
      defaultImage: 'tools:1',
      pullSecretNamespaces: ['shared'],
      main: {
        pullPolicy: 'Always',
        resources: { ...defaults.container.main.resources, requests: { cpu: '1', memory: '1Gi' } },
        securityContext: { runAsUser: 0, capabilities: {} },
      },
      init: {
        image: 'init:1',
        command: ['espalier', 'container', 'init'],
        pullPolicy: 'Never',
        resources: { ...defaults.container.init.resources, limits: {} },
      },
      wait: { ...defaults.container.wait, image: 'wait:1', command: ['/wait'], args: ['-v'] },
      garbageCollection: { isDisabled: true, everyMs: 60_000 },
      keepsEndedPods: true,
    });
    expect(warned).to.deep.equal([]);
    expect(told.map((line) => line.split(' ')[0]).sort()).to.deep.equal([
      'container.garbageCollection.worker',
    ]);
  });

  for (const [key, value] of [
    ['resources', '{limits: {memory: much}}'],
    ['initContainer', '{resources: {requests: {cpu: [1]}}}'],
    ['waitContainer', '{imagePullPolicy: Sometimes}'],
    ['securityContext', '{runAsUser: root}'],
  ] as const) {
    it(`rejects pods that no API server accepts, with the key: ${key}`, () => {
      expect(() => read(`container: {${key}: ${value}}`)).to.throw(`container.${key}`);
    });
  }

  it('accepts the key of the excluded namespaces in both spellings that are in use', () => {
    const texts = [
      'controllers: {contexts: {config: {default: {excludedNamespaces: [a]}}}}',
      'controllers: {contexts: {config: {default: {excludeNamespaces: [a]}}}}',
      'controllers: {context: {config: {default: {excludeNamespaces: [a]}}}}',
    ];
    for (const text of texts) expect(read(text).contexts).to.deep.equal({ excludedNamespaces: ['a'] });
  });

  it('accepts the workers of contexts in both spellings, too', () => {
    expect(read('controllers: {context: {workers: 7}}').workers.context).to.equal(7);
    expect(read('controllers: {contexts: {workers: 8}, context: {workers: 7}}').workers.context).to.equal(8);
  });

  it('reads the repository for contexts from its old place, too; the new one takes precedence', () => {
    const old = 'repositoryContext: {baseUrl: old}';
    expect(read(old).contexts).to.deep.equal({ repositoryContext: { baseUrl: 'old' } });
    const both = `${old}\ncontrollers: {contexts: {config: {default: {repositoryContext: {baseUrl: new}}}}}`;
    expect(read(both).contexts).to.deep.equal({ repositoryContext: { baseUrl: 'new' } });
  });

  it('can disable default contexts, and the installation of CRDs', () => {
    expect(read('controllers: {contexts: {config: {default: {disable: true}}}}').contexts).to.deep.equal({
      isDisabled: true,
    });
    expect(read('crdManagement: {deployCrd: false}').installsCrds).to.equal(false);
  });

  it('sets the folder of file repositories, relative to itself, and what registries may do', () => {
    const { registry } = read(
      'registry: {local: {rootPath: stock}, oci: {allowPlainHttp: true}, cacheSize: 5}',
    );
    expect(registry).to.include({ allowPlainHttp: true, cacheBytes: 5 });
    expect(isAbsolute(registry.localRoot ?? '')).to.equal(true);
    expect(basename(registry.localRoot ?? '')).to.equal('stock');
    expect(read('registry: {local: {rootPath: /stock}}').registry).to.deep.equal({ localRoot: '/stock' });
  });

  it('lists files with credentials and authorities, relative to itself, each with its key', () => {
    const { registry } = read(
      'registry: {oci: {configFiles: [a.json, /mounted/b.json]}, caFiles: [/ca.pem]}',
    );
    const [first, second] = registry.configFiles ?? [];
    expect(first).to.include({ key: 'registry.oci.configFiles[0]' });
    expect([isAbsolute(first?.path ?? ''), basename(first?.path ?? '')]).to.deep.equal([true, 'a.json']);
    expect(second).to.deep.equal({ path: '/mounted/b.json', key: 'registry.oci.configFiles[1]' });
    expect(registry.caFiles).to.deep.equal([{ path: '/ca.pem', key: 'registry.caFiles[0]' }]);
  });

  it('never times out with a pickup timeout of none or zero', () => {
    for (const text of ['none', '0s', '0']) {
      expect(read(`deployItemTimeouts: {pickup: "${text}"}`).pickupTimeoutMs, text).to.equal(0);
    }
  });

  it("accepts every key of upstream's configuration, also without a value, and warns of none", () => {
    const configuration = read(EVERYTHING);
    expect(warned).to.deep.equal([]);
    expect(configuration.pickupTimeoutMs).to.equal(3_600_000);
    expect(told.map((line) => line.split(' ')[0])).to.deep.equal(WITHOUT_USE);
    expect(read('controllers:\nregistry:\nlsDeployments:\ndeployItemTimeouts:')).to.deep.equal(defaults);
  });

  const unknown: readonly [string, string][] = [
    ['controllers: {instalations: {workers: 3}}', 'controllers.instalations … did you mean installations?'],
    [
      'controllers: {contexts: {config: {default: {excludesNamespaces: [a]}}}}',
      'controllers.contexts.config.default.excludesNamespaces … did you mean excludedNamespaces?',
    ],
    ['controllers: {deployitems: {workers: 3}}', 'controllers.deployitems … did you mean deployItems?'],
    ['deployItemTimeouts: {pickUp: 5m}', 'deployItemTimeouts.pickUp … did you mean pickup?'],
    ['lsdeployments: {}', 'lsdeployments … did you mean lsDeployments?'],
    ['colour: blue', 'colour …'],
    ['constructor: {}', 'constructor …'],
  ];
  for (const [text, warning] of unknown) {
    it(`warns of an unknown key: ${text}`, () => {
      expect(read(text)).to.deep.equal(defaults);
      const words = warning
        .replace(' …', ' is unknown and has no effect')
        .replace('effect did', 'effect; did');
      expect(warned).to.deep.equal([words]);
    });
  }

  const wrong: readonly [string, RegExp][] = [
    ['controllers: {installations: {workers: many}}', /: controllers\.installations\.workers: /],
    ['controllers: {installations: {workers: 0}}', /: controllers\.installations\.workers: /],
    ['controllers: [installations]', /: controllers: /],
    [
      'controllers: {contexts: {config: {default: {excludedNamespaces: [1]}}}}',
      /: controllers\.contexts\.config\.default\.excludedNamespaces\.0: /,
    ],
    ['deployItemTimeouts: {pickup: soon}', /: deployItemTimeouts\.pickup: "soon" is not a duration/],
    ['deployItemTimeouts: {pickup: -5m}', /: deployItemTimeouts\.pickup: /],
    ['kind: Deployment', /: kind: /],
    ['[a, list]', /config\.yaml: .*object/],
    ['a: b: c', /cannot read configuration/],
  ];
  for (const [text, message] of wrong) {
    it(`is rejected in one line that names the place: ${text}`, () => {
      expect(() => read(text))
        .to.throw(UsageError, message)
        .with.property('message')
        .that.does.not.contain('\n');
    });
  }
});

const EVERYTHING = `
  apiVersion: config.landscaper.gardener.cloud/v1alpha1
  kind: LandscaperConfiguration
  controllers:
    syncPeriod: 24000h
    installations: {workers: 30, cacheSyncTimeout: 2m}
    executions: {workers: 30, cacheSyncTimeout: 2m}
    deployItems: {workers: 5, cacheSyncTimeout: 2m}
    contexts:
      workers: 5
      cacheSyncTimeout: 2m
      config: {default: {disable: false, excludedNamespaces: [a], repositoryContext: {type: ociRegistry}}}
  repositoryContext: {type: ociRegistry}
  registry:
    local: {rootPath: ./components}
    oci: {configFiles: [], cache: {useInMemoryOverlay: true, path: /tmp}, allowPlainHttp: true, insecureSkipVerify: false}
  blueprintStore: {path: /tmp, indexMethod: BlueprintDigestIndex, size: 250Mi}
  metrics: {port: 8080}
  crdManagement: {deployCrd: true, forceUpdate: true}
  deployItemTimeouts: {pickup: 60m, abort: 5m}
  lsDeployments:
    lsController: a
    lsMainController: b
    webHook: c
    deploymentsNamespace: d
    lsHealthCheckName: e
    additionalDeployments: {deployments: [f]}
  hpaMain: {maxReplicas: 3}
  signatureVerificationEnforcementPolicy: DoNotEnforce
`;

const WITHOUT_USE = [
  'controllers.syncPeriod',
  'controllers.installations.cacheSyncTimeout',
  'controllers.executions.cacheSyncTimeout',
  'controllers.deployItems.cacheSyncTimeout',
  'controllers.contexts.cacheSyncTimeout',
  'registry.oci.cache',
  'registry.oci.insecureSkipVerify',
  'blueprintStore',
  'metrics',
  'crdManagement.forceUpdate',
  'deployItemTimeouts.abort',
  'hpaMain',
];
