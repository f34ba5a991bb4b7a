/** Components in registries and transport archives, from packing to an installation that succeeds. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { rootBlueprint } from '../../support/components.ts';
import { blueprint, dataObject, root } from '../../support/landscape.ts';
import { startRealRegistry, whyNoRegistry } from '../../support/real-registry.ts';
import { TestRegistry } from '../../support/registry.ts';
import type { Scene } from '../../support/scene.ts';
import { skip } from '../../support/skip.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

const SEES =
  '{ image: {{ (getResource (getComponent .cd "name" "leaf") "name" "img").access.imageReference }}, text: {{ getResourceContent "cd://resources/text" | quote }} }';
const LOGIN = { username: 'robot', password: 'p4ss-W0rd' };
const folder = mkdtempSync(join(tmpdir(), 'espalier-components-'));

function write(path: string, content: unknown): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

async function espalier(...args: string[]): Promise<{ readonly code: number; readonly output: string }> {
  const terminal = fakeTerminal({ env: { DOCKER_CONFIG: folder } });
  const code = await runProgram(args, terminal);
  return { code, output: terminal.output + terminal.errors };
}

/** A root and a leaf, as a user would write them. */
function writeFolders(): void {
  write('leaf/component.yaml', {
    name: 'example.org/leaf',
    version: '0.1.0+build.1',
    resources: [
      { name: 'img', type: 'ociImage', image: 'example.org/img/leaf:0.9' },
      { name: 'schema', type: 'jsonschema', path: 'schema.json' },
      { name: 'sub-bp', type: 'blueprint', path: 'blueprint' },
    ],
  });
  write('leaf/schema.json', { type: 'string', minLength: 3 });
  write('leaf/blueprint/blueprint.yaml', blueprint({}));
  write('root/component.yaml', {
    name: 'example.org/root',
    version: '1.0.0',
    provider: 'example',
    resources: [{ name: 'text', type: 'plainText', path: 'text.txt', mediaType: 'text/plain' }],
    references: [{ name: 'leaf', componentName: 'example.org/leaf', version: '0.1.0+build.1' }],
  });
  write('root/text.txt', 'hello\n');
  write('root/blueprint/blueprint.yaml', rootBlueprint(SEES));
}

const installation = (repositoryContext: object | undefined) =>
  root('shop', {
    spec: {
      imports: { data: [{ name: 'text', dataRef: 'given' }] },
      exports: { data: [{ name: 'seen', dataRef: 'seen' }] },
      componentDescriptor: {
        ref: {
          ...(repositoryContext && { repositoryContext }),
          componentName: 'example.org/root',
          version: '1.0.0',
        },
      },
      blueprint: { ref: { resourceName: 'blueprint' } },
    },
  });

