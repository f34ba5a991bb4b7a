/** Watch: scenarios API-65 to API-82. */
import { expect } from 'chai';
import { FakeClock } from '../../support/clock.ts';
import { cm, widget, widgetCrd } from './fixtures.ts';
import { skipUnlessEmbedded, useSubject } from './subject.ts';
import type { Json, Watch, WatchEvent } from './subject.ts';
import { eventually, inTime } from '../../support/waiting.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('watch', () => {
  const s = useSubject();
  let ns: string;
  let cms: string;
  let open: Watch[];

  beforeEach(async () => {
    open = [];
    ns = await s.namespace();
    cms = `/api/v1/namespaces/${ns}/configmaps`;
  });
  afterEach(() => {
    for (const watch of open) watch.close();
  });

  const mine = (name: string, more: Json = {}): Json =>
    cm(name, { ...more, metadata: { ...more.metadata, labels: { mine: '', ...more.metadata?.labels } } });
  const make = async (name: string, more: Json = {}): Promise<Json> =>
    (await s.post(cms, mine(name, more))).body;
  const watch = async (query: string, options = {}): Promise<Watch> => {
    const opened = await s.watch(`${cms}?watch=true&${query}`, options);
    open.push(opened);
    return opened;
  };
  const rev = async (): Promise<string> => (await s.get(cms)).body.metadata.resourceVersion;
  const words = (events: readonly WatchEvent[]): string[] =>
    events.map((e) => `${e.type} ${e.object.metadata.name}`);

  it('API-65: create, update and delete are seen, and the deletion has a newer version', async () => {
    const stream = await watch(`resourceVersion=${await rev()}`);
    await make('a');
    await s.merge(`${cms}/a`, { data: { a: '2' } });
    await s.delete(`${cms}/a`);
    const events = await stream.take(3);
    expect(words(events)).to.deep.equal(['ADDED a', 'MODIFIED a', 'DELETED a']);
    const versions = events.map((e) => Number(e.object.metadata.resourceVersion));
    expect(versions[2]).to.be.greaterThan(versions[1] ?? Infinity);
    expect(events[2]?.object.data).to.deep.equal({ a: '2' });
  });

  it('API-66: the response starts before there is an event', async () => {
    // Without the head of the response, this would wait for the first event.
    const stream = await inTime('the response starts', watch(`resourceVersion=${await rev()}`));
    expect(stream.code).to.equal(200);
    await make('a');
    expect(words(await stream.take(1))).to.deep.equal(['ADDED a']);
  });

  for (const query of ['labelSelector=mine', 'labelSelector=mine&resourceVersion=0'])
    it(`API-67: ${query} starts with the existing objects`, async () => {
      await make('b');
      await make('a');
      await s.eventually(`${cms}?labelSelector=mine&resourceVersion=0`, (r) => r.body.items.length === 2);
      const stream = await watch(query);
      expect(words(await stream.take(2))).to.deep.equal(['ADDED a', 'ADDED b']);
    });

  it('API-68: a watch can start after its first event', async () => {
    const before = await rev();
    await make('a');
    await make('b');
    const first = await (await watch(`resourceVersion=${before}`)).next();
    const again = await watch(`resourceVersion=${String(first?.object.metadata.resourceVersion)}`);
    expect(words(await again.take(1))).to.deep.equal(['ADDED b']);
  });

  it('API-69: with a selector, changes become additions and deletions', async () => {
    await make('a', { metadata: { labels: { on: 'yes' } } });
    const stream = await watch(`resourceVersion=${await rev()}&labelSelector=on=yes`);
    const off = await s.merge(`${cms}/a`, { metadata: { labels: { on: 'no' } } });
    await s.merge(`${cms}/a`, { metadata: { labels: { on: 'yes' } } });
    const [gone, back] = await stream.take(2);
    expect(gone?.type).to.equal('DELETED');
    expect(gone?.object.metadata.labels.on).to.equal('yes');
    expect(gone?.object.metadata.resourceVersion).to.equal(off.body.metadata.resourceVersion);
    expect(back?.type).to.equal('ADDED');
  });

  it('API-70: a write that changes nothing is not an event', async () => {
    await make('a');
    const stream = await watch(`resourceVersion=${await rev()}`);
    await s.merge(`${cms}/a`, { data: { a: '1' } });
    await make('b');
    expect(words(await stream.take(1))).to.deep.equal(['ADDED b']);
  });

  it('API-71: the write that removes the last finalizer is not an event of its own', async () => {
    await make('a', { metadata: { finalizers: ['a.b/c'] } });
    const stream = await watch(`resourceVersion=${await rev()}`);
    await s.delete(`${cms}/a`);
    await s.merge(`${cms}/a`, { metadata: { finalizers: null }, data: { a: 'lost' } });
    const [marked, gone] = await stream.take(2);
    expect(marked?.type).to.equal('MODIFIED');
    expect(marked?.object.metadata.deletionTimestamp).to.be.a('string');
    expect(gone?.type).to.equal('DELETED');
    expect(gone?.object.metadata.finalizers).to.deep.equal(['a.b/c']);
    expect(gone?.object.data).to.deep.equal({ a: '1' });
  });

  for (const accept of ['application/json', TABLE])
    it(`API-72: a compacted revision is answered with one ERROR, also for ${accept === TABLE ? 'Tables' : 'objects'}`, async function () {
      skipUnlessEmbedded(this, s);
      const before = await rev();
      await make('a');
      await make('b');
      s.server.test.compact();
      const stream = await watch(`resourceVersion=${before}`, { accept });
      expect(stream.code).to.equal(200);
      const error = await stream.next();
      expect(error?.type).to.equal('ERROR');
      expect(error?.object).to.include({ kind: 'Status', code: 410, reason: 'Expired' });
      expect(error?.object.message).to.match(/^too old resource version: \d+ \(\d+\)$/);
      expect(await stream.ended()).to.equal(true);
    });

  it('API-73: timeoutSeconds ends the stream', async () => {
    const stream = await watch(`resourceVersion=${await rev()}&timeoutSeconds=1`);
    await stream.ended();
  });

  it('API-75: a streaming list ends its initial events with a bookmark', async () => {
    await make('a');
    await make('b');
    const stream = await watch(
      'labelSelector=mine&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    );
    const events = await stream.take(3);
    expect(events.map((e) => e.type)).to.deep.equal(['ADDED', 'ADDED', 'BOOKMARK']);
    expect(events[2]?.object.metadata.annotations).to.deep.equal({ 'k8s.io/initial-events-end': 'true' });
    await make('c');
    expect(words(await stream.take(1))).to.deep.equal(['ADDED c']);
  });

  for (const query of [
    'sendInitialEvents=true',
    'resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
  ])
    it(`API-76: ${query} is rejected`, async () => {
      expect((await s.get(`${cms}?watch=true&allowWatchBookmarks=true&${query}`)).code).to.equal(422);
    });

  it('API-77: a streaming list at a future revision is answered with one ERROR', async function () {
    this.timeout(20_000);
    const stream = await watch(
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=99999999',
    );
    const error = await stream.next();
    expect(error?.type).to.equal('ERROR');
    expect(error?.object.code).to.equal(504);
  });

  it('API-78: one object can be watched by name', async () => {
    const stream = await watch(`resourceVersion=${await rev()}&fieldSelector=metadata.name=b`);
    await make('a');
    await make('b');
    expect(words(await stream.take(1))).to.deep.equal(['ADDED b']);
  });

  it('API-79: a Table watch sends its columns once', async () => {
    const stream = await watch(`resourceVersion=${await rev()}`, { accept: TABLE });
    await make('a');
    await make('b');
    const [first, second] = await stream.take(2);
    expect(first?.object.columnDefinitions).to.have.length(3);
    expect(first?.object.rows).to.have.length(1);
    expect(second?.object.columnDefinitions).to.equal(null);
  });

  it('API-80: all watchers see the same order', async function () {
    this.timeout(60_000);
    const before = await rev();
    const count = s.isGenuine ? 20 : 100;
    const streams = await Promise.all(
      Array.from({ length: count }, () => watch(`resourceVersion=${before}`)),
    );
    const names = Array.from({ length: 100 }, (_, i) => `n${i}`);
    // A kube-apiserver disconnects watchers that are slow, which all of them are on a busy machine.
    if (s.isGenuine) for (const name of names) await make(name);
    else await Promise.all(names.map((name) => make(name)));
    const orders = await Promise.all(streams.map(async (stream) => words(await stream.take(100)).join()));
    expect(new Set(orders).size).to.equal(1);
    expect(orders[0]?.split(',')).to.have.length(100);
  });

  it('API-82: a client that stops reading is disconnected, and others are not', async function () {
    skipUnlessEmbedded(this, s);
    this.timeout(60_000);
    await make('big');
    const query = `watch=true&resourceVersion=${await rev()}`;
    const stalled = await s.stalledWatch(`${cms}?${query}`);
    const attentive = await watch(query);
    const watchers = s.server.test.watchers;
    // More than the queue of the server and the sockets hold together.
    let events = 0;
    for (; events < 80 && s.server.test.watchers === watchers; events++) {
      await s.merge(`${cms}/big`, { data: { a: `${String(events)} `.padEnd(900_000, 'x') } });
      expect((await attentive.next())?.type).to.equal('MODIFIED');
    }
    expect(s.server.test.watchers).to.equal(watchers - 1);
    let received = '';
    stalled.setEncoding('utf8').on('data', (text: string) => (received += text));
    await new Promise((resolve) => stalled.once('end', resolve));
    // Everything sent before is complete: the stream ends between two events, and never skips one.
    const seen = received.split('\n').filter(Boolean);
    expect(seen.length).to.be.within(1, events - 1);
    const numbers = seen.map((line) => parseInt((JSON.parse(line) as WatchEvent).object.data.a));
    expect(numbers).to.deep.equal(numbers.map((_, i) => i));
    await make('after');
    expect(words(await attentive.take(1))).to.deep.equal(['ADDED after']);
  });

  const reopen = async (path: string): Promise<Watch> => {
    const list = await s.get(path);
    const stream = await s.watch(`${path}?watch=true&resourceVersion=${list.body.metadata.resourceVersion}`);
    open.push(stream);
    return stream;
  };

  it('API-81: watches of a custom kind end with its definition, after the deletion of its instances', async function () {
    this.timeout(60_000);
    const group = 's81.example.com';
    await s.post(CRDS, widgetCrd(group));
    const path = `/apis/${group}/v1/namespaces/${ns}/widgets`;
    const made = await s.eventuallyPost(path, widget(group, 'w'));
    const stream = await s.watch(`${path}?watch=true&resourceVersion=${made.body.metadata.resourceVersion}`);
    open.push(stream);
    await s.merge(`${CRDS}/widgets.${group}`, {
      spec: { versions: [{ ...widgetCrd(group).spec.versions[0], additionalPrinterColumns: [] }] },
    });
    await stream.ended();
    // A kube-apiserver may need a moment to settle on the new definition, and end watches again meanwhile.
    let next = await reopen(path);
    let quietLooks = 0;
    await eventually('the watch stays open', async () => {
      if (!next.hasEnded) return ++quietLooks > (s.isGenuine ? 100 : 3);
      quietLooks = 0;
      next = await reopen(path);
      return false;
    });
    await s.delete(`${CRDS}/widgets.${group}`);
    let event = await next.next();
    while (event && event.type !== 'DELETED') event = await next.next();
    expect(event?.object.metadata.name).to.equal('w');
    await next.ended();
  });
});

