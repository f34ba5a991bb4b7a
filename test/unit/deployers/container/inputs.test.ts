/** What the init container writes for the image: state, blueprint and component descriptors. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readEnvironment } from '../../../../deployers/container/programs/environment.ts';
import { packFolder } from '../../../../deployers/container/programs/folder.ts';
import { runInit } from '../../../../deployers/container/programs/init.ts';
import { restoreState } from '../../../../deployers/container/programs/state.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../../src/observability/log.ts';
import { descriptor } from '../../../support/components.ts';
import { FakeClock } from '../../../support/clock.ts';
import { FakeCluster } from '../fake-cluster.ts';

describe('the init container', () => {
  let folder: string;
  let cluster: FakeCluster;
  const at = (path: string): string => join(folder, path);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-inputs-'));
    cluster = new FakeCluster('pods');
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const init = (fields: object, variables: Record<string, string> = {}): Promise<unknown> => {
    const kind = 'ProviderConfiguration';
    const apiVersion = 'container.deployer.landscaper.gardener.cloud/v1alpha1';
    writeFileSync(at('configuration.json'), JSON.stringify({ apiVersion, kind, ...fields }));
    const environment = readEnvironment({
      POD_NAME: 'p',
      POD_NAMESPACE: 'pods',
      DEPLOY_ITEM_NAME: 'web',
      DEPLOY_ITEM_NAMESPACE: 'proj',
      CONFIGURATION_PATH: at('configuration.json'),
      IMPORTS_PATH: at('imports/import.json'),
      EXPORTS_PATH: at('exports/values'),
      STATE_PATH: at('state'),
      CONTENT_PATH: at('content'),
      COMPONENT_DESCRIPTOR_PATH: at('components/descriptor.json'),
      TARGET_PATH: at('targets/target.json'),
      TARGET_SOURCE_PATH: at('no-target.json'),
      REGISTRY_SECRETS_DIR: at('registry'),
      OCM_CONFIGURATION_PATH: at('ocm/.ocmconfig'),
      STATE_SECRETS: '',
      ...variables,
    });
    const repositories = createComponentRepositories({ clock: new FakeClock(), rng: seededRng(1) });
    return runInit(environment, { client: () => Promise.resolve(cluster), repositories, log }).then(
      () => 'done',
      (error: unknown) => (error as Error).message,
    );
  };
  const piece = (name: string, bytes: Uint8Array | undefined): void => {
    cluster.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'pods' },
      ...(bytes && { data: { config: Buffer.from(bytes).toString('base64') } }),
    });
  };

  it('restores the state from the secrets that the deployer names, in their order', async () => {
    mkdirSync(at('before'));
    writeFileSync(at('before/x'), 'kept');
    const archive = (await packFolder(at('before'))) ?? new Uint8Array();
    piece('s-b', archive.subarray(0, 20));
    piece('s-a', archive.subarray(20));
    expect(await init({}, { STATE_SECRETS: 's-b,s-a' })).to.equal('done');
    expect(readFileSync(at('state/x'), 'utf8')).to.equal('kept');
  });

  it('ends if one of them has no part of the state: half a state is worse than none', async () => {
    piece('s-a', undefined);
    expect(await init({}, { STATE_SECRETS: 's-a' })).to.equal(
      'secret pods/s-a contains no part of the state: it has no key config',
    );
  });

  it('creates empty folders for state and blueprint', async () => {
    expect(await init({})).to.equal('done');
    expect([existsSync(at('state')), existsSync(at('content'))]).to.deep.equal([true, true]);
    expect(
      await restoreState(
        { client: cluster, namespace: 'pods', item: { namespace: 'proj', name: 'web' } },
        at('state'),
        [],
      ),
    ).to.equal(0);
  });

  it('writes the descriptors of an inline component, and needs no component otherwise', async () => {
    expect(await init({})).to.equal('done');
    expect(existsSync(at('components/descriptor.json'))).to.equal(false);
    expect(
      await init({ componentDescriptor: { inline: descriptor('example.org/a', '1.0.0', []) } }),
    ).to.equal('done');
    const { components } = JSON.parse(readFileSync(at('components/descriptor.json'), 'utf8')) as {
      components: { component: { name: string } }[];
    };
    expect(components.map(({ component }) => component.name)).to.deep.equal(['example.org/a']);
  });

  it('names the missing component of a blueprint that is a resource', async () => {
    expect(await init({ blueprint: { ref: { resourceName: 'plan' } } })).to.contain(
      'blueprint.ref names the resource plan of a component, but the configuration has no componentDescriptor',
    );
  });

  it('reads the credentials that are mounted, and says which file it cannot read', async () => {
    const file = at('registry/cd-pull-secret/.dockerconfigjson');
    mkdirSync(dirname(file), { recursive: true });
    mkdirSync(at('registry/empty'));
    writeFileSync(file, '{');
    const component = { componentDescriptor: { inline: descriptor('example.org/a', '1.0.0', []) } };
    expect(await init(component)).to.contain(file);
    writeFileSync(file, '{"auths":{}}');
    expect(await init(component)).to.equal('done');
    mkdirSync(at('ocm'));
    writeFileSync(at('ocm/.ocmconfig'), 'a: [');
    expect(await init(component)).to.contain(at('ocm/.ocmconfig'));
  });

  for (const name of ['..', '.', 'a/b'])
    it(`refuses a blueprint with a file called ${name}`, async () => {
      const failure = await init({ blueprint: { inline: { filesystem: { [name]: 'x' } } } });
      expect(failure).to.contain(`a file called "${name}", which is not a valid file name`);
    });
});
