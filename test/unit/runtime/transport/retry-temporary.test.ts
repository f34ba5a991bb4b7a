import { expect } from 'chai';
import { apiErrorFrom, EspalierError, NotFound, TransportError } from '../../../../src/runtime/errors.ts';
import { retryTemporary } from '../../../../src/runtime/transport/retry-temporary.ts';
import { FakeClock } from '../../../support/clock.ts';
import { noChance } from '../support/world.ts';

describe('a request that is retried after temporary failures', () => {
  const ref = { verb: 'create', kind: 'Thing' };
  const busy = apiErrorFrom(503, {}, ref);

  /** Answers in turn; an error is thrown, and the last answer stays. */
  const asking = (...answers: readonly unknown[]) => {
    const clock = new FakeClock();
    const tries: number[] = [];
    const pauses: unknown[] = [];
    const ask = (): Promise<unknown> => {
      tries.push(clock.now());
      const answer = answers[Math.min(tries.length, answers.length) - 1];

      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    const run = async (signal?: AbortSignal): Promise<unknown> => {
      const outcome = retryTemporary(ask, {
        clock,
        rng: noChance,
        signal,
        onPause: (error, count, pauseMs) => pauses.push([error.message, count, pauseMs]),
        givenUp: (error, count) => new Error(`given up after ${String(count)}: ${error.message}`),
      }).catch((error: unknown) => error);
      await clock.advance(600_000);
      return outcome;
    };
    return { run, tries, pauses, clock };
  };

  it('is sent once when it succeeds', async () => {
    const { run, tries, pauses } = asking('done');
    expect([await run(), tries, pauses]).to.deep.equal(['done', [0], []]);
  });

  it('is sent again after a growing pause while the server is busy', async () => {
    const { run, tries, pauses } = asking(busy, busy, busy, 'done');
    expect([await run(), tries]).to.deep.equal(['done', [0, 200, 600, 1_400]]);
    expect(pauses).to.deep.equal([
      [busy.message, 1, 200],
      [busy.message, 2, 400],
      [busy.message, 3, 800],
    ]);
  });

  it('is given up after nine tries in about 20 s', async () => {
    const { run, tries } = asking(busy);
    expect(String(await run())).to.equal(`Error: given up after 9: ${busy.message}`);
    expect(tries).to.deep.equal([0, 200, 600, 1_400, 3_000, 6_200, 11_200, 16_200, 21_200]);
  });

  const asked = (seconds: number): Error => apiErrorFrom(429, {}, ref, seconds);
  for (const [title, error, pauseMs] of [
    ['the pause that the server asks for', asked(7), 7_000],
    ['its own pause when the server asks for less', asked(0), 200],
    ['30 s when the server asks for more', asked(3_600), 30_000],
    [
      'its own pause after a failure of the connection',
      new TransportError({ message: 'reset', safeToRepeat: true }),
      200,
    ],
  ] as const)
    it(`waits for ${title}`, async () => {
      const { run, tries } = asking(error, 'done');
      expect([await run(), tries]).to.deep.equal(['done', [0, pauseMs]]);
    });

  const rows: readonly (readonly [string, Error, boolean])[] = [
    ['a conflict', apiErrorFrom(409, {}, ref), true],
    ['an object that was created meanwhile', apiErrorFrom(409, { reason: 'AlreadyExists' }, ref), true],
    ['an answer from the past', apiErrorFrom(410, {}, ref), true],
    ['too many requests', apiErrorFrom(429, {}, ref), true],
    ['a failure of the server', busy, true],
    ['a lost connection', new TransportError({ message: 'reset', safeToRepeat: false }), true],
    ['a refusal', apiErrorFrom(403, {}, ref), false],
    ['an invalid object', apiErrorFrom(422, {}, ref), false],
    ['a missing object', new NotFound({ message: 'no', status: 404, reason: '', ref }), false],
    ['another error of ours', new EspalierError({ message: 'no' }), false],
    ['any other error', new Error('no'), false],
  ];
  for (const [title, error, isRepeated] of rows)
    it(`is ${isRepeated ? '' : 'not '}repeated after ${title}`, async () => {
      const { run, tries } = asking(error, 'done');
      expect(await run()).to.equal(isRepeated ? 'done' : error);
      expect(tries).to.have.length(isRepeated ? 2 : 1);
    });

  it('ends with the reason of its signal during a pause', async () => {
    const { run, tries, clock } = asking(busy);
    const stop = new AbortController();
    clock.at(100, () => {
      stop.abort(new Error('stopping'));
    });
    expect([String(await run(stop.signal)), tries]).to.deep.equal(['Error: stopping', [0]]);
  });
});
