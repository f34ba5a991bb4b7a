/** What sub-installations get from their parent and from each other. */
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { API_VERSION, labels } from '../../../src/api/labels.ts';
import { objectName } from '../../../src/dataflow/scope.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  bpFile,
  data,
  everythingInView,
  fails,
  giving,
  go,
  keepingImports,
  kept,
  succeeds,
  TEXT,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject } from '../../support/landscape.ts';

/** A template of a sub-installation with this blueprint. */
const sub = (name: string, bp: object, more: object = {}) => ({
  apiVersion: API_VERSION,
  kind: 'InstallationTemplate',
  name,
  blueprint: { filesystem: { 'blueprint.yaml': bpFile(bp) } },
  ...more,
});
const takes = (name: string, dataRef: string) => ({ imports: { data: [{ name, dataRef }] } });
const gives = (dataRef: string) => ({ exports: { data: [{ name: 'out', dataRef }] } });
const both = (from: string, to: string) => ({ ...takes('in', from), ...gives(to) });

const db = (more: object = {}) =>
  sub(
    'db',
    { imports: [data('zone', TEXT)], ...giving('db.{{ .imports.zone }}', TEXT) },
    {
      ...takes('zone', 'region'),
      ...gives('dbUrl'),
      ...more,
    },
  );
const web = (more: object = {}) =>
  sub(
    'web',
    { imports: [data('target', TEXT)], ...keepingImports },
    {
      ...takes('in', 'dbUrl'),
      importDataMappings: { target: '(( "http://" in ))' },
      ...more,
    },
  );

/** The second fixture: `db` exports what `web` imports, both below `shop`. */
const landscape = (...templates: readonly object[]): Given => ({
  bp: {
    imports: [data('region', TEXT)],
    ...giving('{{ .dataobjects.dbUrl }}', TEXT),
    subinstallations: templates,
  },
  spec: {
    imports: { data: [{ name: 'region', dataRef: 'global-region' }] },
    exports: { data: [{ name: 'out', dataRef: 'shop-url' }] },
  },
  objects: [dataObject('global-region', 'eu-1')],
});

describe('sub-installations', () => {
  const here = useCluster();

  it('DF-48: import from their parent and from each other, and the parent exports their results', async () => {
    const scene = await succeeds(here, landscape(db(), web()));
    const name = scene.child('shop', 'db')?.metadata.name ?? '';
    const region = scene.dataObject('xfoh7u6r6g5l5yny5zgaesiv2fy3r7dw');
    expect(region?.data).to.equal('eu-1');
    expect(region?.metadata.labels).to.include({
      [labels.dataSourceType]: 'import',
      [labels.dataKey]: 'region',
    });
    const url = scene.dataObject('ezckfi5hbdewv3g6dnuvg7iu7iugammj');
    expect(url?.data).to.equal('db.eu-1');
    expect(url?.metadata.labels).to.include({
      [labels.dataContext]: 'Inst.shop',
      [labels.dataSourceType]: 'export',
      [labels.dataSource]: `Inst.${name}`,
      [labels.dataKey]: 'dbUrl',
    });
    expect(scene.dataObject(objectName(`Inst.${name}`, 'zone'))?.data).to.equal('eu-1');
    expect(scene.dataObject('shop-url')?.data).to.equal('db.eu-1');
    expect(kept(scene, scene.child('shop', 'web')?.metadata.name)).to.deep.equal({
      target: 'http://db.eu-1',
    });
  });

  it('DF-48: that import from a sibling start after it has succeeded', async () => {
    const scene = await succeeds(here, landscape(db(), web()));
    const [first, second] = ['db', 'web'].map((name) => scene.child('shop', name)?.status?.transitionTimes);
    expect(Date.parse(second?.waitTime ?? '')).to.be.at.least(Date.parse(first?.finishedTime ?? 'none'));
  });

  it('DF-56: lose an import if its source in the parent is optional and has no value', async () => {
    const optional = data('region', TEXT, { required: false });
    const templates = (required: boolean) => [
      sub('db', { imports: [data('zone', TEXT, { required })], ...keepingImports }, takes('zone', 'region')),
    ];
    const scene = await succeeds(here, { bp: { imports: [optional], subinstallations: templates(false) } });
    expect(scene.child('shop', 'db')?.spec.imports?.data ?? []).to.deep.equal([]);
    expect(kept(scene, scene.child('shop', 'db')?.metadata.name)).to.deep.equal({});

    const { error } = await fails(here, { bp: { imports: [optional], subinstallations: templates(true) } });
    expect(error.message).to.contain('import "zone" of type data, which is not satisfied');
  });

  it('DF-57: may come from a template', async () => {
    const template = [
      'subinstallations: [{{ range $i := until 2 }}',
      `{apiVersion: ${API_VERSION}, kind: InstallationTemplate, name: s{{ $i }},`,
      `blueprint: {filesystem: {blueprint.yaml: "{apiVersion: ${API_VERSION}, kind: Blueprint}"}}},`,
      '{{ end }}]',
    ].join(' ');
    const scene = await succeeds(here, { bp: { subinstallationExecutions: [go(template)] } });
    const children = scene.children('shop').map(({ metadata }) => metadata.name.replace(/-[^-]*$/, ''));
    expect(children.sort()).to.deep.equal(['s0', 's1']);
  });

  it('DF-58: from a template need no apiVersion and kind', async () => {
    const { apiVersion: _, kind: __, ...bare } = sub('s', {});
    const template = JSON.stringify({ subInstallations: [bare] });
    const scene = await succeeds(here, { bp: { subinstallationExecutions: [go(template)] } });
    expect(scene.children('shop', 's')).to.have.length(1);
  });

  it('DF-62: keep the imports of their parent visible for its export templates', async () => {
    const given = landscape();
    const scene = await succeeds(here, {
      ...given,
      bp: { ...given.bp, ...giving('{{ .dataobjects.region }}') },
    });
    expect(scene.dataObject('shop-url')?.data).to.equal('eu-1');
  });

  it('DF-64: in a chain each see the exports of the previous one', async () => {
    const links = ['b', 'c', 'd'].map((name, i) =>
      sub(
        name,
        { imports: [data('track', TEXT)], ...giving('{{ .imports.track }}', TEXT) },
        {
          ...both(`track${i}`, `track${i + 1}`),
          importDataMappings: { track: `(( in "${name.toUpperCase()}" ))` },
        },
      ),
    );
    const a = sub('a', giving('A'), gives('track0'));
    const given = landscape(...links.reverse(), a);
    const scene = await succeeds(here, {
      ...given,
      bp: { ...given.bp, ...giving('{{ .dataobjects.track3 }}') },
    });
    expect(scene.dataObject('shop-url')?.data).to.equal('ABCD');
  });

  it('DF-65: may combine exports of several siblings', async () => {
    const names = ['a', 'b', 'c'];
    const sources = names.map((name) => sub(name, giving(name.toUpperCase()), gives(`t-${name}`)));
    const d = sub(
      'd',
      { imports: [data('track', TEXT)], ...giving('"{{ .imports.track }}"', TEXT) },
      {
        imports: { data: names.map((name, i) => ({ name: `t${i + 1}`, dataRef: `t-${name}` })) },
        ...gives('joined'),
        importDataMappings: { track: '(( "(" t1 "|" t2 "|" t3 ")D" ))' },
      },
    );
    const given = landscape(d, ...sources);
    const bp = { ...given.bp, ...giving('"{{ .dataobjects.joined }}"') };
    const scene = await succeeds(here, { ...given, bp });
    expect(scene.dataObject('shop-url')?.data).to.equal('(A|B|C)D');
  });

  it('DF-66: use a new value in the next job, during which the old export is removed', async () => {
    const scene = await succeeds(here, landscape(db(), web()));
    const before = scene.seen(dataObjectKind, 'shop-url').length;
    await scene.patch(dataObjectKind, 'global-region', { data: 'eu-2' });
    await scene.until('the new region', () => scene.dataObject('global-region')?.data === 'eu-2');
    await scene.again('shop', 'Succeeded');
    await everythingInView(scene);
    expect(scene.dataObject('shop-url')?.data).to.equal('db.eu-2');
    const history = here.cluster
      .history(scene.ns)
      .filter(({ object }) => object.metadata.name === 'shop-url');
    expect(history.slice(before).map(({ gone }) => gone)).to.deep.equal([true, false]);
    expect(kept(scene, scene.child('shop', 'web')?.metadata.name)).to.deep.equal({
      target: 'http://db.eu-2',
    });
  });
});

