import { expect } from 'chai';
import { createRegistry } from '../../../src/apiserver/kinds/registry.ts';
import { Store } from '../../../src/apiserver/store/storage.ts';
import type { KubeObject } from '../../../src/apiserver/types.ts';
import { WatchHub } from '../../../src/apiserver/store/watch-hub.ts';
import type { Sink, WatchRequest } from '../../../src/apiserver/store/watch-hub.ts';
import { FakeClock, settle } from '../../support/clock.ts';

class FakeSink implements Sink {
  queued = 0;
  isEnded = false;
  readonly chunks: string[] = [];

  write(chunk: Buffer): void {
    this.chunks.push(chunk.toString());
  }

  end(): void {
    this.isEnded = true;
  }

  get events(): string[] {
    return this.chunks
      .join('')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { type: string; object: KubeObject })
      .map(({ type, object }) => `${type} ${object.metadata.name || object.metadata.resourceVersion || ''}`);
  }
}

describe('the watch hub', () => {
  let clock: FakeClock;
  let store: Store;
  let hub: WatchHub;
  const kind = createRegistry().find('', 'v1', 'configmaps');

  beforeEach(() => {
    clock = new FakeClock();
    store = new Store({ events: 100, seconds: 300 }, () => clock.now());
    hub = new WatchHub(store, clock);
  });

  const watch = (
    more: Partial<WatchRequest> = {},
  ): { sink: FakeSink; watcher: ReturnType<WatchHub['add']> } => {
    if (!kind) throw new Error('config maps are not served');
    const sink = new FakeSink();
    const watcher = hub.add(
      {
        kind,
        prefix: '',
        matches: undefined,
        form: { id: 'x' },
        bookmarks: false,
        timeoutMs: 3_600_000,
        ...more,
      },
      sink,
    );
    return { sink, watcher };
  };
  const put = (name: string): void =>
    void store.commit('/configmaps', `ns/${name}`, undefined, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name },
    });

  it('writes the events of one turn of the event loop together', async () => {
    const { sink } = watch();
    put('a');
    put('b');
    await settle();
    expect(sink.events).to.deep.equal(['ADDED a', 'ADDED b']);
    expect(sink.chunks).to.have.length(1);
  });

  it('sends bookmarks every minute to watches that requested them, and none to others', async () => {
    const asking = watch({ bookmarks: true }).sink;
    const silent = watch().sink;
    put('a');
    await clock.advance(125_000);
    expect(asking.events).to.deep.equal(['ADDED a', 'BOOKMARK 1', 'BOOKMARK 1']);
    expect(silent.events).to.deep.equal(['ADDED a']);
  });

  it('has no timers without watches', async () => {
    const { watcher } = watch({ bookmarks: true });
    watcher.close();
    await clock.advance(60_000);
    expect(clock.pending).to.equal(0);
  });

  it('ends a watch at its timeout', async () => {
    const { sink } = watch({ timeoutMs: 1000 });
    await clock.advance(1000);
    expect(sink.isEnded).to.equal(true);
    expect(hub.size).to.equal(0);
  });

  it('ends a watch that is too slow, and leaves the others alone', async () => {
    const slow = watch().sink;
    const quick = watch().sink;
    slow.queued = 9 * 1024 * 1024;
    put('a');
    await settle();
    expect(slow.isEnded).to.equal(true);
    expect(slow.events).to.deep.equal([]);
    expect(quick.events).to.deep.equal(['ADDED a']);
  });

  it('does not treat many initial events as slowness', async () => {
    const { sink, watcher } = watch();
    const frame = Buffer.from(`{"type":"ADDED","object":{"metadata":{"name":"${'x'.repeat(1000)}"}}}\n`);
    watcher.begin([], () => Array.from({ length: 12_000 }, () => frame));
    await settle();
    sink.queued = 12_000 * frame.length;
    put('a');
    await settle();
    expect(sink.isEnded).to.equal(false);
    expect(sink.events.at(-1)).to.equal('ADDED a');
    sink.queued = 0;
    put('b');
    await settle();
    sink.queued = 9 * 1024 * 1024;
    put('c');
    await settle();
    expect(sink.isEnded).to.equal(true);
  });
});
