import { expect } from 'chai';
import type { DataObject } from '../../../src/api/kinds/dataobject.ts';
import type { InstallationImports } from '../../../src/api/kinds/installation.ts';
import type { Target } from '../../../src/api/kinds/target.ts';
import type { KeyedSource } from '../../../src/dataflow/dataimport.ts';
import { findImports, neededObjects, type ImportLookups } from '../../../src/dataflow/imports.ts';
import { aliased } from '../../support/aliases.ts';
import { dataObject, installation, target } from './given.ts';

interface World {
  readonly dataObjects?: readonly DataObject[];
  readonly targets?: readonly Target[];
  readonly secrets?: Record<string, KeyedSource>;
  readonly configMaps?: Record<string, KeyedSource>;
}

const lookups = ({
  dataObjects = [],
  targets = [],
  secrets = {},
  configMaps = {},
}: World): ImportLookups => ({
  dataObject: (name) => dataObjects.find((o) => o.metadata.name === name),
  target: (name) => targets.find((o) => o.metadata.name === name),
  secret: (name) => secrets[name],
  configMap: (name) => configMaps[name],
  targetsBySelector: ({ labels }) =>
    targets.filter((t) => Object.entries(labels).every(([k, v]) => t.metadata.labels?.[k] === v)),
});

const find = (spec: InstallationImports, world: World, parent?: string) =>
  findImports(installation('shop', { imports: spec }), parent, lookups(world));
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const PREFIX = 'data.landscaper.gardener.cloud';

it('a large object is measured once, however many imports name it', () => {
  let reads = 0;
  const object = dataObject('large', {
    get text() {
      reads++;
      return 'x';
    },
  });
  const data = Array.from({ length: 100 }, (_, i) => ({ name: `i${String(i)}`, dataRef: 'large' }));
  const { imports } = find({ data }, { dataObjects: [object] });
  expect(imports.data.size).to.equal(100);
  expect(reads).to.be.below(5);
});

it('a name is suggested for the first missing import only, because each compares many names', () => {
  let lists = 0;
  const spec: InstallationImports = {
    data: Array.from({ length: 50 }, (_, i) => ({ name: `i${String(i)}`, dataRef: `regoin${String(i)}` })),
    targets: [{ name: 't', target: 'regoin' }],
  };
  const { missing } = findImports(installation('shop', { imports: spec }), undefined, {
    ...lookups({}),
    *rootNames() {
      lists++;
      yield 'region';
    },
  });
  expect(missing).to.have.lengthOf(51);
  expect(missing[0]?.hint).to.equal('; did you mean "region"?');
  expect(lists).to.equal(1);
});

describe('the objects an installation needs', () => {
  const spec: InstallationImports = {
    data: [
      { name: 'a', dataRef: 'url' },
      { name: 'b', dataRef: 'url' },
      { name: 'c', secretRef: { name: 's', key: 'k' } },
      { name: 'd', configMapRef: { name: 'c' } },
    ],
    targets: [
      { name: 'one', target: 'x' },
      { name: 'list', targets: ['x', 'y'] },
      { name: 'map', targetMap: { red: 'z' } },
      { name: 'of-parent', targetListRef: 'nodes' },
    ],
  };

  it('of a root have their plain names, and references to a parent select nothing', () => {
    expect(neededObjects(installation('shop', { imports: spec }), undefined)).to.deep.equal({
      dataObjects: ['url'],
      targets: ['x', 'y', 'z'],
      secrets: ['s'],
      configMaps: ['c'],
      targetSelectors: [],
    });
  });

  it('of a sub-installation have names in the context of its parent', () => {
    const needed = neededObjects(installation('db-x', { imports: spec }), 'shop');
    expect(needed.dataObjects).to.have.lengthOf(1).and.not.include('url');
    expect(needed.targetSelectors).to.deep.equal([
      {
        import: 'of-parent',
        labels: {
          [`${PREFIX}/context`]: 'Inst.shop',
          [`${PREFIX}/key`]: 'nodes',
          [`${PREFIX}/sourceType`]: 'import',
          [`${PREFIX}/jobid`]: 'job-1',
        },
      },
    ]);
  });
});