describe('packed components', () => {
  const here = useCluster({ config: { registry: { localRoot: folder, allowPlainHttp: true } } });
  let registry: TestRegistry | undefined;

  before(async () => {
    writeFolders();
    for (const name of ['leaf', 'root']) {
      expect(
        await espalier('components', 'pack', join(folder, name), '--to', join(folder, 'all.ctf')),
      ).to.include({ code: 0 });
      const args = ['--to', join(folder, 'unpacked'), '--format', 'directory'];
      expect(await espalier('components', 'pack', join(folder, name), ...args)).to.include({ code: 0 });
      expect(
        await espalier('components', 'pack', join(folder, name), '--to', join(folder, 'all.tgz')),
      ).to.include({ code: 0 });
    }
  });
  afterEach(async () => {
    await registry?.stop();
    registry = undefined;
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const create = (scene: Scene, kind: Kind, object: object): Promise<Obj> => {
    const { metadata } = object as Obj;
    const placed = { ...object, metadata: { ...metadata, namespace: scene.ns } } as Obj;
    return here.cluster.client.send({ verb: 'create', kind, object: placed });
  };
  const install = async (
    repositoryContext: object | undefined,
    spec: object = {},
    prepare?: (scene: Scene) => Promise<unknown>,
  ) => {
    const scene = await here.scene();
    await prepare?.(scene);
    await scene.create(dataObject('given', 'long enough'));
    const object = installation(repositoryContext);
    await scene.create({ ...object, spec: { ...object.spec, ...spec } });
    return scene;
  };
  const expectSuccess = async (scene: Scene): Promise<void> => {
    await scene.finished('shop', 'Succeeded');
    expect(scene.dataObject('seen')?.data).to.deep.equal({
      image: 'example.org/img/leaf:0.9',
      text: 'hello\n',
    });
    expect(scene.child('shop', 'sub')?.status?.phase).to.equal('Succeeded');
  };
  const registryContext = (address: string, more: object = {}) => ({
    type: 'OCIRegistry',
    baseUrl: address,
    componentNameMapping: 'urlPath',
    ...more,
  });
  const pushed = async (options: Parameters<typeof TestRegistry.start>[0] = {}): Promise<TestRegistry> => {
    const started = (registry = await TestRegistry.start(options));
    const config = join(folder, 'docker.json');
    writeFileSync(config, dockerConfig(started.address));
    const result = await espalier(
      'components',
      'push',
      join(folder, 'all.ctf'),
      `${started.address}/stock`,
      '--plain-http',
      '--docker-config',
      config,
    );
    expect(result).to.include({ code: 0 });
    started.seen.length = 0;
    return started;
  };
  const dockerConfig = (address: string, { username, password } = LOGIN): string =>
    JSON.stringify({
      auths: { [address]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } },
    });
  const withSecret = (scene: Scene, address: string, login = LOGIN) =>
    create(scene, secretKind, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pull' },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from(dockerConfig(address, login)).toString('base64') },
    }).then(() =>
      create(scene, contextKind, {
        apiVersion: API_VERSION,
        kind: 'Context',
        metadata: { name: 'private' },
        registryPullSecrets: [{ name: 'pull' }],
        repositoryContext: registryContext(`${address}/stock`),
      }),
    );

  for (const [what, filePath] of [
    ['file', 'all.ctf'],
    ['compressed file', 'all.tgz'],
    ['folder', 'unpacked'],
  ] as const) {
    it(`DF-162: are installed by reference from a transport archive that is a ${what}`, async () => {
      await expectSuccess(await install({ type: 'CommonTransportFormat/v1', filePath }));
    });
  }

  it('cannot be read from outside the folder that the configuration allows', async () => {
    const scene = await install({ type: 'CommonTransportFormat/v1', filePath: '../../../../../../etc' });
    const { status } = await scene.finished('shop', 'Failed');
    expect(status?.lastError?.message).to.contain('does not exist');
  });

  it('are installed by reference from a registry', async () => {
    const { address } = await pushed();
    await expectSuccess(await install(registryContext(address, { subPath: 'stock' })));
    const asked = registry
      ?.requests(/manifests/)
      .map(({ path }) => path.replace(/.*component-descriptors/, ''));
    expect(asked).to.deep.equal([
      '/example.org/root/manifests/1.0.0',
      '/example.org/leaf/manifests/0.1.0.build-build.1',
      // The sub-installation, on its own.
      '/example.org/leaf/manifests/0.1.0.build-build.1',
    ]);
  });

  for (const auth of ['basic', 'bearer'] as const) {
    it(`are installed from a registry that requires ${auth} credentials, which the context names`, async () => {
      const { address } = await pushed({ login: LOGIN, auth, redirectsBlobs: true });
      const scene = await install(undefined, { context: 'private' }, (s) => withSecret(s, address));
      await expectSuccess(scene);
      const elsewhere = registry?.requests(/^\/elsewhere\//) ?? [];
      expect(elsewhere.length).to.be.greaterThan(0);
      expect(elsewhere.filter(({ authorization }) => authorization !== undefined)).to.deep.equal([]);
    });
  }

  it('are rejected at once with wrong credentials, which no message repeats', async () => {
    const { address } = await pushed({ login: LOGIN });
    const wrong = { username: 'mallory', password: 'gu3ss-me' };
    const scene = await install(undefined, { context: 'private' }, (s) => withSecret(s, address, wrong));
    const { status } = await scene.finished('shop', 'Failed');
    expect(status?.lastError).to.include({ operation: 'InitPrerequisites', reason: 'ResolveBlueprint' });
    expect(status?.lastError?.message).to.contain('its credentials are not accepted');
    expect(JSON.stringify(scene.cluster.history(scene.ns).filter(({ object }) => object.kind !== 'Secret')))
      .not.to.contain('gu3ss')
      .and.not.to.contain(Buffer.from('mallory:gu3ss-me').toString('base64'));
  });

  it('are retried while the registry is down, and the installation succeeds when it is up', async () => {
    const { address } = await pushed();
    registry!.fault = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    const scene = await install(registryContext(`${address}/stock`));
    const { status } = await scene.busy('shop', 'Init', 'ResolveBlueprint');
    expect(status?.lastError?.message).to.contain('answers 503');
    registry!.fault = undefined;
    await expectSuccess(scene);
  });

  it('are retried if a template needs a content that is temporarily not available', async () => {
    const { address } = await pushed();
    const digest = createHash('sha256').update('hello\n').digest('hex');
    registry!.fault = ({ url = '' }, response) => {
      if (!url.endsWith(digest)) return false;
      response.writeHead(500).end();
      return true;
    };
    const scene = await install(registryContext(`${address}/stock`));
    const { status } = await scene.busy('shop', 'Completing', 'ConstructExports');
    expect(status?.lastError?.message).to.contain(`answers 500 to the request for blob sha256:${digest}`);
    registry!.fault = undefined;
    await expectSuccess(scene);
  });

  it('do not delay the deletion of the installation', async () => {
    const { address } = await pushed();
    registry!.fault = (_, response) => {
      response.destroy();
      return true;
    };
    const scene = await install(registryContext(`${address}/stock`));
    await scene.busy('shop', 'Init', 'ResolveBlueprint');
    await scene.delete('shop');
    await scene.empty();
  });

  it('DF-164: are rejected if a layer does not match its digest', async () => {
    const started = await pushed();
    for (const [digest, bytes] of started.blobs) {
      if (bytes[0] === 0x1f) started.blobs.set(digest, Buffer.concat([bytes, Buffer.from('x')]));
    }
    const scene = await install(registryContext(`${started.address}/stock`));
    const { status } = await scene.finished('shop', 'Failed');
    expect(status?.lastError?.reason).to.equal('ResolveBlueprint');
    expect(status?.lastError?.message).to.match(/is damaged: its digest is sha256:/);
  });

  it('DF-162: are installed from a real registry', async function () {
    this.timeout(120_000);
    const reason = whyNoRegistry();
    if (reason !== undefined) skip(this, reason);
    const real = await startRealRegistry(join(folder, 'real'));
    try {
      const args = [join(folder, 'all.ctf'), `${real.address}/stock`, '--plain-http'];
      expect(await espalier('components', 'push', ...args)).to.include({ code: 0 });
      await expectSuccess(await install(registryContext(`${real.address}/stock`)));
    } finally {
      await real.stop();
    }
  });
});
