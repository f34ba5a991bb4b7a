/** Where imports are from, and what uses them. */
import { expect } from 'chai';
import { labels } from '../../../../src/api/labels.ts';
import { objectName } from '../../../../src/dataflow/scope.ts';
import {
  landscapeOf,
  type Inst,
  type Landscape,
  type TraceObjects,
} from '../../../../src/cli/trace/landscape.ts';
import { sourcesOf } from '../../../../src/cli/trace/sources.ts';
import { OMITTED, someStep, type TraceStep } from '../../../../src/cli/trace/step.ts';
import { usesOf } from '../../../../src/cli/trace/uses.ts';
import { dataObject, target } from '../../../support/landscape.ts';
import { collected, installation, item } from '../given.ts';

const dataImport = (name: string, dataRef: string) => ({ name, dataRef });
const copyOf = (inst: string, key: string, data: unknown) =>
  dataObject(objectName(`Inst.${inst}`, key), data);

/** `shop` passes its imports to `web` and `db`; `web` imports what `db` exports. */
const installations = [
  installation('shop', {
    spec: {
      imports: {
        data: [
          dataImport('settings', 'shop-settings'),
          { name: 'password', secretRef: { name: 'shop', key: 'password' } },
          { name: 'region', configMapRef: { name: 'regions' } },
        ],
        targets: [
          { name: 'cluster', target: 'my-cluster' },
          { name: 'backups', targets: ['eu', 'us'] },
        ],
      },
      importDataMappings: {
        login: { user: 'admin', password: '(( password ))', host: '(( settings.host ))' },
        settings: '(( settings ))',
      },
    },
  }),
  installation('db-x', {
    parent: 'shop',
    template: 'db',
    spec: {
      exports: { data: [dataImport('address', 'db-address')] },
      exportDataMappings: { address: '(( host ))' },
    },
  }),
  installation('web-x', {
    parent: 'shop',
    template: 'web',
    spec: {
      imports: {
        data: [
          dataImport('database', 'db-address'),
          dataImport('login', 'login'),
          dataImport('lost', 'nothing'),
        ],
        targets: [
          { name: 'cluster', target: 'cluster' },
          { name: 'backups', targetListRef: 'backups' },
        ],
      },
    },
  }),
  installation('cycle', {
    spec: {
      imports: { data: [dataImport('in', 'out'), dataImport('other', 'shop-settings')] },
      exports: { data: [dataImport('out', 'out')] },
    },
  }),
];
const withSpec = <T extends { spec: object }>(one: T, spec: object): T => ({
  ...one,
  spec: { ...one.spec, ...spec },
});
const inShop = objectName('Inst.shop', 'cluster');
const element = {
  ...target('element'),
  metadata: {
    name: 'element',
    labels: { [labels.dataContext]: 'Inst.shop', [labels.dataKey]: 'backups' },
  },
};
const landscape: Landscape = landscapeOf('proj', {
  ...collected(
    ...installations,
    withSpec(item('server-1', { execution: 'web-x', template: 'server' }), {
      target: { name: inShop, namespace: 'proj' },
      config: { url: 'postgres://db.example.org:5432', user: 'admin' },
    }),
    withSpec(item('backup-1', { execution: 'web-x', template: 'backup' }), {
      target: { name: 'element', namespace: 'proj' },
      config: {},
    }),
  ),
  dataObjects: [
    dataObject('shop-settings', { host: 'x' }),
    copyOf('web-x', 'database', { host: 'db.example.org', port: 5432, short: 'db' }),
    copyOf('web-x', 'login', { user: 'admin' }),
  ],
  targets: [target('my-cluster'), target('eu'), element],
} as unknown as TraceObjects);

const linesOf = (steps: readonly TraceStep[], indent = ''): readonly string[] =>
  steps.flatMap(({ text, steps: next }) => [`${indent}${text}`, ...linesOf(next, `${indent}  `)]);
const inst = (name: string) => landscape.installation(name)!;

