import { expect } from 'chai';
import { aborted, onInterrupt, type Interruption } from '../../../../src/runtime/manager/signals.ts';
import { settle } from '../../../support/clock.ts';

describe('an interruption', () => {
  const names = ['SIGINT', 'SIGTERM'] as const;
  const exit = process.exit.bind(process);
  let exits: unknown[];
  let before: ReadonlyMap<(typeof names)[number], readonly NodeJS.SignalsListener[]>;
  let interruption: Interruption | undefined;
  beforeEach(() => {
    exits = [];
    before = new Map(names.map((name) => [name, process.listeners(name)]));
    process.exit = ((code: unknown) => exits.push(code)) as unknown as typeof process.exit;
  });
  afterEach(() => {
    interruption?.release();
    process.exit = exit;
  });
  /** The listeners that were added; others, such as those of the test runner, do not hear of the signal. */
  const added = (name: (typeof names)[number]): readonly NodeJS.SignalsListener[] =>
    process.listeners(name).filter((listener) => !before.get(name)?.includes(listener));
  const send = (name: (typeof names)[number]): void => {
    for (const listener of added(name)) listener(name);
  };

  for (const name of names)
    it(`by ${name} asks for an orderly end, once, and a second one ends the process with code 1`, () => {
      let asked = 0;
      interruption = onInterrupt(() => asked++);
      expect([asked, interruption.signal.aborted]).to.deep.equal([0, false]);
      send(name);
      expect([asked, interruption.signal.aborted, exits]).to.deep.equal([1, true, []]);
      expect(String(interruption.signal.reason)).to.equal('Error: interrupted');
      send(name);
      expect(exits).to.deep.equal([1]);
    });

  it('ends the process at once when two different signals arrive', () => {
    interruption = onInterrupt();
    send('SIGINT');
    send('SIGTERM');
    expect(exits).to.deep.equal([1]);
  });

  it('has its usual effect again after the release', () => {
    interruption = onInterrupt();
    expect(names.map((name) => added(name).length)).to.deep.equal([1, 1]);
    interruption.release();
    expect(names.map((name) => added(name).length)).to.deep.equal([0, 0]);
  });
});

describe('the wait for a signal', () => {
  const isOver = async (promise: Promise<void>): Promise<boolean> => {
    let over = false;
    void promise.then(() => (over = true));
    await settle();
    return over;
  };

  it('ends when the signal aborts', async () => {
    const controller = new AbortController();
    const wait = aborted(controller.signal);
    expect(await isOver(wait)).to.equal(false);
    controller.abort();
    expect(await isOver(wait)).to.equal(true);
  });

  it('is over at once when the signal has aborted already', async () => {
    expect(await isOver(aborted(AbortSignal.abort()))).to.equal(true);
  });
});
