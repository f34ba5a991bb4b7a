/** Rows of the list on their way to the browser. */
import { expect } from 'chai';
import { receivedRow, sentRow } from '../../../src/cli/console/sent-row.ts';
import type { LandscapeRow } from '../../../src/cli/console/wire.ts';

describe('a row of the list', () => {
  const usual: LandscapeRow = {
    id: 'shop/web',
    namespace: 'shop',
    name: 'web',
    phase: 'Succeeded',
    condition: 'succeeded',
    marks: [],
    note: '',
    createdAt: 1,
    parts: 2,
    failed: 0,
    running: 0,
  };
  const unusual: LandscapeRow = {
    ...usual,
    marks: ['suspended'],
    note: 'why',
    failed: 1,
    running: 3,
    endedAt: 7,
  };

  it('is the same after its way to the browser', () => {
    for (const row of [usual, unusual]) expect(receivedRow(sentRow(row))).to.deep.equal(row);
  });

  it('is sent without what is usual', () => {
    const { id, phase, condition, createdAt, parts } = usual;
    expect(sentRow(usual)).to.deep.equal({ id, phase, condition, createdAt, parts });
  });
});