describe('values of imports', () => {
  const secrets = {
    s: { data: { a: base64('0123'), b: base64('yes'), c: base64('text'), k: base64('{"port": 80}') } },
  };
  const rows: readonly [string, InstallationImports, World, unknown][] = [
    [
      'come from data objects',
      { data: [{ name: 'v', dataRef: 'x' }] },
      { dataObjects: [dataObject('x', [1])] },
      [1],
    ],
    [
      'come from one key of a secret',
      { data: [{ name: 'v', secretRef: { name: 's', key: 'k' } }] },
      { secrets },
      { port: 80 },
    ],
    [
      'come from a whole secret, each entry read as YAML',
      { data: [{ name: 'v', secretRef: { name: 's', key: '' } }] },
      { secrets },
      { a: 83, b: true, c: 'text', k: { port: 80 } },
    ],
    [
      'come from a config map, including binary entries',
      { data: [{ name: 'v', configMapRef: { name: 'c' } }] },
      { configMaps: { c: { data: { l: '[1, 2]' }, binaryData: { b: base64('x') } } } },
      { l: [1, 2], b: 'x' },
    ],
  ];
  for (const [title, spec, world, value] of rows) {
    it(title, () => {
      const { imports, missing } = find(spec, world);
      expect(missing).to.deep.equal([]);
      expect(imports.data.get('v')?.value).to.deep.equal(value);
    });
  }

  it('keep the order of a target list and the keys of a map', () => {
    const targets = [target('t1'), target('t2')];
    const spec = {
      targets: [
        { name: 'l', targets: ['t2', 't1'] },
        { name: 'm', targetMap: { red: 't1' } },
        { name: 'none', targets: [] },
      ],
    };
    const { imports } = find(spec, { targets });
    expect(imports.targetLists.get('l')?.map((t) => t.metadata.name)).to.deep.equal(['t2', 't1']);
    expect(imports.targetMaps.get('m')?.['red']?.metadata.name).to.equal('t1');
    expect(imports.targetLists.get('none')).to.deep.equal([]);
  });

  it('of a list of the parent keep its order, also beyond ten elements', () => {
    const element = (i: number): Target =>
      target(
        `name-${99 - i}`,
        { i },
        {
          labels: {
            [`${PREFIX}/context`]: 'Inst.shop',
            [`${PREFIX}/key`]: 'nodes',
            [`${PREFIX}/sourceType`]: 'import',
            [`${PREFIX}/jobid`]: 'job-1',
            [`${PREFIX}/index`]: String(i),
          },
        },
      );
    const targets = [...Array(12).keys()].map(element).reverse();
    const { imports } = find({ targets: [{ name: 'mine', targetListRef: 'nodes' }] }, { targets }, 'shop');
    const numbers = imports.targetLists.get('mine')?.map((t) => (t.spec.config as { i: number }).i);
    expect(numbers).to.deep.equal([...Array(12).keys()]);
  });
});

describe('a map of targets that the parent imports', () => {
  it('has the keys of the parent, and leaves out targets without a key', () => {
    const element = (name: string, key: Record<string, string>): Target =>
      target(
        name,
        {},
        {
          labels: {
            [`${PREFIX}/context`]: 'Inst.shop',
            [`${PREFIX}/key`]: 'nodes',
            [`${PREFIX}/sourceType`]: 'import',
            [`${PREFIX}/jobid`]: 'job-1',
            ...key,
          },
        },
      );
    const key = `${PREFIX}/targetmapkey`;
    const targets = [element('t1', { [key]: 'red' }), element('t2', { [key]: 'blue' }), element('t3', {})];
    const { imports } = find({ targets: [{ name: 'mine', targetMapRef: 'nodes' }] }, { targets }, 'shop');
    const found = Object.entries(imports.targetMaps.get('mine') ?? {});
    expect(found.map(([k, t]) => [k, t.metadata.name])).to.deep.equal([
      ['red', 't1'],
      ['blue', 't2'],
    ]);
    expect(imports.targetLists.has('mine')).to.equal(false);
  });
});

describe('an import without a source', () => {
  for (const dataRef of [undefined, '']) {
    it(`is rejected with the possible sources: data, dataRef ${JSON.stringify(dataRef)}`, () => {
      const spec = { name: 'v', ...(dataRef !== undefined && { dataRef }) };
      expect(find({ data: [spec] }, { dataObjects: [dataObject('', 1)] }).missing).to.deep.equal([
        { import: 'v', message: 'import v: exactly one of dataRef, secretRef and configMapRef must be set' },
      ]);
    });
  }

  for (const spec of [{}, { target: '' }, { targetListRef: '' }, { targetMapRef: '' }] as readonly object[]) {
    it(`is rejected with the possible sources: target, ${JSON.stringify(spec)}`, () => {
      expect(find({ targets: [{ name: 't', ...spec }] }, {}).missing).to.deep.equal([
        {
          import: 't',
          message:
            'import t: exactly one of target, targets, targetMap, targetListRef and targetMapRef must be set',
        },
      ]);
    });
  }
});

