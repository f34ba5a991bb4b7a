import { expect } from 'chai';
import { eventReason } from '../../../src/machine/event-reason.ts';

describe('the reason of an event', () => {
  for (const [reason, expected] of [
    ['ImportsSatisfied', 'ImportsNotSatisfied'],
    ['children failed', 'ChildrenFailed'],
    ['handlePhaseProgressing', 'DeployItemsFailed'],
    ['installRelease', 'InstallFailed'],
    ['ApplyNewObject', 'ApplyNewObject'],
    ['not ready: 1/2', 'NotReady12'],
    ['helmFailed', 'HelmFailed'],
    ['toString', 'ToString'],
    ['', 'Failed'],
    ['–', 'Failed'],
  ] as const)
    it(`is ${expected} for ${JSON.stringify(reason)}`, () => {
      expect(eventReason(reason)).to.equal(expected);
    });

  it('is not longer than API servers allow', () => {
    expect(eventReason('a'.repeat(200))).to.have.length(128);
  });
});
