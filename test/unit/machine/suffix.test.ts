import { expect } from 'chai';
import { isBeingDeleted } from '../../../src/api/job.ts';
import { suffixFor } from '../../../src/machine/suffix.ts';
import { child, deleting, installation, running } from '../../support/given.ts';

const self = (job: string) => installation('stack', { status: running(job) });
const isReused = (other: { metadata: { deletionTimestamp?: string } }): boolean =>
  !isBeingDeleted(other.metadata);
const named = (suffix: string, meta: object = {}) =>
  child('stack', 'a', {}, { name: `a-${suffix}`, ...meta });

describe('the last part of a name', () => {
  it('is the same in every attempt of a job, and another one in the next job', () => {
    expect(suffixFor(self('j1'), [], isReused)).to.equal(suffixFor(self('j1'), [], isReused));
    expect(suffixFor(self('j1'), [], isReused)).not.to.equal(suffixFor(self('j2'), [], isReused));
    expect(suffixFor(self('j1'), [], isReused)).to.match(/^[a-z0-9]{5}$/);
  });

  it('stays while objects of this job are kept', () => {
    const suffix = suffixFor(self('j1'), [], isReused);
    expect(suffixFor(self('j1'), [named(suffix)], isReused)).to.equal(suffix);
  });

  it('is another one when a name is still held by somebody who goes', () => {
    const suffix = suffixFor(self('j1'), [], isReused);
    expect(suffixFor(self('j1'), [named(suffix, deleting)], isReused)).not.to.equal(suffix);
  });
});
