import { expect } from 'chai';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { API_VERSION, FINALIZER } from '../../../src/api/labels.ts';
import { isAbandoned, releaseObject } from '../../../src/landscape/abandoned.ts';
import type { World } from '../../../src/landscape/world.ts';
import { deleting, execution, installation, running } from '../../support/given.ts';

const owner = (name: string, uid: string, kind = 'Installation') => ({
  apiVersion: API_VERSION,
  kind,
  name,
  uid,
  controller: true,
});
const byParent = { ...deleting, ownerReferences: [owner('web', 'uid-web')] };

describe('an object whose parent may be gone', () => {
  const rows: readonly (readonly [string, Parameters<typeof execution>[1], readonly string[], boolean])[] = [
    ['is abandoned if it never had a job and its parent is gone', { meta: byParent }, [], true],
    ['is abandoned if its parent is another object of that name', { meta: byParent }, ['uid-other'], true],
    ['is not abandoned while its parent exists', { meta: byParent }, ['uid-web'], false],
    ['is not abandoned while its parent exists besides another owner', { meta: { ...byParent, ownerReferences: [owner('x', 'uid-x', 'Other'), ...byParent.ownerReferences] } }, ['uid-web'], false],
    ['is not abandoned if it has had a job', { meta: byParent, status: running('j1') }, [], false],
    ['is not abandoned if it has already lost our finalizer', { meta: { ...byParent, finalizers: [] } }, [], false],
    ['is not abandoned if it never had a parent', { meta: deleting }, [], false],
    ['is not abandoned if its owners are of other kinds', { meta: { ...deleting, ownerReferences: [owner('x', 'uid-x', 'Other')] } }, [], false],
  ]; // prettier-ignore
  for (const [title, options, parents, answer] of rows) {
    it(title, () => {
      const there = new Map(parents.map((uid) => ['demo/web', installation('web', { meta: { uid } })]));
      const world = { installations: there } as unknown as World;
      expect(isAbandoned(world, execution('plan', options))).to.equal(answer);
    });
  }

  it('is not abandoned before it is deleted', () => {
    const { deletionTimestamp: _, ...meta } = byParent;
    const world = { installations: new Map() } as unknown as World;
    expect(isAbandoned(world, execution('plan', { meta }))).to.equal(false);
  });

  it('loses our finalizer if it is abandoned, and nothing else changes', () => {
    const self = execution('plan', { meta: { finalizers: ['mine', FINALIZER] } });
    const { effects, then } = releaseObject(executionKind, self);
    expect(effects).to.have.length(1);
    expect(effects[0]).to.deep.include({ do: 'patch', body: { metadata: { finalizers: ['mine'] } } });
    expect(then).to.equal('stop');
  });
});
