import { outcome } from '../../support/outcome.ts';
import { expect } from 'chai';
import { SubInstallationsInvalid, TemplateFailed } from '../../../src/blueprint/errors.ts';
import { childInstallation, renderSubInstallations } from '../../../src/blueprint/sub-installations.ts';
import { blueprint, CLUSTER, context, installation, runner } from '../dataflow/given.ts';

const FILES = { 'blueprint.yaml': 'apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n' };
const HEAD = { apiVersion: 'landscaper.gardener.cloud/v1alpha1', kind: 'InstallationTemplate' };
const template = (name: string, more: object = {}) => ({ name, blueprint: { filesystem: FILES }, ...more });
const takes = (dataRef: string) => ({ imports: { data: [{ name: 'i', dataRef }] } });
const gives = (dataRef: string) => ({ exports: { data: [{ name: 'o', dataRef }] } });
const takesTarget = (form: object) => ({ imports: { targets: [{ name: 't', ...form }] } });
const givesTarget = (target: string) => ({ exports: { targets: [{ name: 't', target }] } });

const parentImports = [
  { name: 'region', schema: {} },
  { name: 'cl', targetType: CLUSTER },
  { name: 'ts', type: 'targetList', targetType: CLUSTER },
  { name: 'tm', type: 'targetMap', targetType: CLUSTER },
  { name: 'late', schema: {}, required: false },
];
const render = (
  subinstallations: readonly unknown[],
  more: object = {},
  files: Record<string, unknown> = {},
) =>
  renderSubInstallations(
    context(blueprint({ imports: parentImports, subinstallations, ...more }, files), {
      region: 'eu',
      cl: {},
      ts: [],
      tm: {},
    }),
  );
const executions = (text: string) => ({
  subinstallationExecutions: [{ name: 's', type: 'GoTemplate', template: text }],
});

