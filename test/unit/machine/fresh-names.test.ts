import { expect } from 'chai';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { isBeingDeleted } from '../../../src/api/job.ts';
import { freshNames } from '../../../src/landscape/fresh-names.ts';
import { child, deleting, installation, running } from '../../support/given.ts';

const self = (job: string) => installation('stack', { status: running(job) });
const isReused = (other: { metadata: { deletionTimestamp?: string } }): boolean =>
  !isBeingDeleted(other.metadata);
const named = (name: string, meta: object = {}) => child('stack', 'a', {}, { name, ...meta });
const among =
  (...neighbours: Installation[]) =>
  (name: string): Installation | undefined =>
    neighbours.find(({ metadata }) => metadata.name === name);
const first = freshNames(self('j1'), among(), isReused);

describe('a fresh name', () => {
  it('is the same in every attempt of a job, and another one in the next job', () => {
    expect(freshNames(self('j1'), among(), isReused)('a-')).to.equal(first('a-'));
    expect(freshNames(self('j2'), among(), isReused)('a-')).not.to.equal(first('a-'));
    expect(first('a-')).to.match(/^a-[a-z0-9]{5}$/);
  });

  it('stays while objects of this job are kept', () => {
    expect(freshNames(self('j1'), among(named(first('a-'))), isReused)('a-')).to.equal(first('a-'));
  });

  it('changes if the name is still used by an object under deletion, and only then', () => {
    const next = freshNames(self('j1'), among(named(first('a-'), deleting)), isReused);
    expect(next('a-')).not.to.equal(first('a-'));
    expect(next('b-')).to.equal(first('b-'));
  });
});
