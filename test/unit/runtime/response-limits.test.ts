import { expect } from 'chai';
import { ResponseTooLarge } from '../../../src/runtime/errors.ts';
import { createResponses, tooLarge, type ResponseExcess } from '../../../src/runtime/transport/responses.ts';

const MIB = 2 ** 20;

describe('the limits of responses', () => {
  it('are those in docs/configuration.md, unless they are set', () => {
    const { host, target, downloads } = createResponses();
    const { budget: hostBudget, turns: hostTurns, ...hostLimits } = host;
    const { budget: targetBudget, turns: targetTurns, ...targetLimits } = target;
    expect(hostLimits).to.deep.equal({
      of: 'host',
      maxBytes: 64 * MIB,
      maxFrameBytes: 16 * MIB,
      maxListBytes: Infinity,
      maxDepth: 10_000,
      maxElements: 2 * MIB,
      maxPageElements: MIB / 2,
    });
    expect(targetLimits).to.deep.equal({
      of: 'target',
      maxBytes: 16 * MIB,
      maxFrameBytes: 4 * MIB,
      maxListBytes: 32 * MIB,
      maxDepth: 500,
      maxElements: MIB / 8,
      maxPageElements: MIB / 8,
    });
    expect([hostBudget, targetBudget, downloads.budget].map(({ total }) => total)).to.deep.equal([
      128 * MIB,
      64 * MIB,
      128 * MIB,
    ]);
    expect(downloads.maxBytes).to.equal(64 * MIB);
    expect([hostTurns === undefined, targetTurns === undefined], 'parsed in turns').to.deep.equal([
      true,
      false,
    ]);
  });

  it('never allow more values in a page than in a response', () => {
    const { host } = createResponses({ hostResponseMiB: 8 });
    expect([host.maxElements, host.maxPageElements]).to.deep.equal([MIB / 4, MIB / 4]);
  });
});

describe('the error of a response beyond the limits', () => {
  const { host, target } = createResponses();
  type Row = readonly [ResponseExcess, boolean, string, string];
  const rows: readonly Row[] = [
    ['bytes', false, 'more than 64 MiB', 'more than 16 MiB'],
    ['frame', false, 'an event of more than 16 MiB', 'an event of more than 4 MiB'],
    ['list', false, 'lists of more than ', 'lists of more than 32 MiB'],
    ['elements', false, 'more than 2097152 values', 'more than 131072 values'],
    ['elements', true, 'more than 524288 values', 'more than 131072 values'],
    ['depth', false, 'data nested more than 10000 levels', 'data nested more than 500 levels'],
  ];
  for (const [excess, isPage, ofHost, ofTarget] of rows)
    it(`names the limit and its configuration key: ${excess}${isPage ? ' of a page' : ''}`, () => {
      const [a, b] = [host, target].map((limits) =>
        tooLarge(excess, limits, 'https://s', 'get Thing', isPage),
      );
      expect(a?.message).to.contain(`https://s answered the request to get Thing with ${ofHost}`);
      expect(a?.message).to.contain('the limit for the host cluster');
      expect(b?.message).to.contain(ofTarget).and.contain('the limit for a target cluster');
      const ways = [a, b].map(
        (error) => /; (limits\.\w+) in the configuration/.exec(error?.message ?? '')?.[1],
      );
      expect(ways).to.deep.equal(
        excess === 'depth'
          ? [undefined, 'limits.targetResponseDepth']
          : ['limits.hostResponseMiB', 'limits.targetResponseMiB'],
      );
      expect([a, b].map((error) => [error?.excess, error?.isFinal()])).to.deep.equal([
        [excess, false],
        [excess, true],
      ]);
      expect(ResponseTooLarge.in(a)).to.equal(a);
    });
});
