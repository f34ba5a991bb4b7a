import { expect } from 'chai';
import { FairQueue } from '../../../../src/templating/worker/fair-queue.ts';
import { FakeClock } from '../../../support/clock.ts';

interface Work {
  readonly namespace: string;
  readonly name: string;
}

/** The limits of the queue. */
const BURST_MS = 5_000;
const REFILL = 0.1;
const PARDON_MS = 600_000;

/** A queue with workers that end their work only when a test says so. */
class Bench {
  readonly clock = new FakeClock();
  readonly #queue: FairQueue<Work>;
  readonly #running: Work[] = [];

  constructor(size: number) {
    this.#queue = new FairQueue(size);
  }

  /** Work such as `a1`: the first letter is the namespace. */
  add(...names: readonly string[]): this {
    for (const name of names) this.#queue.add({ namespace: name.charAt(0), name }, this.clock.now());
    return this;
  }

  /** Gives work to all free workers. @returns the started work */
  start(): readonly string[] {
    const started: string[] = [];
    for (let work = this.#queue.take(this.clock.now()); work; work = this.#queue.take(this.clock.now())) {
      this.#running.push(work);
      started.push(work.name);
    }
    return started;
  }

  end(name: string, cpuMs = 1, isStopped = false): this {
    const at = this.#running.findIndex((work) => work.name === name);
    const [work] = this.#running.splice(at, 1);
    if (at < 0 || !work) throw new Error(`${name} is not running`);
    this.#queue.done(work.namespace, { cpuMs, isStopped }, this.clock.now());
    return this;
  }

  /** Ends running work and starts the next, until nothing is left. @returns the order of the starts */
  all(cpuMs = 1): readonly string[] {
    const order: string[] = [];
    for (let started = this.start(); started.length > 0; started = this.start()) {
      order.push(...started);
      for (const { name } of [...this.#running]) this.end(name, cpuMs);
    }
    return order;
  }
}

const many = (namespace: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${namespace}${String(i + 1)}`);

describe('the order in which namespaces are served', () => {
  const rows: readonly [string, number, readonly string[], string][] = [
    ['takes the work of one namespace in order', 1, ['a1', 'a2', 'a3'], 'a1 a2 a3'],
    ['alternates between namespaces', 1, ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'], 'a1 b1 c1 a2 b2 a3'],
    ['uses all workers for several namespaces', 2, ['a1', 'a2', 'b1', 'b2'], 'a1 b1 a2 b2'],
    ['reserves one worker for others', 3, many('a', 4), 'a1 a2 a3 a4'],
  ];
  for (const [title, size, names, wanted] of rows) {
    it(title, () => {
      expect(
        new Bench(size)
          .add(...names)
          .all()
          .join(' '),
      ).to.equal(wanted);
    });
  }

  it('gives one namespace all workers but one, and the only one', () => {
    expect(new Bench(3).add(...many('a', 9)).start()).to.deep.equal(['a1', 'a2']);
    expect(new Bench(2).add(...many('a', 9)).start()).to.deep.equal(['a1']);
    expect(new Bench(1).add(...many('a', 9)).start()).to.deep.equal(['a1']);
  });

  for (const size of [1, 2, 4]) {
    it(`never delays a namespace by more than one of a thousand tasks on ${String(size)} workers`, () => {
      const b = new Bench(size).add(...many('a', 1000));
      const [first = ''] = b.start();
      b.add('b1');
      const served = size === 1 ? b.end(first).start() : b.start();
      expect(served).to.deep.equal(['b1']);
    });
  }

  it('does not let a new namespace catch up on earlier work of others', () => {
    const b = new Bench(1).add(...many('a', 3));
    b.start();
    b.add('b1', 'b2', 'b3').end('a1');
    expect(b.all()).to.deep.equal(['b1', 'a2', 'b2', 'a3', 'b3']);
  });
});

describe('the budget of a namespace', () => {
  const used = (size = 1): Bench => {
    const b = new Bench(size).add('a1');
    b.start();
    return b.end('a1', BURST_MS);
  };

  it('is yielded to others when it is used up, however much they have', () => {
    expect(
      used()
        .add('a2', 'a3', ...many('b', 3))
        .all()
        .join(' '),
    ).to.equal('b1 b2 b3 a2 a3');
  });

  it('is no limit if no other namespace waits', () => {
    expect(used().add('a2', 'a3').all(500)).to.deep.equal(['a2', 'a3']);
  });

  it('reserves the last free worker for others when it is used up', () => {
    const b = used(2);
    b.add('c1').start();
    b.add('a2');
    expect(b.start()).to.deep.equal([]);
    expect(b.add('d1').start()).to.deep.equal(['d1']);
    expect(b.end('c1').start(), 'd1 has one worker, and nobody else waits').to.deep.equal([]);
    expect(b.end('d1').start()).to.deep.equal(['a2']);
  });

  it('is refilled as time passes', async () => {
    const b = used();
    await b.clock.advance(10);
    expect(b.add('a2', 'b1').all()).to.deep.equal(['b1', 'a2']);
  });

  it('has limited debt', async () => {
    const b = new Bench(1).add('a1');
    b.start();
    b.end('a1', 1_000_000);
    await b.clock.advance(BURST_MS / REFILL - 1);
    expect(b.add('a2', 'b1').all()).to.deep.equal(['b1', 'a2']);
    await b.clock.advance(10_000);
    expect(b.add('b2').all()).to.deep.equal(['b2']);
    expect(b.add('b3', 'a3').all(), 'a was served longest ago').to.deep.equal(['a3', 'b3']);
  });
});

describe('a namespace whose work was stopped', () => {
  const offender = (stops: number): Bench => {
    const b = new Bench(1);
    for (const name of many('a', stops)) {
      b.add(name).start();
      b.end(name, 1, true);
    }
    return b;
  };

  it('once is served like others', () => {
    const b = offender(1).add('b1');
    b.all();
    expect(b.add('b2', 'a2').all(), 'a was served longest ago').to.deep.equal(['a2', 'b2']);
  });

  it('repeatedly comes after those whose budget is used up', () => {
    const b = offender(2).add('c1');
    b.start();
    b.end('c1', BURST_MS);
    expect(b.add('a8', 'c2', 'b1', 'c3').all()).to.deep.equal(['b1', 'c2', 'c3', 'a8']);
  });

  it('is served like others after it was idle for a while', async () => {
    const b = offender(2);
    await b.clock.advance(PARDON_MS - 1);
    expect(b.add('a7', 'b1', 'b2').all()).to.deep.equal(['b1', 'b2', 'a7']);
    await b.clock.advance(1);
    expect(b.add('a8', 'b3', 'b4').all()).to.deep.equal(['b3', 'a8', 'b4']);
  });
});
