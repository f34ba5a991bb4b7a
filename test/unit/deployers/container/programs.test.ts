/** The init and wait programs in temporary folders, with a cluster in memory. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { annotations } from '../../../../deployers/container/contract.ts';
import { readEnvironment, type Environment } from '../../../../deployers/container/programs/environment.ts';
import { packFolder, unpackFolder } from '../../../../deployers/container/programs/folder.ts';
import { runInit } from '../../../../deployers/container/programs/init.ts';
import { labelsOf, namesOf } from '../../../../deployers/container/names.ts';
import { restoreState, saveState } from '../../../../deployers/container/programs/state.ts';
import { runWait } from '../../../../deployers/container/programs/wait.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { writeTar } from '../../../../src/lib/tar.ts';
import { silentLogger as log } from '../../../../src/observability/log.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { apiErrorFrom, TransportError } from '../../../../src/runtime/errors.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';

describe('the programs in a pod', () => {
  let folder: string;
  const at = (path: string): string => join(folder, path);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-programs-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  describe('a stored folder', () => {
    it('is restored with its files, empty folders and permissions', async () => {
      mkdirSync(at('from/a/empty'), { recursive: true });
      writeFileSync(at('from/a/run.sh'), 'echo');
      chmodSync(at('from/a/run.sh'), 0o750);
      writeFileSync(at('from/zeros'), Buffer.alloc(10));
      writeFileSync(at(`from/${'n'.repeat(150)}`), 'long');
      await unpackFolder((await packFolder(at('from'))) ?? new Uint8Array(), at('to'));
      expect(statSync(at('to/a/empty')).isDirectory()).to.equal(true);
      expect(statSync(at('to/a/run.sh')).mode & 0o777).to.equal(0o750);
      expect(readFileSync(at('to/zeros'))).to.deep.equal(Buffer.alloc(10));
      expect(readFileSync(at(`to/${'n'.repeat(150)}`), 'utf8')).to.equal('long');
    });

    it('is empty if there are no files', async () => {
      expect(await packFolder(folder)).to.equal(undefined);
    });

    it('rejects links by name', async () => {
      symlinkSync('/etc', at('link'));
      expect(await failureOf(packFolder(folder))).to.contain('link in the state is a symbolic link');
    });

    it('is not read through a link that the image has created in its place', async () => {
      mkdirSync(at('elsewhere'));
      writeFileSync(at('elsewhere/token'), 'ours');
      symlinkSync(at('elsewhere'), at('state'));
      expect(await failureOf(packFolder(at('state')))).to.contain('is a symbolic link');
    });

    it('rejects pipes, which never end', async () => {
      execFileSync('mkfifo', [at('pipe')]);
      expect(await failureOf(packFolder(folder))).to.contain(
        'pipe in the state is neither a file nor a directory',
      );
    });

    it('rejects more than could be restored, before it reads it', async () => {
      writeFileSync(at('x'), 'small');
      writeFileSync(at('y'), Buffer.alloc(10_000));
      expect(await failureOf(packFolder(folder, 10_000))).to.contain('the state is too large: with y');
      writeFileSync(at('huge'), '');
      truncateSync(at('huge'), 2 ** 40);
      expect(await failureOf(packFolder(folder))).to.contain('the state is too large: with huge');
    });

    for (const path of ['../outside', '/etc/outside', 'a/../../outside']) {
      it(`is not written outside of itself: ${path}`, async () => {
        const archive = gzipSync(writeTar([[path, Buffer.from('x')]]));
        expect(await failureOf(unpackFolder(archive, at('to')))).to.contain('is outside the state folder');
        expect(existsSync(at('outside'))).to.equal(false);
      });
    }
  });

  describe('the state in secrets', () => {
    const item = { namespace: 'proj', name: 'web' };
    const ports = (cluster: FakeCluster, seed: number) => ({
      client: cluster,
      namespace: 'pods',
      item,
      clock: new FakeClock(`2026-01-01T00:00:0${String(seed)}Z`),
      rng: seededRng(seed),
      log,
    });

    it('is found by its labels, the newest complete one', async () => {
      const cluster = new FakeCluster('pods');
      for (const [seed, text] of [
        [1, 'first'],
        [2, 'second'],
      ] as const) {
        mkdirSync(at('state'), { recursive: true });
        writeFileSync(at('state/x'), text);
        expect(await saveState(ports(cluster, seed), at('state'))).to.equal(1);
      }
      mkdirSync(at('to'));
      expect(await restoreState({ client: cluster, namespace: 'pods', item }, at('to'), undefined)).to.equal(
        1,
      );
      expect(readFileSync(at('to/x'), 'utf8')).to.equal('second');
      expect(cluster.names('Secret')).to.have.length(2);
    });

    it('has the number of pieces in each of them', async () => {
      const cluster = new FakeCluster('pods');
      mkdirSync(at('state'));
      const rng = seededRng(7);
      writeFileSync(
        at('state/x'),
        Buffer.from(Array.from({ length: 1_500_000 }, () => Math.floor(rng.next() * 256))),
      );
      expect(await saveState(ports(cluster, 3), at('state'))).to.equal(2);
      const found = cluster
        .names('Secret')
        .map((key) => cluster.find('Secret', key)?.metadata.annotations ?? {});
      expect(found.map((one) => one[annotations.statePieces])).to.deep.equal(['2', '2']);
      expect(new Set(found.map((one) => one[annotations.stateUuid])).size).to.equal(1);
      expect(found.map((one) => one[annotations.stateNum]).sort()).to.deep.equal(['0', '1']);
    });
  });

  describe('init', () => {
    const repositories = createComponentRepositories({ clock: new FakeClock(), rng: seededRng(1) });
    const environment = (): Environment =>
      readEnvironment({
        POD_NAME: 'p',
        POD_NAMESPACE: 'pods',
        DEPLOY_ITEM_NAME: 'web',
        DEPLOY_ITEM_NAMESPACE: 'proj',
        CONFIGURATION_PATH: at('configuration.json'),
        IMPORTS_PATH: at('imports/import.json'),
        EXPORTS_PATH: at('exports/values'),
        STATE_PATH: at('state'),
        CONTENT_PATH: at('content'),
        COMPONENT_DESCRIPTOR_PATH: at('component_descriptor.json'),
        TARGET_PATH: at('targets/target.json'),
        TARGET_SOURCE_PATH: at('no-target.json'),
        REGISTRY_SECRETS_DIR: at('no-such-folder'),
        OCM_CONFIGURATION_PATH: at('no-such-file'),
        STATE_SECRETS: '',
      });
    const init = (fields: object): Promise<void> => {
      const kind = 'ProviderConfiguration';
      const apiVersion = 'container.deployer.landscaper.gardener.cloud/v1alpha1';
      writeFileSync(at('configuration.json'), JSON.stringify({ apiVersion, kind, ...fields }));
      const client = () => Promise.reject(new Error('there is nothing to ask the cluster for'));
      return runInit(environment(), { client, repositories, log });
    };

    it('DEP-78: write an inline blueprint, without secrets for it', async () => {
      await init({
        blueprint: { inline: { filesystem: { 'blueprint.yaml': 'kind: Blueprint', f: { 'a.txt': 'a' } } } },
      });
      expect(readFileSync(at('content/f/a.txt'), 'utf8')).to.equal('a');
      expect(readFileSync(at('content/blueprint.yaml'), 'utf8')).to.equal('kind: Blueprint');
    });

    it('create the folder of the export, and write null without a target', async () => {
      await init({ importValues: { a: [1] } });
      expect(existsSync(at('exports'))).to.equal(true);
      expect(existsSync(at('exports/values'))).to.equal(false);
      expect(readFileSync(at('targets/target.json'), 'utf8')).to.equal('null');
      expect(readFileSync(at('imports/import.json'), 'utf8')).to.equal('{"a":[1]}');
    });

    it('do not write a blueprint outside of its folder', async () => {
      const filesystem = { '..': { 'evil.txt': 'x' } };
      expect(await failureOf(init({ blueprint: { inline: { filesystem } } }))).to.contain(
        'not a valid file name',
      );
      expect(existsSync(at('evil.txt'))).to.equal(false);
    });

    it('name the missing variable', () => {
      expect(() => readEnvironment({})).to.throw('the variable DEPLOY_ITEM_NAMESPACE is not set');
    });

    it('name the missing configuration', async () => {
      const client = () => Promise.reject(new Error('not asked'));
      const failure = await failureOf(runInit(environment(), { client, repositories, log }));
      expect(failure).to.contain('cannot read the configuration').and.contain('ENOENT');
    });
  });
});

describe('the wait program', () => {
  const environment = (folder: string, more: Record<string, string> = {}): Environment =>
    readEnvironment({
      POD_NAME: 'p',
      POD_NAMESPACE: 'pods',
      DEPLOY_ITEM_NAME: 'web',
      DEPLOY_ITEM_NAMESPACE: 'proj',
      STATE_PATH: join(folder, 'state'),
      EXPORTS_PATH: join(folder, 'values'),
      ...more,
    });
  const pod = (main: object): Any => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'pods' },
    status: { containerStatuses: [{ name: 'main', state: main }] },
  });
  const ended = (exitCode: number): Any => pod({ terminated: { exitCode } });
  let folder: string;
  let cluster: FakeCluster;
  let clock: FakeClock;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-wait-'));
    mkdirSync(join(folder, 'state'));
    cluster = new FakeCluster('pods');
    clock = new FakeClock();
    cluster.put(pod({ running: {} }));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  /** @param watch replaces the one of the cluster. @param more variables */
  const waitWith = (
    watch: (signal: AbortSignal) => AsyncIterable<never>,
    more: Record<string, string> = {},
    told = new AbortController().signal,
  ) => {
    const client = cluster.withWatch(watch);
    const state = { answer: 'waiting' };
    void runWait(environment(folder, more), { client, clock, rng: seededRng(1), log, signal: told }).then(
      () => (state.answer = 'done'),
      (error: unknown) => (state.answer = (error as Error).message),
    );
    return state;
  };
  /**
   * Files are read in real time, which the fake clock does not control: so the fake clock continues until they have
   * been read.
   */
  const answerOf = async (state: { readonly answer: string }): Promise<string> => {
    while (state.answer === 'waiting') {
      await settle(1);
      await clock.advance(100);
    }
    return state.answer;
  };
  /** A watch without events, as long as the request is open. */
  const mute = (next: () => Promise<never>): AsyncIterable<never> => ({
    [Symbol.asyncIterator]: () => ({ next }),
  });
  const forbidden = (): AsyncIterable<never> =>
    mute(() =>
      Promise.reject(
        apiErrorFrom(403, { reason: 'Forbidden', message: 'no' }, { verb: 'watch', kind: 'Pod' }),
      ),
    );
  const silent = (signal: AbortSignal): AsyncIterable<never> =>
    mute(
      () =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        }),
    );

  for (const [what, watch] of [
    ['may not watch', forbidden],
    ['receives no event', silent],
  ] as const) {
    it(`sees the end of the image even if it ${what}`, async () => {
      const state = waitWith(watch);
      await clock.advance(5_000);
      expect(state.answer).to.equal('waiting');
      cluster.put(ended(0));
      await clock.advance(60_000);
      expect(await answerOf(state)).to.equal('done');
    });
  }

  it('retries if the API server does not answer', async () => {
    let left = 3;
    cluster.fail = (verb) => {
      if (verb === 'get' && left-- > 0) throw new Error('no answer');
    };
    cluster.put(ended(0));
    const state = waitWith(silent);
    await clock.advance(60_000);
    expect(await answerOf(state)).to.equal('done');
  });

  it('stores the state of an image that failed, and then reports the failure', async () => {
    writeFileSync(join(folder, 'state/x'), 'kept');
    writeFileSync(join(folder, 'values'), '{}');
    cluster.put(ended(3));
    const state = waitWith(silent);
    await clock.advance(1_000);
    expect(await answerOf(state)).to.equal('main container exists with 3');
    expect(cluster.names('Secret')).to.have.length(1);
  });

  const exportName = namesOf({ namespace: 'proj', name: 'web' }).export;
  const exportWith = (metadata: object): Any => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: exportName, namespace: 'pods', ...metadata },
    data: { config: 'b2xk' },
  });
  const exportedText = (): string => {
    const { config = '' } = cluster.find('Secret', `pods/${exportName}`)?.['data'] as { config?: string };
    return Buffer.from(config, 'base64').toString();
  };

  it('overwrites an existing export of the item', async () => {
    cluster.put(ended(0));
    cluster.put(exportWith({ labels: labelsOf({ namespace: 'proj', name: 'web' }, 'd') }));
    writeFileSync(join(folder, 'values'), 'a: [1, x]\n');
    const state = waitWith(silent);
    await clock.advance(1_000);
    expect(await answerOf(state)).to.equal('done');
    expect(exportedText()).to.equal('{"a":[1,"x"]}');
  });

  for (const [whose, metadata] of [
    ['a user', {}],
    ['another item', { labels: labelsOf({ namespace: 'proj', name: 'other' }, 'd') }],
  ] as const) {
    it(`does not overwrite a secret of ${whose}, and names it`, async () => {
      cluster.put(ended(0));
      cluster.put(exportWith(metadata));
      writeFileSync(join(folder, 'values'), 'a: 1\n');
      const state = waitWith(silent);
      await clock.advance(1_000);
      expect(await answerOf(state)).to.contain(`secret pods/${exportName} exists and does not belong to`);
      expect(exportedText()).to.equal('old');
    });
  }

  it('exports integers beyond 2^53 with all their digits', async () => {
    cluster.put(ended(0));
    writeFileSync(join(folder, 'values'), 'a: 9007199254740993\n');
    const state = waitWith(silent);
    await clock.advance(1_000);
    expect(await answerOf(state)).to.equal('done');
    const name = namesOf({ namespace: 'proj', name: 'web' }).export;
    const { config = '' } = cluster.find('Secret', `pods/${name}`)?.['data'] as { config?: string };
    expect(Buffer.from(config, 'base64').toString()).to.equal('{"a":9007199254740993}');
  });

  const disguises: readonly (readonly [string, (path: string) => void, string])[] = [
    [
      'a link to a file that only we may read',
      (path) => {
        writeFileSync(join(folder, 'token'), 'ours');
        symlinkSync(join(folder, 'token'), path);
      },
      'is a symbolic link',
    ],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'is not a file in a folder'],
    ['a folder', (path) => mkdirSync(path), 'is not a file in a folder'],
    [
      'too large for a secret',
      (path) => writeFileSync(path, `a: ${'x'.repeat(2 ** 20)}`),
      'has 1048584 bytes',
    ],
    [
      'too large to read',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 2 ** 40);
      },
      'has 1099511627776 bytes',
    ],
  ];
  for (const [what, disguise, complaint] of disguises) {
    it(`exports nothing that is ${what}`, async () => {
      cluster.put(ended(0));
      disguise(join(folder, 'values'));
      const state = waitWith(silent);
      await clock.advance(1_000);
      expect(await answerOf(state)).to.contain(complaint);
      expect(cluster.names('Secret')).to.deep.equal([]);
    });
  }

  it('exports nothing from a folder that is a link', async () => {
    cluster.put(ended(0));
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere/values'), 'ours');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'exports'));
    const state = waitWith(silent, { EXPORTS_PATH: join(folder, 'exports/values') });
    await clock.advance(1_000);
    expect(await answerOf(state)).to.contain('is a symbolic link');
    expect(cluster.names('Secret')).to.deep.equal([]);
  });

  describe('on a termination signal, which all containers of a pod get', () => {
    const told = async (grace?: number) => {
      writeFileSync(join(folder, 'state/x'), 'what was done');
      const ending = new AbortController();
      const state = waitWith(silent, {}, ending.signal);
      await clock.advance(1_000);
      const deletion = { metadata: { deletionGracePeriodSeconds: grace } };
      if (grace !== undefined) cluster.edit('Pod', 'pods/p', deletion);
      ending.abort();
      return state;
    };

    it('waits for the image, and stores its state', async () => {
      const state = await told();
      await clock.advance(10_000);
      expect(state.answer).to.equal('waiting');
      cluster.put(ended(143));
      expect(await answerOf(state)).to.equal('main container exists with 143');
      expect(cluster.names('Secret')).to.have.length(1);
    });

    for (const [what, grace, seconds] of [
      ['half a minute', undefined, 20],
      ['as much time as the pod has', 300, 200],
    ] as const) {
      it(`does not see the end of the image, and stores the state in time: ${what}`, async () => {
        const state = await told(grace);
        await clock.advance(seconds * 1_000 - 2_000);
        expect(state.answer).to.equal('waiting');
        expect(await answerOf(state)).to.equal('pod terminated while the main container was running');
        expect(cluster.names('Secret')).to.have.length(1);
      });
    }
  });

  it('loses nothing while the API server is not available', async () => {
    writeFileSync(join(folder, 'state/x'), 'kept');
    writeFileSync(join(folder, 'values'), 'a: 1');
    cluster.put(ended(0));
    let left = 4;
    cluster.fail = (verb) => {
      if (verb === 'create' && left-- > 0)
        throw new TransportError({ message: 'refused', safeToRepeat: true });
    };
    let lost = 2;
    cluster.lost = (verb) => {
      if (verb === 'create' && lost-- > 0)
        throw new TransportError({ message: 'cut off', safeToRepeat: false });
    };
    const state = waitWith(silent);
    expect(await answerOf(state)).to.equal('done');
    expect(cluster.names('Secret')).to.have.length(2);
  });

  it('does not retry rejected writes', async () => {
    writeFileSync(join(folder, 'state/x'), 'kept');
    cluster.put(ended(0));
    let tries = 0;
    cluster.fail = (verb) => {
      if (verb !== 'create') return;
      tries++;
      throw apiErrorFrom(403, { reason: 'Forbidden', message: 'no' }, { verb, kind: 'Secret' });
    };
    expect(await answerOf(waitWith(silent))).to.contain('no');
    expect(tries).to.equal(1);
  });

  it('ends when its pod is gone', async () => {
    cluster.drop('Pod', 'pods/p');
    const state = waitWith(silent);
    await clock.advance(1_000);
    expect(await answerOf(state)).to.equal('pod pods/p is gone');
  });
});

const failureOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'nothing failed',
    (error: unknown) => (error as Error).message,
  );
