import { expect } from 'chai';
import { ResponseTooLarge, TransportError } from '../../../../src/runtime/errors.ts';
import { decodeFrames } from '../../../../src/runtime/transport/frames.ts';
import { createResponses, type ResponseLimits } from '../../../../src/runtime/transport/responses.ts';
import { FakeClock } from '../../../support/clock.ts';

describe('the frames of a watch', () => {
  const limits: ResponseLimits = { ...createResponses().target, maxFrameBytes: 200, maxDepth: 5 };
  const ref = { verb: 'watch', kind: 'Thing' };
  const clock = new FakeClock();
  const decode = async (...chunks: readonly string[]): Promise<unknown[]> => {
    const body = (async function* () {
      for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
    })();
    const frames: unknown[] = [];
    for await (const frame of decodeFrames(body, { ref, server: 'https://api', limits, clock }))
      frames.push(frame);
    return frames;
  };
  const failure = (...chunks: readonly string[]): Promise<unknown> =>
    decode(...chunks).catch((error: unknown) => error);
  const added = (name: string): string => `{"type":"ADDED","object":{"metadata":{"name":"${name}"}}}`;
  const frame = (name: string): object => ({ type: 'ADDED', object: { metadata: { name } } });

  const rows: readonly (readonly [string, readonly string[], readonly object[]])[] = [
    ['nothing', [], []],
    ['one line', [`${added('a')}\n`], [frame('a')]],
    ['a line that ends with the body', [added('a')], [frame('a')]],
    ['two lines in a chunk', [`${added('a')}\n${added('b')}\n`], [frame('a'), frame('b')]],
    [
      'a line in three chunks',
      [added('a').slice(0, 5), added('a').slice(5, 20), `${added('a').slice(20)}\n${added('b')}\n`],
      [frame('a'), frame('b')],
    ],
    ['a line break in a chunk of its own', [added('a'), '\n', added('b'), '\n'], [frame('a'), frame('b')]],
    ['empty lines', [`\n\r\n${added('a')}\n\n`], [frame('a')]],
    ['lines with a carriage return', [`${added('a')}\r\n`], [frame('a')]],
  ];
  for (const [title, chunks, expected] of rows)
    it(`are read from ${title}`, async () => {
      expect(await decode(...chunks)).to.deep.equal(expected);
    });

  it('may be in a part of a larger buffer', async () => {
    const bytes = Buffer.from(`xx${added('a')}\nyy`).subarray(2, -2);
    const body = (async function* () {
      yield await Promise.resolve(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    })();
    const frames: unknown[] = [];
    for await (const each of decodeFrames(body, { ref, server: 'https://api', limits, clock }))
      frames.push(each);
    expect(frames).to.deep.equal([frame('a')]);
  });

  for (const [title, metadata, expected] of [
    ['with a version', { resourceVersion: '7' }, { resourceVersion: '7', initialEventsEnd: false }],
    ['without metadata', undefined, { resourceVersion: '', initialEventsEnd: false }],
    [
      'at the end of what was there',
      { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'true' } },
      { resourceVersion: '7', initialEventsEnd: true },
    ],
    [
      'with another annotation',
      { resourceVersion: '7', annotations: { 'k8s.io/initial-events-end': 'false' } },
      { resourceVersion: '7', initialEventsEnd: false },
    ],
  ] as const)
    it(`may be a bookmark ${title}`, async () => {
      const line = JSON.stringify({ type: 'BOOKMARK', object: { ...(metadata && { metadata }) } });
      expect(await decode(line)).to.deep.equal([{ type: 'BOOKMARK', ...expected }]);
    });

  it('may be an error, with its status', async () => {
    expect(await decode('{"type":"ERROR","object":{"code":410}}')).to.deep.equal([
      { type: 'ERROR', status: { code: 410 } },
    ]);
  });

  const broken: readonly (readonly [string, string, string, unknown])[] = [
    ['is cut off', '{"type":"ADD', 'a line was cut off', 'SyntaxError'],
    ['is a string', '"text"', 'a line is not a watch event', undefined],
    ['is null', 'null', 'a line is not a watch event', undefined],
    ['has no object', '{"type":"ADDED"}', 'a line is not a watch event', undefined],
    ['has null for an object', '{"type":"ADDED","object":null}', 'a line is not a watch event', undefined],
    ['has text for an object', '{"type":"ADDED","object":"x"}', 'a line is not a watch event', undefined],
    ['is of another type', '{"type":"WHAT","object":{}}', 'an event of unknown type WHAT', undefined],
  ];
  for (const [title, line, message, cause] of broken)
    it(`are refused when one ${title}, without what it holds`, async () => {
      const error = await failure(line);
      expect(error).to.be.instanceOf(TransportError).with.property('safeToRepeat', true);
      expect((error as Error).message).to.equal(`the answer to watch Thing is broken: ${message}`);
      expect((error as Error).cause).to.equal(cause);
    });

  describe('have limits', () => {
    const sized = (bytes: number): string => added('a'.repeat(bytes - added('').length));

    it('up to which they are read', async () => {
      expect(await decode(`${sized(200)}\n${sized(200)}\n`)).to.have.length(2);
      expect(await decode(sized(200).slice(0, 120), `${sized(200).slice(120)}\n`)).to.have.length(1);
    });

    for (const [title, chunks] of [
      ['a whole line', [`${sized(201)}\n`]],
      ['a line in pieces', [sized(201).slice(0, 120), `${sized(201).slice(120)}\n`]],
      ['a line that has not ended', [sized(200), 'x']],
    ] as const)
      it(`beyond which they are not: ${title}`, async () => {
        const error = await failure(...chunks);
        expect(error).to.be.instanceOf(ResponseTooLarge).with.property('excess', 'frame');
        expect(String(error)).to.contain('https://api answered the request to watch Thing with an event of');
      });

    it('which each line has for itself', async () => {
      const chunk = `${sized(120)}\n${sized(120).slice(0, 110)}`;
      expect(await decode(chunk, `${sized(120).slice(110)}\n`)).to.have.length(2);
    });

    it('in depth', async () => {
      const deep = (levels: number): string =>
        `{"type":"ADDED","object":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}}`;
      expect(await decode(deep(5))).to.have.length(1);
      expect(await failure(deep(6)))
        .to.be.instanceOf(ResponseTooLarge)
        .with.property('excess', 'depth');
    });
  });

  it('give way to others after 8 ms of work, and not before', async () => {
    let now = 0;
    const slow = Object.assign(new FakeClock(), { now: () => now });
    const body = (async function* () {
      yield await Promise.resolve(Buffer.from(`${added('a')}\n`.repeat(8)));
    })();
    const story: string[] = [];
    let others = 0;
    const frames = decodeFrames(body, { ref, server: 'https://api', limits, clock: slow });
    for await (const _ of frames) {
      now += 3;
      story.push(`${String(now)} ${String(others)}`);
      setImmediate(() => others++);
    }
    expect(story).to.deep.equal(['3 0', '6 0', '9 0', '12 3', '15 3', '18 3', '21 6', '24 6']);
  });
});
