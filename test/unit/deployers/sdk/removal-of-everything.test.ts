import { expect } from 'chai';
import { decodeGroups } from '../../../../deployers/objects/manifests/groups.ts';
import { MANIFEST_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import type { Obj } from '../../../../src/runtime/types.ts';
import { configMap } from '../bench.ts';
import type { FakeCluster } from '../fake-cluster.ts';
import { held, other, ownership, refusal, Removal, STAYS } from '../removing.ts';

describe('a group that deletes all objects of a type', () => {
  const everything = (more: object = {}) =>
    decodeGroups(
      [
        { predefinedResourceGroup: { type: 'namespaced-resources' } },
        {
          customResourceGroup: {
            deleteAllResources: true,
            resources: [{ apiVersion: 'v1', kind: 'Secret' }],
            ...more,
          },
        },
      ],
      'g',
    );
  const secret = (name: string, metadata: object = {}): Obj => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'app', ...metadata },
  });

  it('is deleted together with managed objects only', async () => {
    const r = new Removal();
    r.groups = everything();
    r.cluster.put(secret('x'));
    await r.round(r.made('kept', {}, { policy: 'keep' }));
    expect(r.cluster.names('Secret')).to.deep.equal(['app/x']);
    await r.round(r.made('one'));
    expect(r.cluster.names('Secret')).to.deep.equal([]);
    expect(r.checkpoints).to.have.length(2);
  });

  it('deletes exactly the objects that it found', async () => {
    const r = new Removal();
    r.groups = everything();
    const { uid } = r.cluster.put(secret('x')).metadata;
    await r.round(r.made('one'));
    expect(r.sent.at(-1)).to.deep.include({ verb: 'delete', key: 'app/x', uid });
  });

  it('waits for objects with finalizers, and removes these with force', async () => {
    const r = new Removal();
    r.groups = everything();
    r.cluster.put(secret('x', held));
    r.cluster.put(secret('y'));
    const one = r.made('one');
    expect(await r.round(one)).to.deep.equal([`x: ${STAYS}`]);
    expect(r.writes.filter((write) => write.startsWith('merge'))).to.deep.equal([]);
    r.groups = everything({ forceDelete: true });
    await r.round(one);
    expect(r.cluster.names('Secret')).to.deep.equal([]);
    expect(await r.round(one)).to.deep.equal([]);
  });

  it('keeps objects that other deploy items manage', async () => {
    const r = new Removal();
    r.groups = everything();
    const { uid } = r.cluster.put(secret('shared')).metadata;
    r.cluster.put(secret('y'));
    r.others = (asked) => (asked === uid ? [other('api')] : []);
    expect(await r.round(r.made('one'))).to.deep.equal([]);
    expect(r.cluster.names('Secret')).to.deep.equal(['app/shared']);
  });

  describe('on another target', () => {
    const elsewhere = { targetName: 'elsewhere' };

    it('deletes them there, and nothing on the target of the item', async () => {
      const r = new Removal();
      r.groups = everything(elsewhere);
      r.cluster.put(secret('x'));
      r.elsewhere.put(secret('x', held));
      r.elsewhere.put(secret('y'));
      const one = r.made('one');
      expect(await r.round(one)).to.deep.equal([`x: ${STAYS}`]);
      r.groups = everything({ ...elsewhere, forceDelete: true });
      await r.round(one);
      expect(r.elsewhere.names('Secret')).to.deep.equal([]);
      expect(r.cluster.names('Secret')).to.deep.equal(['app/x']);
    });

    it('changes the labels of objects that other deploy items manage there', async () => {
      const r = new Removal();
      r.groups = everything(elsewhere);
      const labelled = secret('shared', { uid: 'same', labels: ownership.labels });
      for (const cluster of [r.cluster, r.elsewhere]) cluster.put(labelled);
      r.others = (asked) => (asked === 'same' ? [other('api')] : []);
      await r.round(r.made('one'));
      const labelOn = (cluster: FakeCluster) =>
        cluster.find('Secret', 'app/shared')?.metadata.labels?.[MANIFEST_LABEL];
      expect(labelOn(r.elsewhere)).to.equal('api');
      expect(labelOn(r.cluster)).to.equal(ownership.labels[MANIFEST_LABEL]);
    });
  });

  it('removes no finalizers of an object that is created with the same name meanwhile', async () => {
    const r = new Removal();
    r.groups = everything({ forceDelete: true });
    r.cluster.put(secret('x', held));
    const replaced = (name: string, object: Obj): void => {
      r.cluster.lost = (verb, what) => {
        if (verb !== 'delete' || !what.endsWith(`/${name}`)) return;
        r.cluster.drop(object.kind, `app/${name}`);
        r.cluster.put(object);
      };
    };
    replaced('x', secret('x', held));
    const [left] = await r.round(r.made('one'));
    expect(left).to.contain('UID');
    expect(r.cluster.find('Secret', 'app/x')?.metadata.finalizers).to.deep.equal(held.finalizers);
    r.groups = decodeGroups(
      [{ predefinedResourceGroup: { type: 'namespaced-resources', forceDelete: true } }],
      'g',
    );
    const two = r.made('two', held);
    replaced('two', configMap('two', {}, held));
    await r.round(two);
    expect(r.cluster.find('ConfigMap', 'app/two')?.metadata.finalizers).to.deep.equal(held.finalizers);
  });

  it('reports objects that cannot be deleted, and none that disappear by themselves', async () => {
    const r = new Removal();
    r.groups = everything();
    r.cluster.put(secret('x'));
    const one = r.made('one');
    await r.round(one);
    r.cluster.put(secret('x'));
    r.refuse('delete', refusal(403, 'no right'));
    expect(await r.round(one)).to.deep.equal(['x: cannot delete ConfigMap: no right']);
    r.refuse('delete', refusal(404));
    expect(await r.round(one)).to.deep.equal([]);
  });

  it('does nothing for a missing kind, and throws other errors', async () => {
    const r = new Removal();
    r.groups = everything({ resources: [{ apiVersion: 'gone.test/v1', kind: 'Gone' }] });
    expect(await r.round(r.made('one'))).to.deep.equal([]);
    const refused = new Error('no answer');
    r.cluster.fail = (verb, what) => {
      if (verb === 'discover' && what.startsWith('gone.test')) throw refused;
    };
    expect(await r.failure(r.made('two'))).to.equal(refused);
  });
});
