import { expect } from 'chai';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import {
  createRecorder,
  eventKind,
  type CoreEvent,
  type Recorder,
} from '../../../src/runtime/controller/recorder.ts';
import type { EventOptions, Obj } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster } from './support/fake-cluster.ts';

describe('the event recorder', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  let recorder: Recorder;
  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster();
    recorder = createRecorder({
      client: cluster,
      clock,
      rng: seededRng(1),
      log: silentLogger,
      fence: () => undefined,
      identity: 'pod-0',
    });
  });

  const about = (name = 'w', uid = 'u1'): Obj => ({
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { namespace: 'A', name, uid },
  });
  const say = async (note: string, regarding = about(), options: EventOptions = {}): Promise<void> => {
    const facts = { regarding, component: 'widgets', type: 'Normal', reason: 'Progress', note } as const;
    recorder.record({ ...facts, ...options });
    await settle(3);
  };
  const events = (): CoreEvent[] =>
    cluster.requests
      .filter(({ verb }) => verb === 'create')
      .map(({ key }) => cluster.read(eventKind, key))
      .filter((event) => event !== undefined);

  it('writes the fields that kubectl shows', async () => {
    await say('half way');
    const [event] = events();
    expect(event).to.deep.include({
      apiVersion: 'v1',
      kind: 'Event',
      reason: 'Progress',
      message: 'half way',
      type: 'Normal',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'widgets' },
      reportingComponent: 'widgets',
      reportingInstance: 'pod-0',
    });
    expect(event?.involvedObject).to.deep.include({ kind: 'Widget', namespace: 'A', name: 'w', uid: 'u1' });
    expect(event?.metadata.namespace).to.equal('A');
  });

  it('writes events of cluster-scoped objects into the default namespace', async () => {
    await say('hello', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    expect(events()[0]?.metadata.namespace).to.equal('default');
  });

  it('RUN-125: keeps one Event for the same event 40 times in a minute, with at most 25 requests', async () => {
    for (let i = 0; i < 40; i++) {
      await say('again');
      await clock.advance(1_500);
    }
    expect(events()).to.have.length(1);
    expect(cluster.requests.length).to.be.within(2, 25);
    await clock.advance(300_000);
    await say('again');
    expect(events()[0]).to.deep.include({ count: 41, lastTimestamp: '2026-01-01T00:06:00Z' });
  });

  it('RUN-125: aggregates from the eleventh of 15 different messages with one reason', async () => {
    for (let i = 1; i <= 15; i++) await say(`note ${String(i)}`);
    expect(events()).to.have.length(11);
    expect(events().at(-1)).to.deep.include({ count: 5, message: '(combined from similar events): note 15' });
  });

  it('separates similar events again after ten minutes', async () => {
    for (let i = 1; i <= 11; i++) await say(`note ${String(i)}`);
    await clock.advance(600_000);
    await say('note 99');
    expect(events().at(-1)?.message).to.equal('note 99');
  });

  it('counts events recorded at once in a single request', async () => {
    const facts = { regarding: about(), component: 'c', type: 'Warning', reason: 'R', note: 'n' } as const;
    for (let i = 0; i < 5; i++) recorder.record(facts);
    await recorder.flush();
    expect(cluster.requests).to.have.length(1);
    expect(events()[0]?.count).to.equal(5);
  });

  it('limits one object without affecting another', async () => {
    for (let i = 0; i < 40; i++) await say('again');
    const before = cluster.requests.length;
    expect(before).to.equal(25);
    await say('me too', about('v', 'u2'));
    expect(cluster.requests).to.have.length(before + 1);
  });

  it('keeps one Event with the last note, on request', async () => {
    for (let i = 1; i <= 15; i++) await say(`${String(i)} of 15`, about(), { keepsLast: true });
    await say('other');
    expect(events().map(({ message, count }) => [message, count])).to.deep.equal([
      ['15 of 15', 15],
      ['other', 1],
    ]);
  });

  it('gives an Event the requested name, also if a previous process has created it', async () => {
    await say('one', about(), { name: 'w-report' });
    recorder = createRecorder({
      client: cluster,
      clock,
      rng: seededRng(2),
      log: silentLogger,
      fence: () => undefined,
      identity: 'pod-1',
    });
    await say('two', about(), { name: 'w-report' });
    expect(cluster.read(eventKind, 'A/w-report')?.message).to.equal('two');
  });

  it('lets the object own its Event, on request', async () => {
    await say('one', about(), { isOwned: true });
    const owner = { apiVersion: 'example.io/v1', kind: 'Widget', name: 'w', uid: 'u1' };
    expect(events()[0]?.metadata.ownerReferences).to.deep.equal([owner]);
  });

  it('recreates an Event if the server has deleted it', async () => {
    await say('again');
    cluster.remove(eventKind, cluster.requests[0]?.key ?? '');
    await say('again');
    expect(events()).to.have.length(1);
    expect(events()[0]?.count).to.equal(2);
  });

  it('retries a few times if the server fails, and then gives up silently', async () => {
    let failures = 2;
    cluster.fault = () =>
      failures-- > 0 ? apiErrorFrom(503, {}, { verb: 'create', kind: 'Event' }) : undefined;
    await say('one');
    expect(events()).to.have.length(1);
    failures = 99;
    await say('two');
    expect(events()).to.have.length(1);
    failures = 0;
    await say('three');
    expect(events()).to.have.length(2);
  });

  it('reports once that it drops events, and how many when it has sent the others', async () => {
    const lines: string[] = [];
    const log = {
      ...silentLogger,
      warn: (fields: object, message: string) => lines.push(`${message} ${JSON.stringify(fields)}`),
    };
    const ports = { client: cluster, clock, rng: seededRng(1), identity: 'pod-0', fence: () => undefined };
    recorder = createRecorder({ ...ports, log });
    for (const rest of [7, 2]) {
      for (let i = 0; i < 1_000 + rest; i++)
        recorder.record({
          regarding: about(`w-${String(rest)}-${String(i)}`, `u-${String(rest)}-${String(i)}`),
          component: 'widgets',
          type: 'Normal',
          reason: 'Progress',
          note: 'x',
        });
      await recorder.flush();
    }
    expect(lines.map((line) => line.slice(line.indexOf('{')))).to.deep.equal([
      '{"reason":"Progress","limit":1000}',
      '{"dropped":7}',
      '{"reason":"Progress","limit":1000}',
      '{"dropped":2}',
    ]);
  });

  it('shortens fields that are too long for the server', async () => {
    await say('x'.repeat(5_000));
    expect(events()[0]?.message).to.have.length(1_024);
  });

  it('sends nothing after it has lost the lease', async () => {
    recorder = createRecorder({
      client: cluster,
      clock,
      rng: seededRng(1),
      log: silentLogger,
      identity: 'pod-0',
      fence: () => {
        throw new Error('no');
      },
    });
    await say('hello');
    expect(cluster.requests).to.deep.equal([]);
  });
});
