/** Compares what the page about controllers says about its sample with the sample, on a clock that stands still. */
import { expect } from 'chai';
import { noticeController, notices, type Notice } from '../../../docs/samples/operators/notice/notices.ts';
import { noticeOperator } from '../../../docs/samples/operators/notice/options.ts';
import { settle } from '../../support/clock.ts';
import { createWorld, type World } from '../runtime/support/world.ts';

const KEY = 'A/1';
const FINALIZER = 'board.example.org/posted';

describe('the page about controllers has a sample that', () => {
  let world: World;
  /** `12 + hello`: the time in seconds, and what was done. */
  let done: string[];
  let fault: () => Error | undefined;
  beforeEach(async () => {
    world = createWorld();
    done = [];
    fault = () => undefined;
    const note = async (what: string): Promise<void> => {
      done.push(`${String(world.clock.now() / 1_000)} ${what}`);
      const error = fault();
      if (error) throw error;
    };
    const board = { post: (_: string, text: string) => note(`+ ${text}`), remove: () => note('-') };
    world.manager.add(noticeController(board, world.metrics));
    await world.start();
  });
  afterEach(() => world.end());

  const put = async (text: string, audience: string): Promise<void> => {
    const metadata = { namespace: 'A', name: '1', labels: { audience } };
    world.cluster.put(notices, { metadata, spec: { text } });
    await settle();
  };
  const edit = async (patch: object, sub?: 'status'): Promise<void> => {
    world.cluster.edit(notices, KEY, patch, sub);
    await settle();
  };
  const read = (): Notice | undefined => world.cluster.read(notices, KEY);

  it('ignores objects that its filter excludes, and changes of the status', async () => {
    await put('hello', 'staff');
    expect(read()?.metadata.finalizers).to.equal(undefined);
    await edit({ metadata: { labels: { audience: 'public' } } });
    expect(done).to.deep.equal(['0 + hello']);
    await edit({ status: { posted: 'nonsense' } }, 'status');
    await edit({ metadata: { annotations: { read: 'yes' } } });
    expect(done).to.have.length(1);
    await edit({ metadata: { labels: { audience: 'staff' } } });
    expect(done.slice(1)).to.deep.equal(['0 -']);
  });

  it('keeps its finalizer while there is something to clean up', async () => {
    await put('hello', 'public');
    expect(read()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    expect(read()?.status).to.deep.equal({ posted: 'hello' });
    fault = () => new Error('the board is away');
    world.cluster.remove(notices, KEY);
    await settle();
    expect(read()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    fault = () => undefined;
    await world.clock.advance(500);
    await settle();
    expect(read()).to.equal(undefined);
    expect(done).to.deep.equal(['0 + hello', '0 -', '0.5 -']);
  });

  it('retries after growing pauses, within the limit of reconciles, and shows the error meanwhile', async () => {
    fault = () => new Error('the board is away');
    await put('hello', 'public');
    expect(read()?.status).to.deep.equal({ error: 'the board is away' });
    await world.clock.advance(50_000);
    // Adding the finalizer was a reconcile as well.
    expect(done).to.deep.equal(['0 + hello', '0.5 + hello', '1.5 + hello', '3.5 + hello']);
    fault = () => undefined;
    await world.clock.advance(10_000);
    expect(done[4]).to.equal('60 + hello');
    expect(read()?.status).to.deep.equal({ posted: 'hello' });
    expect(await world.metric('notices_posted_total')).to.equal(1);
  });

  it('gives up after eight retries until something changes, and reports it in an event', async () => {
    fault = () => new Error('the board is away');
    await put('hello', 'public');
    await world.clock.advance(50 * 60_000);
    expect(done).to.have.length(9);
    expect(world.cluster.writes.filter((write) => write.includes('Event'))).to.have.length(1);
    fault = () => undefined;
    await edit({ spec: { text: 'hello again' } });
    expect(done[9]).to.equal('3000 + hello again');
  });

  it('does not retry permanent errors', async () => {
    await put('x'.repeat(281), 'public');
    expect(read()?.status).to.deep.equal({ error: 'a notice has at most 280 characters' });
    await world.clock.advance(50 * 60_000);
    expect(done).to.deep.equal([]);
    expect(
      await world.metric('controller_runtime_terminal_reconcile_errors_total{controller="notices"}'),
    ).to.equal(1);
  });

  it('reconciles everything once an hour', async () => {
    await put('hello', 'public');
    await world.clock.advance(3_700_000);
    expect(done).to.have.length(2);
  });

  it('reads settings from the environment, with defaults', () => {
    const board = { post: () => Promise.resolve(), remove: () => Promise.resolve() };
    const { add: _, ...settings } = noticeOperator(board, { HEALTH_PORT: '9000', HOSTNAME: 'pod-1' });
    expect(settings).to.deep.equal({
      name: 'notice-operator',
      identity: 'pod-1',
      level: 'info',
      lease: { namespace: 'default' },
      metricsAddress: { host: '127.0.0.1', port: 9_000 },
    });
  });
});