describe('the content of a Secret', () => {
  it('is marked as secret, that of a ConfigMap is not', () => {
    const spec = {
      data: [
        { name: 'secret', secretRef: { name: 's', key: 'k' } },
        { name: 'plain', configMapRef: { name: 'c', key: 'k' } },
      ],
    };
    const world = { secrets: { s: { data: { k: base64('1') } } }, configMaps: { c: { data: { k: '1' } } } };
    const { data } = find(spec, world).imports;
    expect([data.get('secret')?.isSecret, data.get('plain')?.isSecret]).to.deep.equal([true, false]);
  });

  it('is read by its key alone: other entries may be invalid', () => {
    const data = { good: base64('1'), bad: base64('a: b: c') };
    const spec = { data: [{ name: 'v', secretRef: { name: 's', key: 'good' } }] };
    expect(find(spec, { secrets: { s: { data } } }).imports.data.get('v')?.value).to.equal(1);
  });

  it('that is not valid YAML is reported with its line, without its content', () => {
    const spec = { data: [{ name: 'v', secretRef: { name: 's', key: 'k' } }] };
    const world = { secrets: { s: { data: { k: base64('fine: 1\na: hidden: s3cr3t') } } } };
    expect(find(spec, world).missing[0]?.message).to.equal(
      'secret demo/s cannot be read: key k: line 2 is not valid YAML',
    );
  });
});

describe('missing imports', () => {
  const rows: readonly [string, InstallationImports, string][] = [
    [
      'a data object',
      { data: [{ name: 'v', dataRef: 'nowhere' }] },
      'unable to fetch data object nowhere: dataobjects.landscaper.gardener.cloud "nowhere" not found',
    ],
    ['a secret', { data: [{ name: 'v', secretRef: { name: 'no', key: 'k' } }] }, 'secrets "no" not found'],
    [
      'a key of a secret',
      { data: [{ name: 'v', secretRef: { name: 's', key: 'zz' } }] },
      'key zz in secret demo/s does not exist',
    ],
    ['a config map', { data: [{ name: 'v', configMapRef: { name: 'no' } }] }, 'configmaps "no" not found'],
    [
      'a key of a config map',
      { data: [{ name: 'v', configMapRef: { name: 'c', key: 'zz' } }] },
      "key 'zz' in configmap 'demo/c' does not exist",
    ],
    [
      'a target',
      { targets: [{ name: 't', target: 'no' }] },
      'targets.landscaper.gardener.cloud "no" not found',
    ],
    [
      'an element of a list',
      { targets: [{ name: 't', targets: ['t1', 'no'] }] },
      'targets.landscaper.gardener.cloud "no" not found',
    ],
  ];
  for (const [title, spec, message] of rows) {
    it(`are reported with their name: ${title}`, () => {
      const world = {
        targets: [target('t1')],
        secrets: { s: { data: {} } },
        configMaps: { c: { data: {} } },
      };
      expect(find(spec, world).missing.map((m) => m.message)).to.deep.equal([message]);
    });
  }

  it('of a sub-installation are reported with their context', () => {
    const { missing } = find({ data: [{ name: 'v', dataRef: 'own' }] }, {}, 'self-cycle');
    expect(missing[0]?.message).to.equal(
      'unable to fetch data object nneyzcineryde3giluid7ni67vxnwhyv (Inst.self-cycle/own): ' +
        'dataobjects.landscaper.gardener.cloud "nneyzcineryde3giluid7ni67vxnwhyv" not found',
    );
  });

  it('are reported with data before targets', () => {
    const { missing } = find(
      { data: [{ name: 'v', dataRef: 'no' }], targets: [{ name: 't', target: 'no' }] },
      {},
    );
    expect(missing.map((m) => m.import)).to.deep.equal(['v', 't']);
  });

  it('do not show the content of a secret that is not valid YAML', () => {
    const { missing } = find(
      { data: [{ name: 'v', secretRef: { name: 's', key: 'k' } }] },
      { secrets: { s: { data: { k: base64('a: hidden: s3cr3t') } } } },
    );
    expect(missing[0]?.message).to.contain('secret demo/s cannot be read').and.not.contain('s3cr3t');
  });
});

describe('an import with an integer that would lose digits', () => {
  const LONG = 9007199254740993n;
  const rows: readonly [string, Parameters<typeof find>[0], Parameters<typeof find>[1], string][] = [
    [
      'a data object',
      { data: [{ name: 'v', dataRef: 'd' }] },
      { dataObjects: [dataObject('d', { a: [{ n: LONG }] })] },
      'data object demo/d: data.a[0].n is the integer 9007199254740993 beyond 2^53',
    ],
    [
      'a data object that contains only a number',
      { data: [{ name: 'v', dataRef: 'd' }] },
      { dataObjects: [dataObject('d', LONG)] },
      'data object demo/d: data is the integer 9007199254740993 beyond 2^53',
    ],
  ];
  for (const [title, spec, world, message] of rows) {
    it(`names ${title}, the field and the remedy`, () => {
      const [missing] = find(spec, world).missing;
      expect(missing?.message).to.contain(message).and.contain('write it as a string, in quotes');
    });
  }
});

