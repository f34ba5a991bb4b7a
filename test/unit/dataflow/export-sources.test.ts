import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import { exportSources } from '../../../src/dataflow/export-sources.ts';
import { dataObject, target } from './given.ts';

const keyed = (key: string, more: Record<string, string> = {}) => ({
  labels: { [labels.dataKey]: key, ...more },
});

describe('the values that export executions see', () => {
  it('are own imports and exports of children by key', () => {
    const dataObjects = [
      dataObject('h1', 'eu', keyed('region')),
      dataObject('h2', 3, keyed('one')),
      dataObject('h3', 1),
    ];
    expect(exportSources({ executionExports: undefined, dataObjects, targets: [] })).to.deep.equal({
      deployitems: {},
      dataobjects: { region: 'eu', one: 3 },
      targets: {},
    });
  });

  it('are the results of the deploy items', () => {
    const { deployitems } = exportSources({
      executionExports: { app: { url: 'x' }, b: null },
      dataObjects: [],
      targets: [],
    });
    expect(deployitems).to.deep.equal({ app: { url: 'x' }, b: null });
  });

  it('are targets as complete objects, and lists and maps of them if they were imported as such', () => {
    const targets = [
      target('h1', 1, { ...keyed('nodes', { [labels.dataIndex]: '10' }) }),
      target('h2', 2, { ...keyed('nodes', { [labels.dataIndex]: '9' }) }),
      target('h3', 3, { ...keyed('clusters', { [labels.dataTargetMapKey]: 'red' }) }),
      target('h4', 4, { ...keyed('single'), managedFields: [{}] }),
    ];
    const { targets: seen } = exportSources({ executionExports: undefined, dataObjects: [], targets });
    expect((seen['nodes'] as { spec: { config: number } }[]).map((t) => t.spec.config)).to.deep.equal([2, 1]);
    expect(seen['clusters']).to.have.nested.property('red.spec.config', 3);
    expect(seen['single'])
      .to.include({ kind: 'Target' })
      .and.not.have.nested.property('metadata.managedFields');
  });
});
