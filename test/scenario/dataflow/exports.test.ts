/** The exports of an installation, their names, and the objects they must not overwrite. */
import { expect } from 'chai';
import { annotations, labels } from '../../../src/api/labels.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  aTarget,
  CLUSTER,
  data,
  exportsOut,
  everythingInView,
  fails,
  giving,
  go,
  shop,
  succeeds,
  TEXT,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject, producer, target } from '../../support/landscape.ts';

/** Exports `out` as `greeting-out`, with a value from a template. */
const gives = (template: string, schema: unknown = TEXT, dataRef = 'greeting-out'): Given => ({
  bp: giving(template, schema),
  spec: exportsOut(dataRef),
});
const aims = (value: string, targetType = CLUSTER): Given => ({
  bp: { exports: [{ ...aTarget('t'), targetType }], exportExecutions: [go(`exports: {t: ${value}}`)] },
  spec: { exports: { targets: [{ name: 't', target: 't-out' }] } },
});

describe('exports', () => {
  const here = useCluster();

  it('DF-36: of a root become data objects with their names', async () => {
    const scene = await succeeds(here, gives('hello'));
    const out = scene.dataObject('greeting-out');
    expect(out?.data).to.equal('hello');
    expect(out?.metadata.labels).to.deep.equal({
      [labels.dataSource]: 'Inst.shop',
      [labels.dataSourceType]: 'export',
      [labels.dataKey]: 'greeting-out',
      [labels.dataJobId]: scene.jobs('shop')[0],
    });
    expect(out?.metadata.ownerReferences?.[0]).to.include({ kind: 'Installation', name: 'shop' });
  });

  it('DF-36: may be null, which is stored', async () => {
    const scene = await succeeds(here, gives('null', {}));
    expect(scene.dataObject('greeting-out')).to.have.property('data', null);
  });

  it('DF-37: with names that are invalid in Kubernetes get another name, and keep their own in a label', async () => {
    const scene = await succeeds(here, gives('hello', TEXT, 'My_Export'));
    const out = scene.dataObject('wqby7lkqqhjyijanp65vrktx7ibvxtds');
    expect(out?.data).to.equal('hello');
    expect(out?.metadata.labels?.[labels.dataKey]).to.equal('My_Export');
  });

  it('may be named by a literal', async () => {
    const scene = await succeeds(here, gives('hello', TEXT, '#literal'));
    expect(scene.dataObject('literal')?.data).to.equal('hello');
  });

  it('DF-40: that are not mapped need no value', async () => {
    await succeeds(here, { bp: { ...giving('x', TEXT), exportExecutions: [go('exports: {}')] } });
  });

  it('DF-41: may be mapped from other exports of the blueprint', async () => {
    const exportDataMappings = { out: '(( "<" exports.raw ">" ))' };
    const scene = await succeeds(here, {
      bp: { exports: [data('out', TEXT), data('raw', TEXT)], exportExecutions: [go('exports: {raw: x}')] },
      spec: { ...exportsOut('greeting-out'), exportDataMappings },
    });
    expect(scene.dataObject('greeting-out')?.data).to.equal('<x>');
  });

  it('DF-44: may be targets, with labels of their own', async () => {
    const scene = await succeeds(here, aims(`{type: ${CLUSTER}, config: {kubeconfig: abc}, labels: {a: b}}`));
    const out = scene.target('t-out');
    expect(out?.spec).to.deep.equal({ type: CLUSTER, config: { kubeconfig: 'abc' } });
    expect(out?.metadata.labels).to.include({
      a: 'b',
      [labels.dataKey]: 't-out',
      [labels.dataSource]: 'Inst.shop',
    });
  });

  it('DF-46: of several executions are merged: maps recursively, lists not', async () => {
    const exportExecutions = [
      go('exports: {out: {a: 1, l: [1]}}', 'a'),
      go('exports: {out: {b: 2, l: [2]}}', 'b'),
    ];
    const scene = await succeeds(here, { ...gives(''), bp: { exports: [data('out')], exportExecutions } });
    expect(scene.dataObject('greeting-out')?.data).to.deep.equal({ a: 1, b: 2, l: [2] });
  });

  const failures: readonly [title: string, given: Given, message: string][] = [
    [
      'DF-38: that do not match their schema are rejected',
      gives('5'),
      'exported data does not satisfy the configured schema: (root): Invalid type',
    ],
    [
      'DF-39: without a value are rejected if they are mapped',
      { ...gives(''), bp: { ...giving('x', TEXT), exportExecutions: [go('other: {}')] } },
      'internalExports.exports.data.out: data export is not defined',
    ],
    [
      'DF-40: that do not match their schema are rejected, whether or not they are mapped',
      { bp: giving('5', TEXT) },
      'exported data does not satisfy the configured schema',
    ],
    [
      'DF-41: must match the schema also if they were mapped',
      {
        ...gives('x'),
        spec: { ...exportsOut(), exportDataMappings: { out: { a: '(( exports.out ))' } } },
      },
      'exported data does not satisfy the configured schema',
    ],
    [
      'DF-45: that are targets of another type are rejected',
      aims('{type: other}'),
      `exported target type is other but expected ${CLUSTER}`,
    ],
    ['that are targets need a type', aims('{config: {}}'), 'type is not found'],
    [
      'that are targets have no unknown fields',
      aims(`{type: ${CLUSTER}, configuration: {}}`),
      'unknown field configuration; a target has type, config or secretRef',
    ],
  ];
  for (const [title, given, message] of failures) {
    it(title, async () => {
      const { error } = await fails(here, given);
      expect(error.operation).to.equal('handlePhaseCompleting');
      expect(error.message).to.contain(message);
    });
  }

  it('that are too large for an API server end the job with a message', async () => {
    const { error } = await fails(here, gives('"{{ repeat 3500000 "x" }}"'));
    expect(error.reason).to.equal('CreateOrUpdateExports');
    expect(error.message).to.contain('for export greeting-out');
    expect(error.message).to.contain('too large');
  });

  it('with names that are no valid labels end the job with a message', async () => {
    const { error } = await fails(here, gives('hello', TEXT, 'my export'));
    expect(error.message).to.contain('for export my export');
    expect(error.message).to.contain('a valid label must');
  });

  it('DF-42: do not overwrite an object of a user, and report it', async () => {
    const { scene, error } = await fails(here, {
      ...gives('hello'),
      objects: [dataObject('greeting-out', 'mine')],
    });
    expect(error.message).to.contain('exists already and was not written by this installation');
    expect(scene.dataObject('greeting-out')?.data).to.equal('mine');
    expect(scene.dataObject('greeting-out')?.metadata.ownerReferences).to.equal(undefined);
  });

  it('take over data and targets that a user has handed over, and own them from then on', async () => {
    const handedOver = <T extends Obj>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, annotations: { [annotations.adoptableBy]: 'shop', note: 'n' } },
    });
    const { bp, spec } = gives('hello');
    const config = { kubeconfig: 'abc' };
    const scene = await succeeds(here, {
      bp: {
        ...bp,
        exports: [data('out'), aTarget('t', 'target')],
        exportExecutions: [go(`exports: {out: hello, t: {type: ${CLUSTER}, config: {kubeconfig: abc}}}`)],
      },
      spec: {
        ...spec,
        exports: {
          data: [{ name: 'out', dataRef: 'greeting-out' }],
          targets: [{ name: 't', target: 't-out' }],
        },
      },
      objects: [handedOver(dataObject('greeting-out', 'mine')), handedOver(target('t-out', 'other', {}))],
    });
    expect(scene.dataObject('greeting-out')?.data).to.equal('hello');
    expect(scene.target('t-out')?.spec).to.deep.equal({ type: CLUSTER, config });
    for (const found of [scene.dataObject('greeting-out'), scene.target('t-out')]) {
      expect(found?.metadata.ownerReferences?.map(({ name }) => name)).to.deep.equal(['shop']);
      expect(found?.metadata.labels?.[labels.dataSource]).to.equal('Inst.shop');
      expect(found?.metadata.annotations).to.include({ note: 'n' });
    }
  });

  it('do not overwrite an object that a user has handed over to another installation', async () => {
    const mine = dataObject('greeting-out', 'mine');
    const handedOver = {
      ...mine,
      metadata: { ...mine.metadata, annotations: { [annotations.adoptableBy]: 'other' } },
    };
    const { scene, error } = await fails(here, { ...gives('hello'), objects: [handedOver] });
    expect(error.message).to.contain('espalier.dev/adoptable-by: shop');
    expect(scene.dataObject('greeting-out')?.data).to.equal('mine');
  });

  it('DF-43: do not overwrite an export of another installation, and report it', async () => {
    const scene = await here.scene();
    await scene.create(producer({ gives: { out: 'greeting-out' } }));
    await scene.finished('producer', 'Succeeded');
    await scene.create(shop(gives('hello')));
    const { status } = await scene.finished('shop', 'Failed');
    await everythingInView(scene);
    expect(status?.lastError?.message).to.contain(
      `dataobject '${scene.ns}/greeting-out' for export 'greeting-out' conflicts with existing dataobject owned by another installation`,
    );
    expect(scene.dataObject('greeting-out')?.data).to.equal('hello');
    expect(scene.dataObject('greeting-out')?.metadata.labels?.[labels.dataSource]).to.equal('Inst.producer');
  });
});