describe('the sources of an import', () => {
  for (const [what, name, importName, lines] of [
    [
      'a data object, through a mapping of the same name',
      'shop',
      'settings',
      [
        'mapping settings of installation shop',
        '  import settings of installation shop',
        '    DataObject proj/shop-settings',
      ],
    ],
    ['a Secret', 'shop', 'password', ['Secret proj/shop, key password']],
    ['a ConfigMap', 'shop', 'region', ['ConfigMap proj/regions']],
    ['a Target', 'shop', 'cluster', ['Target proj/my-cluster']],
    [
      'Targets, one of which is missing',
      'shop',
      'backups',
      ['Target proj/eu', 'Target proj/us, which does not exist'],
    ],
    [
      'a mapping of the parent',
      'web-x',
      'login',
      [
        'import login of installation shop',
        '  mapping login of installation shop',
        '    import settings of installation shop',
        '      DataObject proj/shop-settings',
        '    import password of installation shop',
        '      Secret proj/shop, key password',
      ],
    ],
    [
      'an export of a sibling',
      'web-x',
      'database',
      [
        'export address of installation shop/db, published as db-address',
        '  export mapping address of installation shop/db',
        '    templates of the blueprint of installation shop/db, which see its imports',
      ],
    ],
    [
      'a name that does not exist',
      'web-x',
      'lost',
      ['import nothing of installation shop, which does not exist'],
    ],
    [
      'a list of the parent',
      'web-x',
      'backups',
      ['import backups of installation shop', '  Target proj/eu', '  Target proj/us, which does not exist'],
    ],
    [
      'a cycle',
      'cycle',
      'in',
      [
        'export out of installation cycle',
        '  templates of the blueprint of installation cycle, which see its imports',
      ],
    ],
  ] as const)
    it(`are followed to ${what}`, () => {
      expect(linesOf(sourcesOf(inst(name), importName, landscape)?.steps ?? [])).to.deep.equal(lines);
    });

  it('do not exist for an unknown name', () => {
    expect(sourcesOf(inst('shop'), 'setting', landscape)).to.equal(undefined);
  });

  for (const [name, importName, isSecret] of [
    ['shop', 'settings', true], // the mapping may use the password
    ['cycle', 'other', false],
    ['shop', 'password', true],
    ['shop', 'region', false],
    ['web-x', 'login', true],
    ['web-x', 'database', true],
  ] as const)
    it(`are ${isSecret ? '' : 'not '}secret: ${name} ${importName}`, () => {
      const steps = sourcesOf(inst(name), importName, landscape)?.steps ?? [];
      expect(someStep(steps, (step) => step.isSecret === true)).to.equal(isSecret);
    });
});

describe('the uses of an import', () => {
  for (const [what, name, importName, flow, lines] of [
    [
      'mappings, sub-installations and deploy items',
      'shop',
      'password',
      'data',
      [
        'mapping login of installation shop',
        '  import login of installation shop/web',
        '    deploy item shop/web/server, whose configuration contains user',
      ],
    ],
    [
      'the parts of its value',
      'web-x',
      'database',
      'data',
      ['deploy item shop/web/server, whose configuration contains host, port'],
    ],
    [
      'the targets of deploy items',
      'shop',
      'cluster',
      'target',
      ['import cluster of installation shop/web', '  target of deploy item shop/web/server'],
    ],
    [
      'elements of lists',
      'shop',
      'backups',
      'target',
      ['import backups of installation shop/web', '  target of deploy item shop/web/backup'],
    ],
    ['nothing', 'web-x', 'lost', 'data', []],
  ] as const)
    it(`are ${what}`, () => {
      expect(linesOf(usesOf(inst(name), importName, flow, landscape))).to.deep.equal(lines);
    });
});

describe('a hostile landscape', () => {
  const LEVELS = 8;
  const WIDTH = 8;
  const names = Array.from({ length: WIDTH }, (_, i) => `v${String(i)}`);
  /** Every import of a level is computed from all of the level above: more paths than anybody can follow. */
  const ladder = landscapeOf('proj', {
    ...collected(
      ...Array.from({ length: LEVELS }, (_, level) =>
        installation(`l${String(level)}`, {
          ...(level > 0 && { parent: `l${String(level - 1)}` }),
          spec: {
            imports: { data: names.map((name) => dataImport(name, name)) },
            importDataMappings: Object.fromEntries(
              names.map((name) => [name, names.map((other) => `(( ${other} ))`)]),
            ),
          },
        }),
      ),
    ),
    dataObjects: [],
    targets: [],
  });
  const at = (place: Landscape, name: string) => place.installation(name) as Inst;

  it('ends the walk to the sources after a number of steps, and counts as secret', () => {
    const steps = sourcesOf(at(ladder, `l${String(LEVELS - 1)}`), 'v0', ladder)?.steps ?? [];
    expect(linesOf(steps).some((line) => line.trim() === OMITTED.text)).to.equal(true);
    expect(someStep(steps, (step) => step.isSecret === true)).to.equal(true);
  });

  it('ends the walk to the uses after a number of steps', () => {
    const lines = linesOf(usesOf(at(ladder, 'l0'), 'v0', 'data', ladder));
    expect(lines.some((line) => line.trim() === OMITTED.text)).to.equal(true);
  });

  it('may have a circle of parents', () => {
    const circle = landscapeOf('proj', {
      ...collected(installation('a', { parent: 'b' }), installation('b', { parent: 'a' })),
      dataObjects: [],
      targets: [],
    });
    expect(circle.pathOf(at(circle, 'a'))).to.equal('b/a');
  });
});
