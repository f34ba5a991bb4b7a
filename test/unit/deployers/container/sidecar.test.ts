/** The wait container as a native sidecar: when it is one, and how its program ends. */
import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerStatus, Pod } from '../../../../deployers/container/kinds.ts';
import { podStatusOf, runStateOf } from '../../../../deployers/container/pod-status.ts';
import { readEnvironment } from '../../../../deployers/container/programs/environment.ts';
import { runWait } from '../../../../deployers/container/programs/wait.ts';
import { defaultSettings } from '../../../../deployers/container/settings.ts';
import { isSidecar, sidecarSupport } from '../../../../deployers/container/sidecar.ts';
import { maskOf } from '../../../../src/lib/masking.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Client } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { podSucceeded, running, terminated, waiting } from '../../../support/containers.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';
import { eventually } from '../../../support/waiting.ts';

const { signal } = new AbortController();

describe('the wait container is a native sidecar', () => {
  const server = (version: unknown): Client => ({ raw: () => Promise.resolve(version) }) as unknown as Client;

  for (const [major, minor, expected] of [
    ['1', '28', false],
    ['1', '29', true],
    ['1', '31+', true],
    ['2', '0', true],
  ] as const) {
    it(`if the cluster supports it: ${major}.${minor}`, async () => {
      expect(await sidecarSupport(server({ major, minor }))(signal)).to.equal(expected);
    });
  }

  it('never if the version is unknown', async () => {
    expect(await sidecarSupport(server({}))(signal)).to.equal(false);
  });

  it('never if the version may not be read, and an error if it cannot be read now', async () => {
    const failing = (status: number): Client =>
      ({
        raw: () => Promise.reject(apiErrorFrom(status, { message: 'no' }, { verb: 'get', kind: 'version' })),
      }) as unknown as Client;
    expect(await sidecarSupport(failing(403))(signal)).to.equal(false);
    expect(await sidecarSupport(failing(404))(signal)).to.equal(false);
    const error: unknown = await sidecarSupport(failing(500))(signal).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect(await isSidecar(defaultSettings, () => Promise.resolve(false))).to.equal(false);
  });

  it("if the program is Espalier's, or if the configuration says so", async () => {
    const wait = { ...defaultSettings.wait, command: ['/wait'] };
    const supported = () => Promise.resolve(true);
    expect(await isSidecar(defaultSettings, supported)).to.equal(true);
    expect(await isSidecar({ wait }, supported)).to.equal(false);
    expect(await isSidecar({ wait, isSidecar: true }, supported)).to.equal(true);
    expect(await isSidecar({ ...defaultSettings, isSidecar: false }, supported)).to.equal(false);
  });
});

describe('a pod that has succeeded', () => {
  const stateOf = (wait: object) => {
    const status = {
      ...podSucceeded,
      initContainerStatuses: [terminated('init', 0), wait as ContainerStatus],
    };
    const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status };
    return runStateOf(pod, podStatusOf(pod, undefined, maskOf([])));
  };

  it('fails the job if its sidecar has failed, because its phase does not include sidecars', () => {
    expect(stateOf(terminated('wait', 0)).is).to.equal('succeeded');
    const message = 'no room';
    expect(stateOf(terminated('wait', 1, { message }))).to.deep.include({
      is: 'failed',
      problem: {
        operation: 'RunWaitContainer',
        reason: 'ContainerFailed',
        message: 'container wait exited with 1: no room',
      },
    });
  });

  it('fails the job if its sidecar did not end', () => {
    for (const wait of [waiting('wait', 'CrashLoopBackOff', 'back-off'), running('wait')]) {
      expect(stateOf(wait)).to.have.property('is', 'failed');
      expect(stateOf(wait)).to.have.nested.property('problem.operation', 'RunWaitContainer');
    }
  });
});

