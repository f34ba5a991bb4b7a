/** Deleting managed objects from a cluster, round by round. */
import { expect } from 'chai';
import { RetryError } from '../../../../deployers/sdk/errors.ts';
import {
  CHECKPOINT,
  leaveToOthersPorts,
  newProgress,
} from '../../../../deployers/objects/manifests/delete.ts';
import { decodeGroups } from '../../../../deployers/objects/manifests/groups.ts';
import { MANIFEST_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import type { ManagedResource } from '../../../../deployers/objects/manifests/model.ts';
import { InvalidObjectName } from '../../../../src/runtime/errors.ts';
import { held, other, ownership, refusal, Removal, STAYS } from '../removing.ts';

describe('a round of a removal', () => {
  it('deletes each object once, in the background, and repeats while objects have finalizers', async () => {
    const r = new Removal();
    const [free, holding] = [r.made('free'), r.made('holding', held)];
    expect(await r.round(free, holding)).to.deep.equal([`holding: ${STAYS}`]);
    expect(r.sent.every((write) => write.verb === 'delete' && write.propagation === 'Background')).to.equal(
      true,
    );
    expect(r.checkpoints).to.deep.equal([CHECKPOINT, CHECKPOINT]);
    r.cluster.takeRequests();
    expect(await r.round(free, holding)).to.deep.equal([`holding: ${STAYS}`]);
    expect(r.writes).to.deep.equal(['delete ConfigMap app/holding']);
  });

  it('treats an empty response as the end of the object', async () => {
    const r = new Removal();
    const one = r.made('one');
    for (const answer of [undefined, {}]) {
      r.progress = newProgress();
      r.cluster.send = () => Promise.resolve(answer as never);
      expect(await r.round(one)).to.deep.equal([]);
    }
  });

  it('keeps objects that it has to leave', async () => {
    const r = new Removal();
    const kept = r.made('kept', {}, { policy: 'keep' });
    const ours = r.made('ours', {}, { policy: 'fallback' });
    const theirs = r.made('theirs', { labels: { [MANIFEST_LABEL]: 'other' } }, { policy: 'fallback' });
    const intent = r.made('intent');
    const foreign = r.made('foreign', { labels: {} });
    const missing = r.made('missing', {}, { policy: 'fallback' });
    r.cluster.drop('ConfigMap', 'app/missing');
    const unnoted = (entry: ManagedResource) => ({ ...entry, resource: { ...entry.resource, uid: '' } });
    expect(await r.round(kept, ours, theirs, unnoted(intent), unnoted(foreign), missing)).to.deep.equal([]);
    expect(r.there).to.deep.equal(['kept', 'theirs', 'foreign']);
  });

  it('does nothing for a missing kind or object', async () => {
    const r = new Removal();
    const one = r.made('one');
    r.cluster.drop('ConfigMap', 'app/one');
    const gone = { ...one, resource: { ...one.resource, apiVersion: 'gone.test/v1', kind: 'Gone' } };
    expect(await r.round(one, gone, { ...gone, policy: 'fallback' })).to.deep.equal([]);
    expect(r.progress.gone.size).to.equal(2);
  });

  it('throws errors that prevent a decision', async () => {
    const r = new Removal();
    const one = r.made('one', {}, { policy: 'fallback' });
    r.refuse('get', refusal(500, 'no answer'));
    expect(await r.failure(one))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.contains('no answer');
  });

  it('starts a group when nothing is left of the previous one', async () => {
    const r = new Removal();
    r.groups = decodeGroups(
      ['late', 'early'].map((name) => ({
        customResourceGroup: { resources: [{ apiVersion: 'v1', kind: 'ConfigMap', names: [name] }] },
      })),
      'g',
    );
    const [early, late] = [r.made('early'), r.made('late', held)];
    await r.round(early, late);
    expect(r.there).to.deep.equal(['early', 'late']);
    r.cluster.edit('ConfigMap', 'app/late', { metadata: { finalizers: null } });
    expect(await r.round(early, late)).to.deep.equal([]);
    expect(r.there).to.deep.equal([]);
  });

  describe('for an object that was recreated', () => {
    it('keeps it if another client created it', async () => {
      const r = new Removal();
      const one = r.made('one');
      r.anew('one');
      expect(await r.round(one)).to.deep.equal([]);
      expect(r.there).to.deep.equal(['one']);
    });

    it('deletes it if it has the labels of the item', async () => {
      const r = new Removal();
      const one = r.made('one');
      r.anew('one', ownership.labels);
      expect(await r.round(one)).to.deep.equal([]);
      expect(r.there).to.deep.equal([]);
    });

    it('reports a conflict that has another reason', async () => {
      const r = new Removal();
      const [one, { policy, resource }] = [r.made('one'), r.made('two')];
      const { uid: _, ...unknown } = resource;
      r.refuse('delete', refusal(409, 'a webhook is in the way'));
      expect(await r.round(one, { ...(policy && { policy }), resource: unknown })).to.deep.equal([
        'one: cannot delete ConfigMap: a webhook is in the way',
        'two: cannot delete ConfigMap: a webhook is in the way',
      ]);
      r.cluster.drop('ConfigMap', 'app/one');
      expect(await r.round(one)).to.deep.equal(['one: cannot delete ConfigMap: a webhook is in the way']);
    });
  });

  it('reports a temporary failure, and throws a permanent one, or the end of the reconcile', async () => {
    const r = new Removal();
    const one = r.made('one');
    r.refuse('delete', refusal(500, 'no answer'));
    expect(await r.round(one)).to.deep.equal(['one: cannot delete ConfigMap: no answer']);
    const definite = new InvalidObjectName({ message: 'no such name' });
    r.refuse('delete', definite);
    expect(await r.failure(one)).to.equal(definite);
    const ended = new Error('ended');
    r.refuse('delete', ended);
    r.life.abort();
    expect(await r.failure(one)).to.equal(ended);
  });

  it('rejects a group with a target that does not delete all objects', async () => {
    const r = new Removal();
    const resources = [{ apiVersion: 'v1', kind: 'ConfigMap' }];
    r.groups = decodeGroups([{ customResourceGroup: { targetName: 'b', resources } }], 'g');
    const error = await r.failure(r.made('one'));
    expect(error).to.be.instanceOf(RetryError);
    expect(error).to.deep.include({ operation: 'delete', reason: 'DeleteWithUninstall' });
  });
});

describe('the changes to objects before they are deleted', () => {
  const annotateBeforeDelete = { going: 'yes' };

  it('are sent once, not in every round', async () => {
    const r = new Removal();
    const one = r.made('one', { ...held, annotations: { a: 'b' } }, { annotateBeforeDelete });
    await r.round(one);
    expect(r.writes).to.deep.equal(['replace ConfigMap app/one', 'delete ConfigMap app/one']);
    expect(r.cluster.find('ConfigMap', 'app/one')?.metadata.annotations).to.deep.equal({
      a: 'b',
      going: 'yes',
    });
    await r.round(one);
    expect(r.writes).to.deep.equal(['delete ConfigMap app/one']);
  });

  it('are not sent for an object that was recreated, or is gone', async () => {
    const r = new Removal();
    const [anew, gone] = ['anew', 'gone'].map((name) => r.made(name, {}, { annotateBeforeDelete }));
    if (!anew || !gone) throw new Error('two are made');
    r.anew('anew');
    r.cluster.drop('ConfigMap', 'app/gone');
    expect(await r.round(anew, gone)).to.deep.equal([]);
    expect(r.cluster.find('ConfigMap', 'app/anew')?.metadata.annotations).to.equal(undefined);
  });

  it('do not block the deletion if the object disappears meanwhile; any other rejection does', async () => {
    const r = new Removal();
    const one = r.made('one', {}, { annotateBeforeDelete });
    r.refuse('replace', refusal(422, 'no such annotation'));
    expect(await r.failure(one))
      .to.have.property('message')
      .that.contains('no such annotation');
    expect(r.there).to.deep.equal(['one']);
    r.refuse('replace', refusal(404, 'gone'));
    expect(await r.round(one)).to.deep.equal([]);
    expect(r.there).to.deep.equal([]);
  });
});

describe('an object that other deploy items manage as well', () => {
  it('stays, gets their labels, and is reported once', async () => {
    const r = new Removal();
    const [shared, holding] = [r.made('shared'), r.made('holding', held)];
    r.others = (uid) => (uid === shared.resource.uid ? [other('api'), other('job')] : []);
    await r.round(shared, holding);
    await r.round(shared, holding);
    expect(r.there).to.deep.equal(['shared', 'holding']);
    expect(r.cluster.find('ConfigMap', 'app/shared')?.metadata.labels).to.include({
      [MANIFEST_LABEL]: 'api',
    });
    expect(r.notes).to.deep.equal([
      'ConfigMap app/shared is not deleted because other deploy items also manage it: proj/api, proj/job',
    ]);
  });

  it('stays if they start to manage it while the removal waits for others', async () => {
    const r = new Removal();
    const shared = r.made('shared');
    let asked = 0;
    r.others = () => (++asked > 1 ? [other('api')] : []);
    expect(await r.round(shared)).to.deep.equal([]);
    expect(r.there).to.deep.equal(['shared']);
  });

  it('keeps its labels if it was recreated or does not name the item', async () => {
    const r = new Removal();
    const [anew, relabelled, gone] = ['anew', 'relabelled', 'gone'].map((name) => r.made(name));
    if (!anew || !relabelled || !gone) throw new Error('three are made');
    r.others = () => [other('api')];
    r.anew('anew', ownership.labels);
    r.cluster.edit('ConfigMap', 'app/relabelled', { metadata: { labels: { [MANIFEST_LABEL]: 'mine' } } });
    r.cluster.drop('ConfigMap', 'app/gone');
    await r.round(anew, relabelled, gone);
    expect(r.writes).to.deep.equal([]);
  });

  for (const [title, status, isFailure] of [
    ['is deleted meanwhile', 404, false],
    ['is replaced meanwhile', 409, false],
    ['cannot be changed', 403, true],
  ] as const) {
    it(`${isFailure ? 'blocks the removal if it' : 'does not block the removal if it'} ${title}`, async () => {
      const r = new Removal();
      const shared = r.made('shared');
      r.others = () => [other('api')];
      r.refuse('merge', refusal(status));
      expect((await r.failure(shared)) instanceof Error).to.equal(isFailure);
    });
  }

  it('is reported by an event', () => {
    const events: string[] = [];
    const ports = leaveToOthersPorts({
      alsoManagedBy: () => [other('api')],
      event: (...parts) => events.push(parts.join(' ')),
    });
    ports.onLeftToOthers('it stays');
    expect(events).to.deep.equal(['Normal LeftToOthers it stays']);
    expect(ports.alsoManagedBy('u')).to.have.length(1);
  });
});