describe('an idle watch', function () {
  this.timeout(120_000);
  const clock = new FakeClock();
  const s = useSubject({ clock });
  const IDLE_MS = 70_000;

  it('API-74: sends a bookmark to clients that request it, and nothing to others', async function () {
    this.timeout(2 * IDLE_MS);
    const ns = await s.namespace();
    const path = `/api/v1/namespaces/${ns}/secrets`;
    const start = String((await s.get(path)).body.metadata.resourceVersion);
    const query = `watch=true&resourceVersion=${start}`;
    const asking = await s.watch(`${path}?${query}&allowWatchBookmarks=true`);
    const silent = await s.watch(`${path}?${query}`);
    // A kube-apiserver sends none without news, so the kind changes elsewhere.
    const elsewhere = `/api/v1/namespaces/${await s.namespace()}/secrets`;
    const { metadata } = (await s.post(elsewhere, { metadata: { name: 'a' } })).body;
    if (!s.isGenuine) await clock.advance(IDLE_MS);
    const bookmark = await asking.next(2 * IDLE_MS);
    expect(bookmark?.type).to.equal('BOOKMARK');
    expect(bookmark?.object).to.include({ kind: 'Secret', apiVersion: 'v1' });
    expect(Number(bookmark?.object.metadata.resourceVersion)).to.be.at.least(
      Number(metadata.resourceVersion),
    );
    await s.post(path, { metadata: { name: 'a' } });
    const [first] = await silent.take(1);
    expect([first?.type, first?.object.metadata.name]).to.deep.equal(['ADDED', 'a']);
    asking.close();
    silent.close();
  });
});