describe('templates of sub-installations', () => {
  it('come from executions first, then from the list and its files', async () => {
    const files = { 'db.yaml': JSON.stringify({ ...HEAD, ...template('db') }) };
    const text =
      'subinstallations: [{{ range until 2 }}{name: s{{ . }}, blueprint: {filesystem: {}}},{{ end }}]';
    const names = (await render([template('a'), { file: '/db.yaml' }], executions(text), files)).map(
      ({ name }) => name,
    );
    expect(names).to.deep.equal(['s0', 's1', 'a', 'db']);
  });

  it('that miss an import are compared with known names for the first few errors only', async () => {
    const many = Array.from({ length: 20 }, (_, i) => template(`t${i}`, takes(`regoin${i}`)));
    const { message } = await render(many).then(
      () => new Error('no error'),
      (error: unknown) => error as Error,
    );
    expect(message.match(/is neither an import/g)).to.have.lengthOf(20);
    expect(message.match(/did you mean "region"/g)).to.have.lengthOf(3);
  });

  it('may have keys in any case, and no apiVersion and kind', async () => {
    const text = 'subInstallations: [{Name: 5, blueprint: {FileSystem: {a: b}}}]';
    expect(await render([], executions(text))).to.deep.equal([
      { name: '5', blueprint: { filesystem: { a: 'b' } } },
    ]);
  });

  it('see imports', async () => {
    const text = 'subinstallations: [{name: "in-{{ .imports.region }}", blueprint: {filesystem: {}}}]';
    expect((await render([], executions(text)))[0]?.name).to.equal('in-eu');
  });

  it('lose imports that refer to an optional import without value', async () => {
    const data = [
      { name: 'i', dataRef: 'region' },
      { name: 'j', dataRef: 'late' },
    ];
    expect((await render([template('a', { imports: { data } })]))[0]?.imports).to.deep.equal({
      data: data.slice(0, 1),
    });
  });

  it('may use all imports of the parent and exports of siblings', async () => {
    await render([
      template('a', { ...gives('x'), ...takes('region') }),
      template('b', takes('x')),
      template('c', takesTarget({ target: 'cl' })),
      template('d', takesTarget({ target: 'ts[7]' })),
      template('e', takesTarget({ targets: ['tm[red]', 'cl', 'made'] })),
      template('f', takesTarget({ targetMap: { a: 'cl' } })),
      template('g', takesTarget({ targetListRef: 'ts' })),
      template('h', takesTarget({ targetMapRef: 'tm' })),
      template('i', takesTarget({ targets: [] })),
      template('j', givesTarget('made')),
    ]);
  });

  it('may export data and a target with the same name', async () => {
    await render([template('a', gives('same')), template('b', givesTarget('same'))]);
  });

  const UNSATISFIED = 'Not found: "import not satisfied"';
  const long = 'a'.repeat(53);
  const mistakes: readonly [string, readonly unknown[], string][] = [
    [
      'unknown data',
      [template('web', takes('nowhere'))],
      `subinstallations.web.imports.data[0][i]: ${UNSATISFIED}`,
    ],
    [
      'a literal name',
      [template('web', takes('#r'))],
      `subinstallations.web.imports.data[0][i]: ${UNSATISFIED}`,
    ],
    [
      'a target as data',
      [template('web', takes('cl'))],
      `subinstallations.web.imports.data[0][i]: ${UNSATISFIED}`,
    ],
    [
      'an unknown target',
      [template('web', takesTarget({ target: 'no' }))],
      `subinstallations.web.imports.targets[0][t]: ${UNSATISFIED}`,
    ],
    [
      'an element of a single target',
      [template('web', takesTarget({ target: 'cl[0]' }))],
      `subinstallations.web.imports.targets[0][t]: ${UNSATISFIED}`,
    ],
    [
      'a list as target',
      [template('web', takesTarget({ target: 'ts' }))],
      `subinstallations.web.imports.targets[0][t]: ${UNSATISFIED}`,
    ],
    [
      'an unknown list',
      [template('web', takesTarget({ targetListRef: 'no' }))],
      `subinstallations.web.imports.targets[0][t]: ${UNSATISFIED}`,
    ],
    [
      'a target as map',
      [template('web', takesTarget({ targetMapRef: 'cl' }))],
      `subinstallations.web.imports.targets[0][t]: ${UNSATISFIED}`,
    ],
    [
      'two exporters',
      [template('a', gives('dup')), template('b', gives('dup'))],
      "subinstallations.b.exports.data[0][o/dup]: Forbidden: data export 'dup' is already exported by subinstallations.a.exports.data[0][o/dup]",
    ],
    [
      'two exporters of a target',
      [template('a', givesTarget('dup')), template('b', givesTarget('dup'))],
      "subinstallations.b.exports.targets[0][t/dup]: Forbidden: target export 'dup' is already exported by subinstallations.a.exports.targets[0][t/dup]",
    ],
    [
      'an export over an import',
      [template('a', gives('region'))],
      'subinstallations.a.exports.data[0][o/region]: Forbidden: export is imported by its parent; rename the export, or import "region" of the parent',
    ],
    [
      'a secret',
      [template('a', { imports: { data: [{ name: 'i', secretRef: { name: 's', key: 'k' } }] } })],
      'subinstallations.a.imports.data[0].secretRef: Forbidden: secret references are not allowed in a installation template',
    ],
    [
      'a config map',
      [template('a', { imports: { data: [{ name: 'i', configMapRef: { name: 's' } }] } })],
      'subinstallations.a.imports.data[0].configMapRef: Forbidden: configMap references are not allowed in a installation template',
    ],
    [
      'an import without source',
      [template('a', { imports: { data: [{ name: 'i' }] } })],
      'subinstallations.a.imports.data[0].dataRef: Required value: dataRef must not be empty',
    ],
    [
      'an import without name',
      [template('a', { imports: { data: [{ dataRef: 'region' }] } })],
      'subinstallations.a.imports.data[0].name: Required value: name must not be empty',
    ],
    [
      'a duplicate import',
      [
        template('a', {
          imports: { data: [{ name: 'i', dataRef: 'region' }], targets: [{ name: 'i', target: 'cl' }] },
        }),
      ],
      'subinstallations.a.imports.targets[0]: Duplicate value: "i"',
    ],
    [
      'a duplicate name',
      [template('a'), template('a')],
      'subinstallations.a: Duplicate value: "duplicated subinstallation"',
    ],
    [
      'a long name',
      [template(long)],
      `subinstallations.${long}.name: Invalid value: "${long}": must be no more than 52 characters`,
    ],
    [
      'an invalid name',
      [template('A_b')],
      'subinstallations.A_b.name: Invalid value: "A_b": a lowercase RFC 1123 label',
    ],
    [
      'a missing name',
      [{ blueprint: { filesystem: {} } }],
      'subinstallations[0].name: Required value: name must be defined',
    ],
    [
      'a missing blueprint',
      [{ name: 'a' }],
      'subinstallations.a.blueprint: Required value: a blueprint must be defined',
    ],
    ['a missing file', [{ file: '/nope.yaml' }], 'subinstallations[0].file: Not found: "/nope.yaml"'],
    [
      'a file of another kind',
      [{ file: '/blueprint.yaml' }],
      'subinstallations[0].file: Invalid value: "/blueprint.yaml": unable to decode installation template',
    ],
    ['an empty template', [{}], 'neither a inline installation template nor a file is defined in index 0'],
    ['a wrong type', [{ name: 'a', imports: [1] }], 'imports: expected a map, found a list'],
  ];
  for (const [title, templates, message] of mistakes) {
    it(`are rejected because of ${title}`, async () => {
      expect(await outcome(render(templates))).to.throw(SubInstallationsInvalid, message);
    });
  }

  it('are rejected if one file is named so often that reading it takes long', async () => {
    const files = { 'large.yaml': JSON.stringify({ ...HEAD, ...template('db'), notes: 'x'.repeat(30_000) }) };
    const templates = Array.from({ length: 100 }, () => ({ file: '/large.yaml' }));
    expect(await outcome(render(templates, {}, files))).to.throw(
      SubInstallationsInvalid,
      /subinstallations\[69\]\.file: with "\/large\.yaml" the files of templates have \d+ characters together, more than 2097152, a fixed limit/,
    );
  });

  it('are rejected because of a cycle, with the error code for it', async () => {
    const cycle = [
      template('a', { ...takes('y'), ...gives('x') }),
      template('b', { ...takes('x'), ...gives('y') }),
    ];
    expect(await outcome(render(cycle)))
      .to.throw(
        SubInstallationsInvalid,
        'the subinstallations have a cycle: a -{depends_on}-> b -{depends_on}-> a',
      )
      .with.deep.property('codes', ['ERR_CYCLIC_DEPENDENCIES']);
  });

  it('that cannot be read are an error of the template', async () => {
    expect(await outcome(render([], executions('subinstallations: [5]')))).to.throw(
      TemplateFailed,
      'error while decoding templated execution: subinstallations[0]: expected a map, found a number',
    );
  });
});

