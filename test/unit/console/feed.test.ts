import { expect } from 'chai';
import { createFeed, type Topic } from '../../../src/cli/console/feed.ts';
import { modelOf } from '../../../src/cli/console/model.ts';
import type { LandscapeRow, Changes, Snapshot } from '../../../src/cli/console/wire.ts';
import type { Collected } from '../../../src/cli/tree/collect.ts';
import { FakeClock } from '../../support/clock.ts';
import { collected, installation } from '../cli/given.ts';

const ALL: Topic = { kind: 'landscapes' };

function feedOf(first: Collected) {
  const clock = new FakeClock();
  let objects = first;
  let reads = 0;
  let problem = '';
  const model = modelOf(
    () => {
      reads++;
      return objects;
    },
    () => problem,
  );
  const feed = createFeed(model, clock);
  return {
    feed,
    clock,
    reads: () => reads,
    change(next: Collected) {
      objects = next;
      model.changed();
    },
    fail(text: string) {
      problem = text;
    },
    view(topic: Topic = ALL) {
      const events: (readonly [string, unknown])[] = [];
      const close = feed.open(topic, (event, json) => events.push([event, JSON.parse(json)]));
      const of = <T>(name: string): T[] =>
        events.flatMap(([event, data]) => (event === name ? [data as T] : []));
      return {
        close,
        items: () => of<Snapshot<LandscapeRow>>('items'),
        snapshots: () => of<Snapshot<LandscapeRow>>('snapshot'),
        changes: () => of<Changes<LandscapeRow>>('change'),
        health: () => of<{ problem: string }>('health'),
      };
    },
  };
}

const a = (phase: string) => installation('a', { phase });
const b = (phase: string) => installation('b', { phase });

describe('the feed of the console', () => {
  it('sends a snapshot, then only the items that differ', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Progressing'), b('Succeeded')));
    const viewer = view();
    expect(viewer.snapshots()[0]?.items.map(({ id }) => id)).to.deep.equal(['proj/a', 'proj/b']);
    change(collected(a('Succeeded'), b('Succeeded')));
    await clock.advance(1000);
    expect(viewer.changes()).to.have.length(1);
    expect(viewer.changes()[0]?.set.map(({ id, phase }) => `${id} ${phase}`)).to.deep.equal([
      'proj/a Succeeded',
    ]);
    feed.close();
  });

  it('sends many items as several events, so that none of them blocks the page', async () => {
    const many = (phase: string) =>
      collected(...Array.from({ length: 1_200 }, (_, i) => installation(`root-${i}`, { phase })));
    const { feed, view, change, clock } = feedOf(many('Init'));
    const viewer = view();
    const sizes = () => viewer.items().map(({ items }) => items.length);
    expect(sizes()).to.deep.equal([500, 500]);
    expect(viewer.snapshots()[0]?.items).to.have.length(200);
    change(many('Succeeded'));
    await clock.advance(1000);
    expect(sizes()).to.deep.equal([500, 500, 500, 500]);
    expect(viewer.changes()[0]?.set).to.have.length(200);
    const ids = viewer.items().flatMap(({ items }) => items.map(({ id }) => id));
    expect(new Set(ids).size).to.equal(1_000);
    feed.close();
  });

  it('sends the ids of deleted items', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Succeeded'), b('Succeeded')));
    const viewer = view();
    change(collected(b('Succeeded')));
    await clock.advance(1000);
    expect(viewer.changes()).to.deep.equal([{ set: [], gone: ['proj/a'] }]);
    feed.close();
  });

  it('sends nothing if no visible item changed', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Succeeded')));
    const viewer = view();
    change(collected(a('Succeeded')));
    await clock.advance(1000);
    expect(viewer.changes()).to.deep.equal([]);
    feed.close();
  });

  it('sends many changes within a moment together', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Init')));
    const viewer = view();
    change(collected(a('Progressing')));
    await clock.advance(1);
    for (const phase of ['Completing', 'Init', 'Succeeded']) change(collected(a(phase)));
    await clock.advance(1000);
    expect(viewer.changes().map(({ set }) => set[0]?.phase)).to.deep.equal(['Progressing', 'Succeeded']);
    feed.close();
  });

  it('sends a change 150 ms after another one, so that it is on the screen within 300 ms', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Init')));
    const viewer = view();
    change(collected(a('Progressing')));
    await clock.advance(0);
    change(collected(a('Succeeded')));
    await clock.advance(149);
    expect(viewer.changes()).to.have.length(1);
    await clock.advance(1);
    expect(viewer.changes()).to.have.length(2);
    feed.close();
  });

  it('computes the state before the first viewer arrives', () => {
    const { feed, view, reads } = feedOf(collected(a('Init')));
    expect(reads()).to.equal(1);
    view();
    expect(reads()).to.equal(1);
    feed.close();
  });

  it('computes the state once for all viewers of a topic', async () => {
    const { feed, view, change, clock, reads } = feedOf(collected(a('Init')));
    const viewers = [view(), view(), view()];
    const before = reads();
    change(collected(a('Succeeded')));
    await clock.advance(1000);
    expect(reads() - before).to.equal(1);
    for (const viewer of viewers) expect(viewer.changes()).to.have.length(1);
    feed.close();
  });

  it('brings a new viewer and the others to the same state', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Init')));
    const first = view();
    change(collected(a('Succeeded')));
    const second = view();
    await clock.advance(1000);
    expect(second.snapshots()[0]?.items[0]?.phase).to.equal('Succeeded');
    expect(first.changes().map(({ set }) => set[0]?.phase)).to.deep.equal(['Succeeded']);
    expect(second.changes()).to.deep.equal([]);
    feed.close();
  });

  it('does nothing without viewers', async () => {
    const { feed, view, change, clock, reads } = feedOf(collected(a('Init')));
    view().close();
    const before = reads();
    change(collected(a('Succeeded')));
    await clock.advance(1000);
    expect(reads()).to.equal(before);
    feed.close();
  });

  it('empties the tree of a landscape that is deleted', async () => {
    const { feed, view, change, clock } = feedOf(collected(a('Succeeded')));
    const viewer = view({ kind: 'landscape', namespace: 'proj', name: 'a' });
    change(collected());
    await clock.advance(1000);
    expect(viewer.changes()).to.deep.equal([{ set: [], gone: ['Installation/proj/a'] }]);
    feed.close();
  });

  it('reports regularly whether the API server is reachable', async () => {
    const { feed, view, clock, fail } = feedOf(collected());
    const viewer = view();
    fail('connection refused');
    await clock.advance(5000);
    expect(viewer.health()).to.deep.equal([{ problem: '' }, { problem: 'connection refused' }]);
    feed.close();
    expect(clock.pending).to.equal(0);
  });
});
