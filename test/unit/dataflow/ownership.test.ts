import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import {
  contextSelector,
  exportConflict,
  exportObjects,
  executionExportConflict,
  exportSelector,
  importConflict,
  importObjects,
  overlay,
  staleObjects,
} from '../../../src/dataflow/objects.ts';
import { blueprint, dataObject, installation } from './given.ts';

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
  it('is allowed if there is none, or if it is its own', () => {
    expect(exportConflict(shop, wanted, undefined)).to.equal(undefined);
    const own = dataObject('greeting', 1, { ownerReferences: [ownedBy('shop')] });
    expect(exportConflict(shop, wanted, own)).to.equal(undefined);
  });

  it("conflicts with the export of another installation, in upstream's words", () => {
    const theirs = dataObject('greeting', 1, {
      ownerReferences: [ownedBy('other')],
      labels: { [labels.dataKey]: 'greeting' },
    });
    expect(exportConflict(shop, wanted, theirs)).to.deep.equal({
      kind: 'owned',
      message:
        "dataobject 'demo/greeting' for export 'greeting' conflicts with existing dataobject owned by another installation: " +
        "object 'demo/greeting' is already owned by another object with kind 'Installation' (other); " +
        "installation 'demo/other' keeps its export 'greeting' there, and installation 'demo/shop' does not overwrite it " +
        "with its export 'greeting': rename or remove one of the two",
    });
  });

  it('conflicts with an earlier installation of the same name', () => {
    const theirs = dataObject('greeting', 1, { ownerReferences: [{ ...ownedBy('shop'), uid: 'old' }] });
    expect(exportConflict(shop, wanted, theirs)?.kind).to.equal('owned');
  });

  it('does not take over an object of a user', () => {
    expect(exportConflict(shop, wanted, dataObject('greeting', 'by hand'))?.kind).to.equal('foreign');
  });

  it('takes over an object that a user has released for this installation, and for no other', () => {
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

  it('does not take over an export of another installation, released or not', () => {
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

const at = (source: string, sourceType: string) => ({
  [labels.dataContext]: 'Inst.shop',
  [labels.dataSource]: `Inst.${source}`,
  [labels.dataSourceType]: sourceType,
  [labels.dataKey]: 'region',
});

describe('an import over an existing object', () => {
  const [copy] = importObjects(shop, blueprint({ imports: [{ name: 'region', type: 'data', schema: {} }] }), {
    region: 'eu',
  });
  if (!copy) throw new Error('nothing to import');
  const name = copy.metadata.name;
  const conflict = (metadata: object, exporters: readonly string[] = ['cache']) =>
    importConflict(shop, copy, dataObject(name, 1, metadata), (owner) => exporters.includes(owner));

  const rows: { title: string; metadata: object; exporters?: string[]; kind?: string }[] = [
    { title: 'is allowed on the copy of an earlier job', metadata: { labels: at('shop', 'import') } },
    {
      title: 'is allowed on a restored copy, whose owner has another uid',
      metadata: { ownerReferences: [{ ...ownedBy('shop'), uid: 'old' }] },
    },
    {
      title: 'conflicts with the export of a child',
      metadata: { labels: at('cache', 'export'), ownerReferences: [ownedBy('cache')] },
      kind: 'owned',
    },
    {
      title: 'conflicts with the export of a child that is owned by both',
      metadata: {
        labels: at('cache', 'export'),
        ownerReferences: [ownedBy('shop'), ownedBy('cache')],
      },
      kind: 'owned',
    },
    {
      title: 'is allowed on an object that a child no longer exports',
      metadata: { labels: at('cache', 'export'), ownerReferences: [ownedBy('cache')] },
      exporters: [],
    },
    {
      title: 'conflicts with an export of an installation elsewhere',
      metadata: { ownerReferences: [ownedBy('other')] },
      exporters: [],
      kind: 'owned',
    },
    { title: 'does not take over an object of a user', metadata: {}, kind: 'foreign' },
    {
      title: 'takes over an object that a user has released',
      metadata: { annotations: { 'espalier.dev/adoptable-by': 'shop' } },
    },
  ];
  for (const { title, metadata, exporters, kind } of rows) {
    it(title, () => expect(conflict(metadata, exporters)?.kind).to.equal(kind));
  }

  it('names both installations, the key and the remedy', () => {
    const { message = '' } =
      conflict({ labels: at('cache', 'export'), ownerReferences: [ownedBy('cache')] }) ?? {};
    expect(message).to.contain("installation 'demo/cache' keeps its export 'region' there");
    expect(message).to.contain("installation 'demo/shop' does not overwrite it with its import 'region'");
    expect(message).to.contain('rename or remove one of the two');
  });

  it('makes the importer the only installation among the owners', () => {
    const existing = dataObject(name, 1, {
      ownerReferences: [ownedBy('cache'), { apiVersion: 'v1', kind: 'ConfigMap', name: 'note', uid: 'u' }],
    });
    const owners = overlay(existing, copy)?.metadata.ownerReferences?.map((owner) => owner.name);
    expect(owners).to.deep.equal(['note', 'shop']);
  });

  it('is not overwritten by an export, even one of an owner', () => {
    const theirs = dataObject('greeting', 1, {
      labels: at('stack', 'import'),
      ownerReferences: [ownedBy('shop'), ownedBy('stack')],
    });
    const message = exportConflict(shop, wanted, theirs)?.message;
    expect(message).to.contain("installation 'demo/stack' keeps its import 'region' there");
  });
});

describe('the exports of an execution', () => {
  const run = { metadata: { name: 'shop', namespace: 'demo' } };
  it('overwrite those of an earlier job', () => {
    const metadata = { labels: { [labels.dataSource]: 'Exec.shop' } };
    expect(executionExportConflict(run, dataObject('x', 1, metadata))).to.equal(undefined);
    const owner = { ...ownedBy('shop'), kind: 'Execution', uid: 'old' };
    expect(executionExportConflict(run, dataObject('x', 1, { ownerReferences: [owner] }))).to.equal(
      undefined,
    );
  });
  it('overwrite nothing else', () => {
    expect(executionExportConflict(run, dataObject('x', 1))).to.contain("'demo/shop'");
    const message = executionExportConflict(run, dataObject('x', 1, { ownerReferences: [ownedBy('other')] }));
    expect(message).to.contain("is owned by Installation 'other'");
  });
});

describe('writing over an object', () => {
  it('changes nothing if everything is as it should be', () =>
    expect(overlay(wanted, wanted)).to.equal(undefined));

  it('keeps fields of others and removes labels of a former scope', () => {
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

  it('are unknown while no object has a job id', () => {
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

describe('the exports of an execution over an existing object', () => {
  const execution = { metadata: { name: 'shop', namespace: 'demo' } };
  const owner = (kind: string, name: string) => ({ ...ownedBy(name), kind });

  it('are written if there is none, or if the execution wrote it', () => {
    const own = dataObject('out', 1, { ownerReferences: [owner('Execution', 'shop')] });
    expect(executionExportConflict(execution, undefined)).to.equal(undefined);
    expect(executionExportConflict(execution, own)).to.equal(undefined);
  });

  it('are not written over an object of another kind of owner with the same name, nor of another execution', () => {
    for (const [kind, name] of [
      ['Installation', 'shop'],
      ['Execution', 'other'],
    ] as const) {
      const theirs = dataObject('out', 1, { ownerReferences: [owner(kind, name)] });
      expect(executionExportConflict(execution, theirs)).to.contain(`is owned by ${kind} '${name}'`);
    }
  });

  it('are not written over an object without an owner', () => {
    expect(executionExportConflict(execution, dataObject('out', 1))).to.equal(
      "dataobject 'demo/out', where execution 'demo/shop' publishes the exports of its deploy items, exists already and " +
        'was not written by it; delete or rename that object',
    );
  });
});

describe('the owner of an export', () => {
  it('is an installation of this API group: other owners do not count', () => {
    for (const other of [
      { ...ownedBy('other'), kind: 'ConfigMap' },
      { ...ownedBy('other'), apiVersion: 'example.com/v1' },
    ])
      expect(
        exportConflict(shop, wanted, dataObject('greeting', 1, { ownerReferences: [other] }))?.kind,
      ).to.equal('foreign');
  });

  it('is identified by its name if there is no uid to compare', () => {
    const owned = (name: string) =>
      dataObject('greeting', 1, { ownerReferences: [{ ...ownedBy(name), uid: '' }] });
    expect(exportConflict(shop, wanted, owned('shop'))).to.equal(undefined);
    expect(exportConflict(shop, wanted, owned('other'))?.kind).to.equal('owned');
  });

  it('is not the controlling installation if the labels name another exporter', () => {
    const exported = (by: string) =>
      dataObject('greeting', 1, {
        labels: { [labels.dataSourceType]: 'export', [labels.dataSource]: `Inst.${by}` },
      });
    expect(exportConflict(shop, wanted, exported('shop'))).to.equal(undefined);
    expect(exportConflict(shop, wanted, exported('other'))?.kind).to.equal('foreign');
  });

  it('is described in full if the object was not written by Landscaper', () => {
    expect(exportConflict(shop, wanted, dataObject('greeting', 1))?.message).to.equal(
      "dataobject 'demo/greeting' for export 'greeting' exists already and was not written by this installation; rename the " +
        'export, delete the object, or hand it over with the annotation espalier.dev/adoptable-by: shop',
    );
  });
});
