import { expect } from 'chai';
import { cachingInboundSource, inboundSource } from '../../../../src/runtime/sources/inbound.ts';
import { settle } from '../../../support/clock.ts';
import { createHost, objectOf, type TestHost } from '../support/source-host.ts';

describe('an inbound source', () => {
  let test: TestHost;
  let stop: AbortController;
  beforeEach(() => {
    test = createHost();
    stop = new AbortController();
  });

  it('raises an event for the primary that its caller names, while its controller runs', async () => {
    const source = inboundSource('hook');
    const attached = source.attach(test.host);
    source.emit('A/1');
    expect(test.taken()).to.deep.equal([]);
    await attached.start(stop.signal);
    source.emit('A/1');
    expect(test.taken()).to.deep.equal(['A/1: hook generic']);
    stop.abort(new Error('stop'));
    source.emit('A/1');
    expect(test.taken()).to.deep.equal([]);
    expect([source.name, source.stage, attached.of(objectOf('A/1'))]).to.deep.equal(['hook', 'normal', []]);
  });

  it('raises an event in each controller that it is attached to', async () => {
    const source = inboundSource('hook');
    const other = createHost();
    for (const { host } of [test, other]) await source.attach(host).start(stop.signal);
    source.emit('A/1');
    expect([test.taken(), other.taken()]).to.deep.equal([['A/1: hook generic'], ['A/1: hook generic']]);
  });
});

describe('an inbound source that caches what it receives', () => {
  interface Alarm {
    readonly id: string;
    readonly level: number;
  }
  const alarm = (id: string, level = 1): Alarm => ({ id, level });
  const primary = objectOf('A/1');
  let test: TestHost;
  let stop: AbortController;
  beforeEach(() => {
    test = createHost();
    stop = new AbortController();
  });
  const start = async (fetch?: () => Promise<readonly Alarm[]>) => {
    const source = cachingInboundSource<Alarm>({
      name: 'alarms',
      idOf: ({ id }) => id,
      ...(fetch && { fetch }),
    });
    const attached = source.attach(test.host);
    await attached.start(stop.signal);
    return { source, attached };
  };

  it('raises an event for news only', async () => {
    const { source, attached } = await start();
    source.push('A/1', alarm('a'));
    expect(test.taken()).to.deep.equal(['A/1: alarms generic']);
    source.push('A/1', alarm('a'));
    expect(test.taken()).to.deep.equal([]);
    source.push('A/1', alarm('b'));
    expect(test.taken()).to.deep.equal(['A/1: alarms generic']);
    expect([source.of(primary), attached.of(primary)]).to.deep.equal([
      [alarm('a'), alarm('b')],
      [alarm('a'), alarm('b')],
    ]);
    expect([source.name, source.stage]).to.deep.equal(['alarms', 'normal']);
  });

  it('raises an event when a value goes that was there', async () => {
    const { source } = await start();
    source.push('A/1', alarm('a'));
    source.push('A/1', alarm('b'));
    test.taken();
    source.remove('A/1', 'c');
    expect(test.taken()).to.deep.equal([]);
    source.remove('A/1', 'a');
    expect([test.taken(), source.of(primary)]).to.deep.equal([['A/1: alarms generic'], [alarm('b')]]);
    source.remove('A/1');
    expect([test.taken(), source.of(primary)]).to.deep.equal([['A/1: alarms generic'], []]);
  });

  it('raises none after its controller has stopped, and still takes note', async () => {
    const { source } = await start();
    stop.abort(new Error('stop'));
    source.push('A/1', alarm('a'));
    expect([test.taken(), source.of(primary)]).to.deep.equal([[], [alarm('a')]]);
  });

  it('asks when a primary is read of which nothing was pushed, once and without an event', async () => {
    let asked = 0;
    const { source } = await start(() => Promise.resolve([alarm('a', ++asked)]));
    expect([await source.load(primary), await source.load(primary)]).to.deep.equal([
      [alarm('a', 1)],
      [alarm('a', 1)],
    ]);
    expect([asked, test.taken()]).to.deep.equal([1, []]);
  });

  it('knows nothing of such a primary when it has no question', async () => {
    const { source } = await start();
    expect(await source.load(primary)).to.deep.equal([]);
  });

  it('prefers what was pushed while it asked', async () => {
    let answer: (alarms: readonly Alarm[]) => void = () => undefined;
    const { source } = await start(() => new Promise((resolve) => (answer = resolve)));
    const load = source.load(primary);
    await settle();
    source.push('A/1', alarm('a', 2));
    answer([alarm('a', 1)]);
    expect(await load).to.deep.equal([alarm('a', 2)]);
  });
});
