import { expect } from 'chai';
import type { InstallationImports } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import { emptyImportSet, type ImportSet } from '../../../src/blueprint/import-set.ts';
import { importedData } from '../../../src/dataflow/dataimport.ts';
import { findImports } from '../../../src/dataflow/imports.ts';
import { importsHash } from '../../../src/dataflow/imports-hash.ts';
import { dataObject, installation, target } from './given.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const db = {
  port: 5432,
  host: 'db.example.org',
  big: 20971520,
  less: 'a<b&c>',
  sep: '\u2028',
  none: null,
  list: [],
};
const objects = [dataObject('greeting', 'hello'), dataObject('db', db), dataObject('my-odd.name', 5)];
const targets = ['my-cluster', 't1', 't2', 't3'].map((name) => target(name));

const hashOf = (spec: InstallationImports): string => {
  const { imports, missing } = findImports(installation('x', { imports: spec }), undefined, {
    dataObject: (name) => objects.find((o) => o.metadata.name === name),
    target: (name) => targets.find((o) => o.metadata.name === name),
    secret: () => ({ data: { k: base64('{"port": 80}'), text: base64('hello') } }),
    configMap: () => ({ data: { list: '[1, 2]' } }),
    targetsBySelector: () => [],
  });
  expect(missing).to.deep.equal([]);
  return importsHash(imports);
};

describe('the imports hash is the recorded one', () => {
  const rows: readonly [string, InstallationImports, string][] = [
    ['DF-165: without imports', {}, '0f87657555a176d70ad8a275ca4141af0f720a11'],
    [
      'of data and a target',
      { data: [{ name: 'text', dataRef: 'greeting' }], targets: [{ name: 'cluster', target: 'my-cluster' }] },
      '8b0e0842cfa0d22911bca8b4e01b3093960bc00e',
    ],
    [
      'of data alone',
      { data: [{ name: 'greeting', dataRef: 'greeting' }] },
      '55b4b0132bec84aa68fcf726e8e3c1cf4214b586',
    ],
    [
      'DF-168: of a secret, by its bytes',
      { data: [{ name: 'text', secretRef: { name: 's', key: 'text' } }] },
      '394a251dd689de3ae6ada4cdb5498e28141a11c8',
    ],
    [
      'DF-167: of an empty list',
      { targets: [{ name: 'none', targets: [] }] },
      '004fbc959ec230be363dd1827c51c4be812ac3ea',
    ],
    [
      'of all kinds at once',
      {
        data: [
          { name: 'db', dataRef: 'db' },
          { name: 'odd', dataRef: 'my-odd.name' },
          { name: 'secret-key', secretRef: { name: 's', key: 'k' } },
          { name: 'secret-all', secretRef: { name: 's' } },
          { name: 'map-key', configMapRef: { name: 'c', key: 'list' } },
          { name: 'map-all', configMapRef: { name: 'c' } },
        ],
        targets: [
          { name: 'one', target: 't3' },
          { name: 'nodes', targets: ['t2', 't1'] },
          { name: 'none', targets: [] },
          { name: 'clusters', targetMap: { red: 't1', blue: 't2' } },
        ],
      },
      'f3956008a913795938f336890b7b4c33d3d6477c',
    ],
  ];
  for (const [title, spec, hash] of rows) it(title, () => expect(hashOf(spec)).to.equal(hash));
});

describe('the imports hash of the values that were found', () => {
  const greeting = new Map([['greeting', importedData(dataObject('greeting', 'hello'))]]);
  const made = (generation: number) => target('t', undefined, { generation });
  const rows: readonly [title: string, found: Partial<ImportSet>, hash: string][] = [
    [
      'DF-166: uses the generation of a target, here the first',
      { data: greeting, targets: new Map([['cluster', made(1)]]) },
      '80ab730772666e9dabf6a251fd3acec5ad7066cb',
    ],
    [
      'DF-166: uses the generation of a target, here the second',
      { data: greeting, targets: new Map([['cluster', made(2)]]) },
      '11fb38d6827a5f95f56e96c5fd2318bb38fc3e7d',
    ],
    ['DF-166: uses the content of data', { data: greeting }, '55b4b0132bec84aa68fcf726e8e3c1cf4214b586'],
    [
      'DF-167: uses the generations of the elements of lists and maps',
      {
        targetLists: new Map([['ts', [made(1), made(3)]]]),
        targetMaps: new Map([['tm', { red: made(1), blue: made(2) }]]),
      },
      'fcaf283c1f8531abac3d153f0aa1a0be7898e096',
    ],
  ];
  for (const [title, found, hash] of rows) {
    it(title, () => expect(importsHash({ ...emptyImportSet, ...found })).to.equal(hash));
  }
});

describe('the imports hash', () => {
  const hashOfStored = (data: unknown, annotation: string): string => {
    const object = dataObject('x', data, { annotations: { [annotations.dataHash]: annotation } });
    const { imports } = findImports(
      installation('x', { imports: { data: [{ name: 'in', dataRef: 'x' }] } }),
      undefined,
      {
        dataObject: () => object,
        target: () => undefined,
        secret: () => undefined,
        configMap: () => undefined,
        targetsBySelector: () => [],
      },
    );
    return importsHash(imports);
  };

  it('of exported data is that of a child that imported it', () => {
    expect(hashOfStored('x', 'a81fa20d625fc8e5a04721cdf61f056fc2e22496')).to.equal(
      'f645b29f4f6206bc81a4723e9ec0d6c909c32cfe',
    );
  });

  it('changes after an edit that kept the annotation', () => {
    const annotation = 'a81fa20d625fc8e5a04721cdf61f056fc2e22496';
    expect(hashOfStored('edited', annotation)).not.to.equal(hashOfStored('x', annotation));
  });
});