describe('the wait program as a sidecar', () => {
  let folder: string;
  let cluster: FakeCluster;
  let clock: FakeClock;
  let stop: AbortController;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-sidecar-'));
    mkdirSync(join(folder, 'state'));
    writeFileSync(join(folder, 'state/x'), 'kept');
    writeFileSync(join(folder, 'values'), 'a: 1');
    cluster = new FakeCluster('pods');
    clock = new FakeClock();
    stop = new AbortController();
    cluster.put(pod({ running: {} }));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const pod = (main: object, metadata: object = {}, status: object = {}): Any => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'pods', ...metadata },
    status: { containerStatuses: [{ name: 'main', state: main }], ...status },
  });
  const deleted = (main: object, grace: number): Any =>
    pod(main, {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      deletionGracePeriodSeconds: grace,
      finalizers: ['example.org/kept'],
    });

  const start = () => {
    const environment = readEnvironment({
      POD_NAME: 'p',
      POD_NAMESPACE: 'pods',
      DEPLOY_ITEM_NAME: 'web',
      DEPLOY_ITEM_NAMESPACE: 'proj',
      STATE_PATH: join(folder, 'state'),
      EXPORTS_PATH: join(folder, 'values'),
      WAIT_AS_SIDECAR: 'true',
    });
    const state = { answer: 'waiting' };
    const end = (answer: string) => {
      state.answer = answer;
    };
    const client = cluster.withWatch(silent);
    const ports = { client, clock, rng: seededRng(1), log, signal: stop.signal };
    void runWait(environment, ports).then(
      () => {
        end('done');
      },
      (error: unknown) => {
        end((error as Error).message);
      },
    );
    return state;
  };
  /** A watch without events: changes are seen after half a minute. */
  const silent = (watching: AbortSignal): AsyncIterable<never> => ({
    [Symbol.asyncIterator]: () => ({
      next: () =>
        new Promise((_, reject) => {
          const end = () => {
            reject(watching.reason as Error);
          };
          if (watching.aborted) end();
          else watching.addEventListener('abort', end);
        }),
    }),
  });
  /** Files are read in real time, so the fake clock continues until it has happened. */
  const until = async (what: string, hasHappened: () => boolean): Promise<void> => {
    const look = async (): Promise<boolean> => {
      if (hasHappened()) return true;
      await clock.advance(100);
      return false;
    };
    await eventually(what, look, { everyMs: 2 });
  };
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 100) {
      await settle(1);
      await clock.advance(100);
    }
  };
  const secrets = (): number => cluster.names('Secret').length;

  it('stores state and export after it is stopped, and waits for the exit code', async () => {
    const state = start();
    await pass(60_000);
    expect(secrets()).to.equal(0);
    stop.abort();
    await until('the state is stored', () => secrets() === 1);
    expect(state.answer).to.equal('waiting');
    cluster.put(pod({ terminated: { exitCode: 0 } }));
    await until('the end', () => state.answer === 'done');
    expect(secrets(), 'state and export').to.equal(2);
  });

  it('does not need the signal, but waits for it, because a sidecar that ends is restarted', async () => {
    const state = start();
    await pass(1_000);
    cluster.put(pod({ terminated: { exitCode: 0 } }));
    await until('the export', () => secrets() === 2);
    expect(state.answer).to.equal('waiting');
    await until('the end', () => state.answer === 'done');
  });

  it('reports an image that failed, and exports nothing', async () => {
    const state = start();
    cluster.put(pod({ terminated: { exitCode: 3 } }));
    stop.abort();
    await until('the end', () => state.answer === 'main container exists with 3');
    expect(secrets()).to.equal(1);
  });

  for (const [what, ending] of [
    ['deleted', deleted({ running: {} }, 300)],
    ['evicted', pod({ running: {} }, {}, { phase: 'Failed', reason: 'Evicted' })],
  ] as const) {
    it(`does not wait for the exit code of a pod that is ${what}: it is reported too late`, async () => {
      const state = start();
      await pass(1_000);
      cluster.put(ending);
      stop.abort();
      await until('the end', () => state.answer !== 'waiting');
      expect(state.answer).to.contain('the exit code of the main container is unknown');
      expect(secrets()).to.equal(1);
    });
  }

  it('stores the state of an image that does not end in time after two thirds of the grace period', async () => {
    const state = start();
    await pass(1_000);
    cluster.put(deleted({ running: {} }, 300));
    await pass(190_000);
    expect(secrets()).to.equal(0);
    await until('the state is stored', () => secrets() === 1);
    expect(state.answer).to.equal('waiting');
    stop.abort();
    await until('the state at the end is stored', () => secrets() === 2);
  });

  it('ends soon if its pod was deleted before it was ready, since it may have missed the signal', async () => {
    cluster.put(deleted({ running: {} }, 300));
    const state = start();
    await until('the end', () => state.answer !== 'waiting');
    expect(state.answer).to.contain('the exit code of the main container is unknown');
  });
});
