import { expect } from 'chai';
import { KubeconfigError } from '../../../../src/runtime/errors.ts';
import { CredentialKeeper } from '../../../../src/runtime/transport/credentials.ts';
import type { Access, Credentials } from '../../../../src/runtime/transport/kubeconfig.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

const token = (value: string, ca?: string): Credentials => ({
  headers: { authorization: `Bearer ${value}` },
  tls: { ...(ca !== undefined && { ca }) },
});

describe('the credentials of a connection', () => {
  let clock: FakeClock;
  let keeper: CredentialKeeper;
  /** What the kubeconfig holds at the moment; an error: it cannot be read. */
  let stored: Credentials | Error;
  let readings: boolean[];
  let lines: readonly object[];
  beforeEach(() => {
    clock = new FakeClock();
    clock.now = (
      (now) => () =>
        now() + 1_000_000
    )(clock.now.bind(clock));
    stored = token('one');
    readings = [];
    const access: Access = {
      server: 'https://127.0.0.1:1',
      namespace: 'default',
      credentials(refused) {
        readings.push(refused);
        return stored instanceof Error ? Promise.reject(stored) : Promise.resolve(stored);
      },
    };
    const recording = recordingLogger();
    lines = recording.lines;
    keeper = new CredentialKeeper(access, 1, clock, recording.log);
  });
  afterEach(() => keeper.destroy());
  const current = async (): Promise<unknown> => (await keeper.current()).credentials.headers['authorization'];

  it('are read when they are first needed, once for all who wait', async () => {
    expect(readings).to.deep.equal([]);
    const [a, b] = await Promise.all([keeper.current(), keeper.current()]);
    expect(a).to.equal(b);
    expect(await current()).to.equal('Bearer one');
    expect(readings).to.deep.equal([false]);
  });

  it('are read again after a minute', async () => {
    await current();
    stored = token('two');
    await clock.advance(59_999);
    expect(await current()).to.equal('Bearer one');
    await clock.advance(1);
    expect(await current()).to.equal('Bearer two');
    await clock.advance(59_999);
    expect(await current()).to.equal('Bearer two');
    expect(readings).to.deep.equal([false, false]);
  });

  it('keep their sockets when they are the same, and when only the headers change', async () => {
    const first = await keeper.current();
    await clock.advance(60_000);
    expect(await keeper.current()).to.equal(first);
    stored = token('two');
    await clock.advance(60_000);
    expect((await keeper.current()).pools).to.equal(first.pools);
  });

  it('open new sockets when the certificates change, and close the old ones', async () => {
    const first = await keeper.current();
    let isClosed = false;
    const close = first.pools.close.bind(first.pools);
    first.pools.close = () => {
      isClosed = true;
      return close();
    };
    stored = token('one', 'ca');
    await clock.advance(60_000);
    expect((await keeper.current()).pools).not.to.equal(first.pools);
    expect(isClosed).to.equal(true);
  });

  it('close all sockets in the end, also those that wait for their last request', async () => {
    const destroyed: string[] = [];
    const noteEnd = (name: string, pools: { destroy(): Promise<void> }): void => {
      const destroy = pools.destroy.bind(pools);
      pools.destroy = () => {
        destroyed.push(name);
        return destroy();
      };
    };
    const first = await keeper.current();
    first.pools.close = () => new Promise(() => undefined);
    noteEnd('old', first.pools);
    stored = token('one', 'ca');
    await clock.advance(60_000);
    noteEnd('new', (await keeper.current()).pools);
    await keeper.destroy();
    expect(destroyed).to.deep.equal(['old', 'new']);
  });

  it('close sockets once, when the last request on them has ended', async () => {
    const first = await keeper.current();
    let destroyed = 0;
    const destroy = first.pools.destroy.bind(first.pools);
    first.pools.destroy = () => {
      destroyed++;
      return destroy();
    };
    stored = token('one', 'ca');
    await clock.advance(60_000);
    await keeper.current();
    await settle();
    await keeper.destroy();
    expect(destroyed).to.equal(0);
  });

  it('need no sockets to be closed if they were never read', async () => {
    await keeper.destroy();
    expect(readings).to.deep.equal([]);
  });

  it('fail when they cannot be read at first, and are read again for the next request', async () => {
    const problem = new KubeconfigError({ message: 'no such file' });
    stored = problem;
    expect(await keeper.current().catch((error: unknown) => error)).to.equal(problem);
    stored = token('one');
    expect(await current()).to.equal('Bearer one');
    expect(lines).to.deep.equal([]);
  });

  it('stay in use when they cannot be read later, for a minute', async () => {
    await current();
    stored = new Error('no such file');
    await clock.advance(60_000);
    expect(await current()).to.equal('Bearer one');
    expect(lines).to.deep.equal([
      {
        level: 'warn',
        message: 'rereading the credentials failed, keeping the old ones',
        fields: { err: 'Error: no such file' },
      },
    ]);
    await clock.advance(59_999);
    await current();
    expect(readings).to.have.length(2);
  });

  describe('that the server refuses', () => {
    it('are read again, and the plugins may not answer from memory', async () => {
      const used = await keeper.current();
      await clock.advance(5_000);
      stored = token('two');
      expect(await keeper.refreshed(used)).to.equal(true);
      expect([await current(), readings]).to.deep.equal(['Bearer two', [false, true]]);
    });

    it('are not worth a second try when they are the same', async () => {
      const used = await keeper.current();
      await clock.advance(5_000);
      expect(await keeper.refreshed(used)).to.equal(false);
      expect(readings).to.have.length(2);
    });

    it('are not read again within five seconds', async () => {
      const used = await keeper.current();
      stored = token('two');
      await clock.advance(4_999);
      expect(await keeper.refreshed(used)).to.equal(false);
      expect(readings).to.have.length(1);
    });

    it('are worth a second try when others have been read meanwhile', async () => {
      const used = await keeper.current();
      stored = token('two');
      await clock.advance(60_000);
      await current();
      expect(await keeper.refreshed(used)).to.equal(true);
      expect(readings).to.have.length(2);
    });
  });
});
