import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import {
  contextSelector,
  exportConflict,
  exportObjects,
  exportSelector,
  overlay,
  staleObjects,
} from '../../../src/dataflow/objects.ts';
import { dataObject, installation } from './given.ts';

const shop = installation('shop');
const [wanted] = exportObjects(shop, undefined, {
  data: [{ name: 'out', ref: 'greeting', value: 'hello' }],
  targets: [],
});
if (!wanted) throw new Error('nothing to export');
const ownedBy = (name: string) => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Installation',
  name,
  uid: `uid-${name}`,
});

describe('an export over an existing object', () => {
  it('is fine when there is none, or it is the own one', () => {
    expect(exportConflict(shop, wanted, undefined)).to.equal(undefined);
    const own = dataObject('greeting', 1, { ownerReferences: [ownedBy('shop')] });
    expect(exportConflict(shop, wanted, own)).to.equal(undefined);
  });

  it("conflicts with the export of another installation, in upstream's words", () => {
    const theirs = dataObject('greeting', 1, { ownerReferences: [ownedBy('other')] });
    expect(exportConflict(shop, wanted, theirs)).to.deep.equal({
      kind: 'owned',
      message:
        "dataobject 'demo/greeting' for export 'greeting' conflicts with existing dataobject owned by another installation: " +
        "object 'demo/greeting' is already owned by another object with kind 'Installation' (other)",
    });
  });

  it('conflicts with an earlier installation of the same name', () => {
    const theirs = dataObject('greeting', 1, { ownerReferences: [{ ...ownedBy('shop'), uid: 'old' }] });
    expect(exportConflict(shop, wanted, theirs)?.kind).to.equal('owned');
  });

  it('does not take over what a person made', () => {
    expect(exportConflict(shop, wanted, dataObject('greeting', 'by hand'))?.kind).to.equal('foreign');
  });

  it('takes over what a person has released for this installation, and for no other', () => {
    const released = (name: string) =>
      dataObject('greeting', 'by hand', { annotations: { 'espalier.dev/adoptable-by': name } });
    expect(exportConflict(shop, wanted, released('shop'))).to.equal(undefined);
    for (const other of ['other', 'true', '']) {
      expect(exportConflict(shop, wanted, released(other))?.kind, other).to.equal('foreign');
    }
  });

  it('names the annotation that releases an object', () => {
    const message = exportConflict(shop, wanted, dataObject('greeting', 'by hand'))?.message;
    expect(message).to.contain('espalier.dev/adoptable-by: shop');
  });

  it('does not take over what another installation exports, released or not', () => {
    const theirs = dataObject('greeting', 1, {
      ownerReferences: [ownedBy('other')],
      annotations: { 'espalier.dev/adoptable-by': 'shop' },
    });
    expect(exportConflict(shop, wanted, theirs)?.kind).to.equal('owned');
  });

  it('takes back an object that lost its owner', () => {
    const marks = { [labels.dataSource]: 'Inst.shop', [labels.dataSourceType]: 'export' };
    expect(exportConflict(shop, wanted, dataObject('greeting', 1, { labels: marks }))).to.equal(undefined);
  });
});

describe('writing over an object', () => {
  it('changes nothing when all is as it should be', () =>
    expect(overlay(wanted, wanted)).to.equal(undefined));

  it('keeps what others added and removes marks of a former place', () => {
    const existing = dataObject('greeting', 'old', {
      resourceVersion: '7',
      labels: { team: 'blue', [labels.dataIndex]: '3' },
      annotations: { note: 'n' },
      ownerReferences: [ownedBy('other')],
    });
    const next = overlay(existing, wanted);
    expect(next?.data).to.equal('hello');
    expect(next?.metadata.resourceVersion).to.equal('7');
    expect(next?.metadata.labels).to.deep.equal({ team: 'blue', ...wanted.metadata.labels });
    expect(next?.metadata.annotations).to.deep.equal({ note: 'n', ...wanted.metadata.annotations });
    expect(next?.metadata.ownerReferences).to.deep.equal([ownedBy('other'), ownedBy('shop')]);
  });
});

describe('objects of an earlier job', () => {
  const of = (name: string, job?: string) =>
    dataObject(name, 1, job === undefined ? {} : { labels: { [labels.dataJobId]: job } });

  it('are those with another job id, or none', () => {
    const stale = staleObjects([of('a', 'job-1'), of('b', 'job-0'), of('c')], 'job-1');
    expect(stale.map((o) => o.metadata.name)).to.deep.equal(['b', 'c']);
  });

  it('are unknown as long as no object has a job id', () => {
    expect(staleObjects([of('a'), of('b')], 'job-1')).to.deep.equal([]);
  });

  it('are found by label', () => {
    expect(exportSelector('shop')).to.deep.equal({
      [labels.dataSource]: 'Inst.shop',
      [labels.dataSourceType]: 'export',
    });
    expect(contextSelector('shop')).to.deep.equal({ [labels.dataContext]: 'Inst.shop' });
  });
});
