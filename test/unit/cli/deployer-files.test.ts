/** The configuration files of upstream's deployers: what of them is used, and what is said about the rest. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readServeOptions } from '../../../deployers/sdk/serve-options.ts';
import { defaults, readConfiguration } from '../../../src/cli/configuration/configuration.ts';
import { withDeployerFiles } from '../../../src/cli/configuration/deployer-files.ts';
import { UsageError } from '../../../src/cli/errors.ts';

const SELECTOR = '[{targets: [{name: a, namespace: b}]}]';
const header = (name: string): string =>
  `apiVersion: ${name}.deployer.landscaper.gardener.cloud/v1alpha1\nkind: Configuration\n`;

describe('the configuration file of a deployer of upstream', () => {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-deployer-files-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  let warned: string[];
  beforeEach(() => {
    warned = [];
  });
  const at = (name: string): string => join(folder, name);
  const file = (name: string, text: string): string => {
    writeFileSync(at(name), text);
    return at(name);
  };
  const warn = (fields: object): void => void warned.push((fields as { problem: string }).problem);
  const read = (...texts: string[]) =>
    withDeployerFiles(
      defaults,
      texts.map((text, i) => file(`${String(i)}.yaml`, text)),
      { warn },
    );

  it('of the helm deployer is used, and each other key is answered', () => {
    const { deployers, registry } = read(`${header('helm')}
identity: helm-1
namespace: ls-system
targetSelector: ${SELECTOR}
controller: {workers: 4, cacheSyncTimeout: 2m}
hpa: {maxReplicas: 3}
export: {defaultTimeout: 5m}
oci: {allowPlainHttp: true, insecureSkipVerify: false, configFiles: [a.json], cache: {path: /tmp}}
colour: blue`);
    expect(deployers).to.deep.equal({
      helm: {
        identity: 'helm-1',
        settings: { workers: 4, targetSelector: [{ targets: [{ name: 'a', namespace: 'b' }] }] },
      },
    });
    expect(registry).to.deep.equal({
      allowPlainHttp: true,
      configFiles: [{ path: at('a.json'), key: 'oci.configFiles[0]' }],
    });
    expect(warned.map((line) => line.split(/[ :]/)[0])).to.have.members([
      'namespace',
      'controller.cacheSyncTimeout',
      'hpa',
      'export',
      'oci.insecureSkipVerify',
      'oci.cache',
      'colour',
    ]);
    expect(warned.find((line) => line.startsWith('hpa'))).to.contain('--lease');
    expect(warned).to.include('colour is unknown and has no effect');
  });

  it('of the container deployer replaces single settings, except for the programs of upstream', () => {
    const { container } = read(`${header('container')}
namespace: pods
defaultImage: {image: "example.org/tool:1"}
initContainer: {image: "example.org/container-deployer-init:1"}
waitContainer: {image: "example.org/espalier:1", command: [espalier, container, wait]}
garbageCollection: {worker: 5, requeueTimeSeconds: 60}
debug: {keepPod: true}`);
    expect(container).to.deep.equal({
      ...defaults.container,
      namespace: 'pods',
      defaultImage: 'example.org/tool:1',
      wait: {
        ...defaults.container.wait,
        image: 'example.org/espalier:1',
        command: ['espalier', 'container', 'wait'],
      },
      garbageCollection: { isDisabled: false, everyMs: 60_000 },
      keepsEndedPods: true,
    });
    expect(warned).to.have.length(2);
    expect(warned.join()).to.contain('garbageCollection.worker').and.contain('container.initContainer');
  });

  /** Every key of the Go types of upstream's configurations, with a note or without. */
  const COMMON = 'identity: me\ntargetSelector: []\n';
  const FRAMEWORK = 'hpa: {maxReplicas: 2}\ncontroller: {workers: 2, cacheSyncTimeout: 2m}\n';
  const OCI =
    'oci: {allowPlainHttp: true, insecureSkipVerify: true, configFiles: [/a], cache: {useInMemoryOverlay: true, path: /b}}\n';
  const PROGRAM = '{image: a, command: [b], args: [c], imagePullPolicy: Always}';
  const complete: readonly (readonly [string, string, readonly string[]])[] = [
    ['mock', `${header('mock')}${COMMON}`, []],
    [
      'manifest',
      `${header('manifest').replace('v1alpha1', 'v1alpha2')}${COMMON}export: {defaultTimeout: 5m}\n${FRAMEWORK}`,
      ['export', 'hpa', 'controller.cacheSyncTimeout'],
    ],
    [
      'helm',
      `${header('helm')}${COMMON}export: {defaultTimeout: 5m}\n${FRAMEWORK}${OCI}`,
      ['export', 'hpa', 'controller.cacheSyncTimeout', 'oci.insecureSkipVerify', 'oci.cache'],
    ],
    [
      'container',
      `${header('container')}${COMMON}${FRAMEWORK}${OCI}namespace: pods
defaultImage: ${PROGRAM}
initContainer: ${PROGRAM}
waitContainer: ${PROGRAM}
garbageCollection: {disable: true, worker: 3, requeueTimeSeconds: 5}
debug: {keepPod: true}`,
      [
        'hpa',
        'controller.cacheSyncTimeout',
        'oci.insecureSkipVerify',
        'oci.cache',
        'defaultImage.command',
        'defaultImage.args',
        'defaultImage.imagePullPolicy',
        'garbageCollection.worker',
      ],
    ],
  ];
  for (const [name, text, notes] of complete)
    it(`may have every key of upstream: ${name}`, () => {
      expect(read(text).deployers).to.have.nested.property(`${name}.identity`, 'me');
      expect(warned.map((line) => line.split(' ')[0])).to.have.members(notes);
      expect(warned.join()).not.to.contain('unknown');
    });

  it('may have empty strings and zeros, which count as missing', () => {
    const { container, deployers } = read(`${header('container')}identity: ""
namespace: ""
defaultImage: {image: ""}
initContainer: {image: "", command: [run]}
garbageCollection: {worker: 0, requeueTimeSeconds: 0}
controller: {workers: 0}`);
    expect(container).to.deep.equal({
      ...defaults.container,
      init: { ...defaults.container.init, command: ['run'] },
    });
    expect(deployers?.container).to.deep.equal({ identity: undefined, settings: {} });
  });

  it('is answered for each unknown key of a section', () => {
    read(`${header('container')}debug: {keepPods: true}\ndefaultImage: {name: a}\nwaitContainer: {tag: a}`);
    expect(warned.filter((line) => line.includes('unknown')).map((line) => line.split(' ')[0])).to.deep.equal(
      ['debug.keepPods', 'defaultImage.name', 'waitContainer.tag'],
    );
  });

  it('of the manifest and the mock deployer may be combined with others', () => {
    const { deployers } = read(
      `${header('manifest')}identity: m\nexport: {}`,
      `${header('mock')}targetSelector: ${SELECTOR}\noci: {}`,
    );
    expect(deployers?.manifest).to.deep.equal({ identity: 'm', settings: {} });
    expect(deployers?.mock?.settings.targetSelector).to.have.length(1);
    expect(warned.map((line) => line.split(' ')[0])).to.deep.equal(['export', 'oci']);
  });

  it('adds to the files of the general configuration', () => {
    const general = { ...defaults, registry: { configFiles: [{ path: '/a', key: 'k' }], cacheBytes: 1 } };
    const path = file('more.yaml', `${header('helm')}oci: {configFiles: [/b]}`);
    expect(withDeployerFiles(general, [path], { warn }).registry).to.deep.equal({
      cacheBytes: 1,
      configFiles: [
        { path: '/a', key: 'k' },
        { path: '/b', key: 'oci.configFiles[0]' },
      ],
    });
  });

  const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['names no deployer', ['kind: Configuration'], /apiVersion: must be that of a deployer, such as helm\./],
    ['is of another kind', [header('helm').replace('Configuration', 'Other')], /0\.yaml: kind: /],
    ['has an invalid value', [`${header('container')}namespace: 7`], /0\.yaml: namespace: /],
    ['has invalid files', [`${header('helm')}oci: {configFiles: 7}`], /0\.yaml: oci\.configFiles: /],
    [
      'has an invalid selector',
      [`${header('mock')}targetSelector: [{labels: [{key: a, operator: near}]}]`],
      /near/,
    ],
    ['is not YAML', ['a: b: c'], /cannot read configuration/],
    ['is the second of a deployer', [header('mock'), header('mock')], /that of the mock deployer, too/],
  ];
  for (const [what, texts, message] of wrong) {
    it(`is rejected in one line if it ${what}`, () => {
      expect(() => read(...texts))
        .to.throw(UsageError, message)
        .with.property('message')
        .that.does.not.contain('\n');
    });
  }

  it('is not mistaken for a LandscaperConfiguration', () => {
    const path = file('helm.yaml', header('helm'));
    expect(() => readConfiguration(path)).to.throw(UsageError, 'pass the file with --deployer-config');
  });

  it('is answered by a deployer that is its own program, too', () => {
    const path = file('own.yaml', 'kind: Configuration\nhpa: {}\noci: {}\nidentity: me');
    const notes: string[] = [];
    readServeOptions(
      ['--config', path],
      () => ({ text: '' }),
      (note) => notes.push(note),
    );
    expect(notes.map((line) => line.split(' ')[0])).to.deep.equal(['hpa', 'oci']);
  });
});
