/** Spiff executions and mappings in real jobs, and their state from one job to the next. */
import { expect } from 'chai';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { stateSecretName } from '../../../src/blueprint/state.ts';
import { useCluster } from '../../support/cluster.ts';
import { blueprint, mockItem, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const values = {
  name: 'web',
  num: 3,
  nul: null,
  e: '',
  l: ['one', 'two'],
  m: { a: 1, b: 2 },
  objs: [
    { name: 'p', v: 'x' },
    { name: 'q', v: 'y' },
  ],
};

/** An installation that exports the result of its Spiff document for the values. */
const exporting = (name: string, out: unknown) =>
  root(name, {
    more: {
      exports: [{ name: 'out', type: 'data', schema: {} }],
      importExecutions: [
        { name: 'values', type: 'GoTemplate', template: `bindings: ${JSON.stringify({ v: values })}` },
      ],
      exportExecutions: [{ name: 'results', type: 'Spiff', template: { exports: { out } } }],
    },
    spec: { exports: { data: [{ name: 'out', dataRef: `${name}-out` }] } },
  });

async function stateOf(scene: Scene, name: string, kind: 'deploy' | 'export', execution: string) {
  const secret = await scene.cluster.client.get(
    secretKind,
    `${scene.ns}/${stateSecretName(name, kind, execution)}`,
  );
  const text = Buffer.from(secret.data?.['config'] ?? '', 'base64').toString();
  return { owners: secret.metadata.ownerReferences?.map((owner) => owner.name), text };
}

describe('Spiff in a job', () => {
  const here = useCluster();

  const expressions: Readonly<Record<string, readonly [expression: string, value: unknown]>> = {
    'DF-125': ['imports.v.name "-" "x"', 'web-x'],
    'DF-126': ['imports.v.nope || "d"', 'd'],
    'DF-127': ['imports.v.nul // "d"', 'd'],
    'DF-128': ['imports.v.e // "d"', ''],
    'DF-130': ['imports.v.num == 3', false],
    'DF-132': ['imports.v.l [ "three" ]', ['one', 'two', 'three']],
    'DF-133': ['imports.v.m { "b" = "z" }', { a: 1, b: 'z' }],
    'DF-134': ['map[imports.v.l|x|->{"name" = x}]', [{ name: 'one' }, { name: 'two' }]],
    'DF-135': [
      'sum[imports.v.m|[]|s,k,v|->s [{"key" = k, "value" = v}]]',
      [
        { key: 'a', value: 1 },
        { key: 'b', value: 2 },
      ],
    ],
    'DF-136': ['imports.v.objs.[*].v', ['x', 'y']],
    'DF-137': ['imports.v.name == "web" ? "yes!" :"no"', 'yes!'],
  };

  it('DF-125, 126, 127, 128, 130, 132, 133, 134, 135, 136, 137: exports the values of its expressions', async () => {
    const scene = await here.scene();
    const document = Object.fromEntries(
      Object.entries(expressions).map(([number, [expression]]) => [number, `(( ${expression} ))`]),
    );
    await scene.create(exporting('expressions', document));
    await scene.finished('expressions', 'Succeeded');
    expect(scene.dataObject('expressions-out')?.data).to.deep.equal(
      Object.fromEntries(Object.entries(expressions).map(([number, [, value]]) => [number, value])),
    );
  });

  it('DF-129, 139, 140, 141: exports the result of its document', async () => {
    const scene = await here.scene();
    await scene.create(
      exporting('documents', {
        gone: '(( imports.v.nope || ~~ ))',
        text: 'pre (( imports.v.name ))',
        escaped: '((! x ))',
        merged: { '<<<': '(( imports.v.m ))', a: 9, d: 4 },
        h: { '<<<': '(( &temporary ))', p: 'p-' },
        f: '(( &temporary(lambda |x|->h.p x) ))',
        called: '(( .exports.out.f("q") ))',
      }),
    );
    await scene.finished('documents', 'Succeeded');
    expect(scene.dataObject('documents-out')?.data).to.deep.equal({
      text: 'pre (( imports.v.name ))',
      escaped: '(( x ))',
      merged: { a: 9, b: 2, d: 4 },
      called: 'p-q',
    });
  });

  const failures: readonly (readonly [title: string, expression: string, message: string])[] = [
    [
      'DF-131: fails for a double concatenated with a string',
      '"n" imports.v.num',
      `type 'float'(imports.v.num) cannot be concatenated with type 'string'("n")`,
    ],
    [
      'DF-142: fails for a command',
      'exec("id")',
      'exec: no OS operations supported in this execution environment',
    ],
    [
      'DF-156: ends the job for a resource without a component, where upstream panics forever',
      'getResource("name", "x")',
      'Unable to search for a resource as no ComponentDescriptor is defined.',
    ],
  ];
  for (const [title, expression, message] of failures) {
    it(title, async () => {
      const scene = await here.scene();
      await scene.create(exporting('failing', { r: `(( ${expression} ))` }));
      const { status } = await scene.finished('failing', 'Failed');
      expect(status?.lastError?.message).to.contain(message).and.contain('\ntemplate input:\n');
    });
  }

  it('keeps dates in files and characters beyond ASCII, which upstream corrupts', async () => {
    const scene = await here.scene();
    const words = { date: '2024-01-02', globe: '🌍', joined: '(( "Grüße " "🌍" ))' };
    await scene.create(exporting('words', words));
    await scene.finished('words', 'Succeeded');
    expect(scene.dataObject('words-out')?.data).to.deep.equal({
      date: '2024-01-02',
      globe: '🌍',
      joined: 'Grüße 🌍',
    });
  });

  it('DF-138: shows where a value is missing in an item', async () => {
    const scene = await here.scene();
    const item = { name: 'a', type: 'test.example/fake', config: { v: '(( imports.nope ))' } };
    await scene.create(
      root('shop', {
        more: { deployExecutions: [{ name: 'd', type: 'Spiff', template: { deployItems: [item] } }] },
      }),
    );
    const { status } = await scene.finished('shop', 'Failed');
    expect(status?.lastError?.message).to.contain(
      "unresolved nodes:\n\t(( imports.nope ))\tin template\tdeployItems.[0].config.v\t(deployItems.name:a.config.v)\t*'imports.nope' not found",
    );
    expect(status?.lastError?.codes).to.equal(undefined);
  });

  it('DF-63: a mapping computes, and does not see other mappings', async () => {
    const scene = await here.scene();
    const data = (name: string) => ({ name, type: 'data', schema: {} });
    const parts = (importDataMappings: object) =>
      root('mapped', { more: { imports: [data('x'), data('y')] }, spec: { importDataMappings } });
    await scene.create(parts({ x: '(( [ 1 .. 3 ] ))', y: '(( x ))' }));
    const { status } = await scene.finished('mapped', 'Failed');
    expect(status?.lastError?.message).to.contain(
      "unable to template import mapping template mapped.y: unresolved nodes:\n\t(( x ))\tin y\t\t()\t*'x' not found",
    );
  });
});

describe('the state of executions', () => {
  const here = useCluster();

  it('DF-143: is a Secret of the installation, and takes precedence in the next job', async () => {
    const scene = await here.scene();
    const template = { deployItems: [], r: '(( &state("new") ))', plain: '(( "p" ))' };
    await scene.create(
      root('shop', { more: { deployExecutions: [{ name: 'd', type: 'Spiff', template }] } }),
    );
    await scene.finished('shop', 'Succeeded');
    expect(await stateOf(scene, 'shop', 'deploy', 'd')).to.deep.equal({ owners: ['shop'], text: 'r: new\n' });

    await scene.patch(secretKind, stateSecretName('shop', 'deploy', 'd'), {
      data: { config: Buffer.from('r: old\n').toString('base64') },
    });
    await scene.again('shop', 'Succeeded');
    expect((await stateOf(scene, 'shop', 'deploy', 'd')).text).to.equal('r: old\n');
  });

  it('DF-81: is used by a merge in the next job, before it generates anything', async () => {
    const scene = await here.scene();
    const pw = (from: string) => `(( &state(merge || "${from}") ))`;
    const parts = (from: string) => {
      const item = mockItem('app', { export: { password: '(( pw ))' } });
      const template = { pw: pw(from), deployItems: [item] };
      return { more: { deployExecutions: [{ name: 'd', type: 'Spiff', template }] } };
    };
    await scene.create(root('shop', parts('old')));
    await scene.finished('shop', 'Succeeded');
    await scene.setBlueprint('shop', blueprint(parts('gen')));
    await scene.again('shop', 'Succeeded');
    expect(scene.item('shop', 'app')?.spec.config).to.have.deep.property('export', { password: 'old' });
    expect((await stateOf(scene, 'shop', 'deploy', 'd')).text).to.equal('pw: old\n');
  });

  it('DF-80: counts across jobs in a GoTemplate, and a failed job has counted too', async () => {
    const scene = await here.scene();
    const template = 'state: {count: {{ add1 (.state.count | default 0) }}}\ndeployItems: nothing';
    await scene.create(
      root('shop', { more: { deployExecutions: [{ name: 'd', type: 'GoTemplate', template }] } }),
    );
    await scene.finished('shop', 'Failed');
    expect((await stateOf(scene, 'shop', 'deploy', 'd')).text).to.equal('{"count":1}');
    await scene.again('shop', 'Failed');
    expect((await stateOf(scene, 'shop', 'deploy', 'd')).text).to.equal('{"count":2}');
  });

  it('keeps a generated value as docs/templating-spiff.md says', async () => {
    const scene = await here.scene();
    const template = parseYaml(`
pw: (( &state(merge || "gen-" imports.name) ))
deployItems:
  - name: app
    type: landscaper.gardener.cloud/mock
    config:
      apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1
      kind: ProviderConfiguration
      phase: Succeeded
      export:
        password: (( pw ))
        hosts: (( map[imports.hosts|h|->h "." imports.domain] ))
        replicas: (( imports.replicas || 1 ))
`);
    const parts = (name: string) => ({
      importExecutions: [
        {
          name: 'values',
          type: 'GoTemplate',
          template: JSON.stringify({ bindings: { name, domain: 'example.org', hosts: ['a', 'b'] } }),
        },
      ],
      deployExecutions: [{ name: 'main', type: 'Spiff', template }],
    });
    const expected = { hosts: ['a.example.org', 'b.example.org'], password: 'gen-shop', replicas: 1 };
    const exported = (): unknown =>
      (scene.item('shop', 'app')?.spec.config as { export?: unknown } | undefined)?.export;
    await scene.create(root('shop', { more: parts('shop') }));
    await scene.finished('shop', 'Succeeded');
    expect(exported()).to.deep.equal(expected);

    await scene.setBlueprint('shop', blueprint({ more: parts('renamed') }));
    await scene.again('shop', 'Succeeded');
    expect(exported()).to.deep.equal(expected);
  });
});
