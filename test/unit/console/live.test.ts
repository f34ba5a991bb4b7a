/** The connection of the console's page to its server: snapshots, changes, silence, reconnects. */
import { expect } from 'chai';
import { follow, type Live } from '../../../web/console/live.ts';
import { withGlobals } from '../../support/browser.ts';

interface Item {
  readonly id: string;
  readonly v?: number;
}
type Listener = (event: { readonly data: string }) => void;

class FakeSource {
  readonly path: string;
  readonly listeners = new Map<string, Listener>();
  isClosed = false;
  onerror: () => void = () => undefined;

  constructor(path: string) {
    this.path = path;
    sources.push(this);
  }

  addEventListener(event: string, listener: Listener): void {
    this.listeners.set(event, listener);
  }

  close(): void {
    this.isClosed = true;
  }

  send(event: string, data: object): void {
    this.listeners.get(event)?.({ data: JSON.stringify(data) });
  }
}
let sources: FakeSource[] = [];

/** A page that follows a path; `status` is the answer of the server to requests without events. */
function page(status: () => number = () => 200) {
  sources = [];
  const asked: string[] = [];
  const { clock, restore } = withGlobals({
    EventSource: FakeSource,
    fetch: (path: string) => {
      asked.push(path);
      return Promise.resolve(new Response('{"error":"x"}', { status: status() }));
    },
  });
  let state: Live<Item> = { items: undefined, connection: 'connecting', problem: '' };
  let updates = 0;
  const end = follow<Item>(
    '/api/feed',
    (sent: Item) => sent,
    (change) => {
      updates++;
      state = { ...state, ...change(state) };
    },
  );
  return {
    clock,
    restore,
    end,
    asked,
    state: () => state,
    updates: () => updates,
    ids: () =>
      [...(state.items?.values() ?? [])].map(({ id, v }) => (v === undefined ? id : `${id}=${String(v)}`)),
    last: () => sources.at(-1) ?? expect.fail('there is no connection'),
  };
}

describe('the live data of a page', () => {
  let restore = (): void => undefined;
  afterEach(() => {
    restore();
  });
  const opened = (status?: () => number) => {
    const result = page(status);
    ({ restore } = result);
    return result;
  };

  it('is a snapshot in several events, then changes', async () => {
    const { clock, last, ids, state } = opened();
    expect(last().path).to.equal('/api/feed');
    last().send('items', { items: [{ id: 'a' }, { id: 'b' }] });
    await clock.advance(0);
    expect(state().items).to.equal(undefined);
    last().send('snapshot', { items: [{ id: 'c' }] });
    await clock.advance(0);
    expect(ids()).to.deep.equal(['a', 'b', 'c']);
    expect(state().connection).to.equal('live');
    last().send('items', { items: [{ id: 'd' }] });
    last().send('change', { set: [{ id: 'a', v: 2 }], gone: ['b'] });
    await clock.advance(0);
    expect(ids()).to.deep.equal(['a=2', 'c', 'd']);
    last().send('snapshot', { items: [{ id: 'e' }] });
    await clock.advance(0);
    expect(ids()).to.deep.equal(['e']);
  });

  it('shows the problem of the server with the cluster', async () => {
    const { clock, last, state } = opened();
    last().send('health', { problem: 'not reachable' });
    await clock.advance(0);
    expect(state().problem).to.equal('not reachable');
    last().send('health', { problem: '' });
    await clock.advance(0);
    expect(state().problem).to.equal('');
  });

  it('is lost after 15 s of silence, which each event ends', async () => {
    const { clock, last, state, asked } = opened();
    last().send('snapshot', { items: [] });
    await clock.advance(14_000);
    last().send('health', { problem: '' });
    await clock.advance(14_999);
    expect([state().connection, asked]).to.deep.equal(['live', []]);
    await clock.advance(1);
    expect([state().connection, asked]).to.deep.equal(['lost', ['/api/about']]);
    expect(last().isClosed).to.equal(true);
  });

  it('is lost if the first connection says nothing', async () => {
    const { clock, state } = opened();
    await clock.advance(15_000);
    expect(state().connection).to.equal('lost');
  });

  it('connects again after pauses that double up to 5 s, and are short again after a snapshot', async () => {
    const { clock, last } = opened();
    const pauses: number[] = [];
    const fail = async (): Promise<void> => {
      const count = sources.length;
      last().onerror();
      await clock.advance(0);
      let ms = 0;
      for (; sources.length === count && ms < 20_000; ms += 250) await clock.advance(250);
      pauses.push(ms);
    };
    for (let i = 0; i < 6; i++) await fail();
    last().send('snapshot', { items: [] });
    await fail();
    expect(pauses).to.deep.equal([500, 1_000, 2_000, 4_000, 5_000, 5_000, 500]);
    expect(sources.slice(0, -1).every(({ isClosed }) => isClosed)).to.equal(true);
  });

  it('keeps its items while the connection is lost', async () => {
    const { clock, last, ids, state } = opened();
    last().send('snapshot', { items: [{ id: 'a' }] });
    await clock.advance(0);
    last().onerror();
    await clock.advance(0);
    expect([state().connection, ids()]).to.deep.equal(['lost', ['a']]);
  });

  for (const [status, connection] of [
    [401, 'refused'],
    [403, 'lost'],
    [200, 'lost'],
  ] as const)
    it(`is ${connection} if the server answers ${status}`, async () => {
      const { clock, last, state } = opened(() => status);
      last().onerror();
      await clock.advance(0);
      expect(state().connection).to.equal(connection);
    });

  it('ends: nothing is read, asked or opened any more', async () => {
    const { clock, last, end, updates, asked } = opened();
    last().send('snapshot', { items: [{ id: 'a' }] });
    end();
    await clock.advance(60_000);
    expect([updates(), asked, sources.length, last().isClosed]).to.deep.equal([0, [], 1, true]);
  });

  it('ends while it finds out why the connection failed', async () => {
    const { clock, last, end, updates } = opened();
    last().onerror();
    end();
    await clock.advance(60_000);
    expect([updates(), sources.length]).to.deep.equal([0, 1]);
  });
});