describe('invalid sub-installations', () => {
  const here = useCluster();

  const secretRef = { imports: { data: [{ name: 'q', secretRef: { name: 's', key: 'k' } }] } };
  const rows: readonly [title: string, given: Given, message: string][] = [
    [
      'DF-49: cannot import a value that does not exist',
      landscape(db(), web(takes('in', 'nowhere'))),
      'import not satisfied',
    ],
    [
      'DF-50: cannot export the same name',
      landscape(db(), web({ ...takes('in', 'region'), ...gives('dbUrl') })),
      "data export 'dbUrl' is already exported by",
    ],
    [
      'DF-51: cannot export a name that their parent imports',
      landscape(db(gives('region')), web()),
      'export is imported by its parent',
    ],
    [
      'DF-52: cannot have cyclic imports',
      landscape(db(takes('zone', 'webUrl')), web(gives('webUrl'))),
      'db -{depends_on}-> web -{depends_on}-> db',
    ],
    [
      'DF-52: cannot import their own exports',
      landscape(db(both('dbUrl', 'dbUrl'))),
      'db -{depends_on}-> db',
    ],
    [
      'DF-53: cannot import from secrets',
      landscape(db(), web(secretRef)),
      'secret references are not allowed',
    ],
    ['DF-54: cannot have the same name', landscape(db(), db()), 'duplicated subinstallation'],
    [
      'DF-55: cannot have a name of more than 52 characters',
      landscape(db(), sub('n'.repeat(53), {})),
      'must be no more than 52 characters',
    ],
    ['need a blueprint', landscape(db(), { ...web(), blueprint: {} }), 'a blueprint must be defined'],
  ];
  for (const [title, given, message] of rows) {
    it(title, async () => {
      const { scene, error } = await fails(here, given);
      expect(error.message).to.contain(message);
      expect(error.message).to.contain('Reason: EnsureSubinstallations');
      expect(scene.children('shop')).to.deep.equal([]);
    });
  }

  it('DF-58: cannot have another form than that of a template', async () => {
    const { error } = await fails(here, {
      bp: { subinstallationExecutions: [go('subinstallations: [{name: s, blueprint: text}]')] },
    });
    expect(error.message).to.contain('error while decoding templated execution');
    expect(error.message).to.contain('subinstallations[0].blueprint: expected a map, found a string');
  });

  it('DF-63: fail if a mapping is invalid, and fail the parent', async () => {
    const { scene, error } = await fails(
      here,
      landscape(db(), web({ importDataMappings: { target: '((( in ))' } })),
    );
    const child = scene.child('shop', 'web')?.status;
    expect(child?.phase).to.equal('Failed');
    expect(child?.lastError?.message).to.contain('unable to template import mapping template');
    expect(error.message, 'the cause travels up').to.contain('unable to template import mapping template');
  });
});