describe('a target with an integer that would lose digits', () => {
  it('is rejected with the name of its field, without the digits, because targets contain secrets', () => {
    const targets = [target('t', { n: 9007199254740993n })];
    for (const spec of [{ target: 't' }, { targets: ['t'] }, { targetMap: { red: 't' } }]) {
      const { imports, missing } = find({ targets: [{ name: 'i', ...spec }] }, { targets });
      expect(missing[0]?.message)
        .to.contain('target demo/t: spec.config.n')
        .and.not.contain('9007199254740993');
      expect(imports.targets.size + imports.targetLists.size + imports.targetMaps.size).to.equal(0);
    }
  });
});

describe('an installation that imports too much', () => {
  const MIB = 2 ** 20;
  const large = dataObject('large', 'x'.repeat(MIB));
  const times = (count: number): InstallationImports => ({
    data: Array.from({ length: count }, (_, i) => ({ name: `i${i}`, dataRef: 'large' })),
  });
  const sentence = (spec: InstallationImports, world: World): string | undefined => {
    const { imports, missing } = find(spec, world);
    if (missing.length > 0)
      expect([imports.data.size, imports.targets.size, missing.length]).to.deep.equal([0, 0, 1]);
    return missing[0]?.message;
  };

  it('counts an object as often as it is imported', () => {
    expect(sentence(times(15), { dataObjects: [large] })).to.equal(undefined);
    expect(sentence(times(16), { dataObjects: [large] })).to.equal(
      'the imports of the installation have more than 16 MiB as JSON, the limit for one installation: divide them among sub-installations',
    );
  });

  it('counts secrets and config maps by their parsed value', () => {
    const aliases = `a: &a ${'x'.repeat(1000)}\nb: [${'*a, '.repeat(9_000)}]`;
    const secretRef = { name: 's', key: 'k' };
    const configMapRef = { name: 'c' };
    const spec = {
      data: [
        { name: 'a', secretRef },
        { name: 'b', configMapRef },
      ],
    };
    const world = {
      secrets: { s: { data: { k: base64(aliases) } } },
      configMaps: { c: { data: { k: aliases } } },
    };
    expect(sentence({ data: spec.data.slice(0, 1) }, world)).to.equal(undefined);
    expect(sentence(spec, world)).to.match(/more than 16 MiB/);
  });

  it('counts targets of lists and maps, with integers of any length', () => {
    const targets = [target('t', { kubeconfig: 'x'.repeat(MIB) })];
    const list = (count: number): InstallationImports => ({
      targets: [{ name: 'list', targets: Array<string>(count).fill('t') }],
    });
    expect(sentence(list(15), { targets })).to.equal(undefined);
    expect(sentence(list(16), { targets })).to.match(/more than 16 MiB/);
    const targetMap = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, 't']));
    expect(sentence({ targets: [{ name: 'map', targetMap }] }, { targets })).to.match(/more than 16 MiB/);
  });

  it('counts what aliases stand for in all entries of an object together, while it reads them', () => {
    const data = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, aliased(25)]));
    const spec = { data: [{ name: 'all', configMapRef: { name: 'c' } }] };
    expect(sentence(spec, { configMaps: { c: { data } } })).to.equal(
      'configmap demo/c cannot be read: the values, with their aliases, have more than 16 MiB together: divide them among sub-installations',
    );
    expect(sentence(spec, { configMaps: { c: { data: { k: aliased(25) } } } })).to.equal(undefined);
  });

  it('is rejected because of its number of imports before any object is read', () => {
    const spec = { ...times(999), targets: [{ name: 't', target: 't' }] };
    const nothing = { ...lookups({}), dataObject: () => expect.fail('looked up') };
    const refused = findImports(
      installation('shop', { imports: { ...spec, ...times(1000) } }),
      undefined,
      nothing,
    );
    expect(refused.missing).to.deep.equal([
      {
        import: 'i0',
        message:
          'the installation has 1001 imports; the limit is 1000 for one installation: divide them among sub-installations',
      },
    ]);
    expect(sentence(spec, { dataObjects: [dataObject('large', 1)], targets: [target('t')] })).to.equal(
      undefined,
    );
  });

  it('is rejected because of the number of targets in its lists', () => {
    const named = { name: 'list', targets: Array<string>(10_001).fill('t') };
    expect(sentence({ targets: [named] }, {})).to.equal(
      'the target lists and maps of the installation name 10001 targets; the limit is 10000 for one installation: divide them among sub-installations',
    );
  });
});