describe('a child installation', () => {
  const parent = installation('shop');

  it('has the fields that upstream would create', async () => {
    const child = childInstallation(parent, {
      ...template('db', { ...takes('region'), ...gives('url') }),
      importDataMappings: { zone: '(( i ))' },
    });
    expect(child).to.deep.equal({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Installation',
      metadata: {
        generateName: 'db-',
        namespace: 'demo',
        labels: { 'landscaper.gardener.cloud/encompassed-by': 'shop' },
        annotations: { 'landscaper.gardener.cloud/subinstallation-name': 'db' },
        finalizers: ['finalizer.landscaper.gardener.cloud'],
        ownerReferences: [
          {
            apiVersion: 'landscaper.gardener.cloud/v1alpha1',
            kind: 'Installation',
            name: 'shop',
            uid: 'uid-shop',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        context: 'default',
        componentDescriptor: {},
        blueprint: { inline: { filesystem: FILES } },
        imports: { data: [{ name: 'i', dataRef: 'region' }] },
        exports: { data: [{ name: 'o', dataRef: 'url' }] },
        importDataMappings: { zone: '(( i ))' },
      },
    });
  });

  it('has empty imports and exports, but no empty lists in them; an empty list of targets stays', async () => {
    const { spec } = childInstallation(parent, {
      ...template('db'),
      imports: { data: [], targets: [{ name: 't', targets: [] }] },
      exports: { data: [] },
    });
    expect(spec.imports).to.deep.equal({ targets: [{ name: 't', targets: [] }] });
    expect(spec.exports).to.deep.equal({});
    expect(childInstallation(parent, template('x')).spec).to.deep.include({ imports: {}, exports: {} });
  });

  it('inherits that charts are cached', async () => {
    const key = 'landscaper.gardener.cloud/cache-helm-charts';
    const wishing = installation('shop', {}, { annotations: { [key]: 'true' } });
    expect(childInstallation(wishing, template('a')).metadata.annotations).to.have.property(key, 'true');
  });

  it('inherits that the component is verified', async () => {
    const verification = { signatureName: 'vendor' };
    const careful = installation('shop', { verification });
    expect(childInstallation(careful, template('a')).spec.verification).to.deep.equal(verification);
    expect(childInstallation(parent, template('a')).spec).not.to.have.property('verification');
  });

  it('cannot take its blueprint from a missing component', async () => {
    expect(() => childInstallation(parent, { name: 'a', blueprint: { ref: 'cd://resources/x' } })).to.throw(
      SubInstallationsInvalid,
      'unable to create installation for a: no component descriptor defined to resolve the blueprint ref',
    );
  });
});

describe('the number of sub-installations', () => {
  const produced = async (count: number, written: readonly unknown[] = []) => {
    const loaded = blueprint({ subinstallations: written, ...executions('') });
    const output = { subinstallations: Array.from({ length: count }, (_, i) => template(`s${String(i)}`)) };
    const counting = { ...runner, render: () => Promise.resolve({ output }) };
    return outcome(renderSubInstallations({ ...context(loaded, {}), runner: counting }));
  };

  it('may be 10000', async () => {
    expect((await produced(9999, [template('a')]))()).to.have.length(10_000);
  });

  for (const [count, written] of [
    [199_999, 1],
    [10_000, 1],
    [0, 10_001],
  ] as const) {
    it(`may not be ${String(count)} rendered and ${String(written)} listed ones`, async () => {
      const list = Array.from({ length: written }, (_, i) => template(`a${String(i)}`));
      expect(await produced(count, list)).to.throw(
        SubInstallationsInvalid,
        `the blueprint has ${String(count + written)} sub-installations; the limit is 10000`,
      );
    });
  }
});
