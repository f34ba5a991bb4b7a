import { expect } from 'chai';
import { renderDeployItems } from '../../../src/blueprint/deployitems.ts';
import { TemplateFailed } from '../../../src/blueprint/errors.ts';
import { runImportExecutions } from '../../../src/blueprint/imports.ts';
import { States, stateSecretName } from '../../../src/blueprint/state.ts';
import { renderSubInstallations } from '../../../src/blueprint/sub-installations.ts';
import { outcome } from '../../support/outcome.ts';
import { blueprint, context } from '../dataflow/given.ts';

const spiff = (template: unknown, name = 's') => ({ name, type: 'Spiff', template });
const noTargets = { namespace: 'demo', targets: new Map(), targetLists: new Map(), targetMaps: new Map() };

describe('Spiff executions', () => {
  const bindings = (template: unknown, files: Record<string, unknown> = {}) =>
    runImportExecutions(
      context(blueprint({ importExecutions: [spiff(template)] }, files), { prefix: 'p', n: 3 }),
    );

  it('create bindings, from a tree, a string or a file', async () => {
    const expected = { prefix: 'p', n: 3, full: 'p-x' };
    expect(await bindings({ bindings: { full: '(( imports.prefix "-x" ))' } })).to.deep.equal(expected);
    expect(await bindings('bindings:\n  full: (( imports.prefix "-x" ))\n')).to.deep.equal(expected);
    const file = { name: 's', type: 'Spiff', file: '/b.yaml' };
    const loaded = blueprint(
      { importExecutions: [file] },
      { 'b.yaml': 'bindings: {full: (( imports.prefix "-x" ))}' },
    );
    expect(await runImportExecutions(context(loaded, { prefix: 'p', n: 3 }))).to.deep.equal(expected);
  });

  it('read the files of the blueprint', async () => {
    expect(await bindings({ bindings: { a: '(( read("/a.txt", "text") ))' } }, { 'a.txt': 'hi' })).to.include(
      {
        a: 'hi',
      },
    );
  });

  it('create items and sub-installations', async () => {
    const item = { name: '(( imports.name ))', type: 'test.example/fake', config: { v: '(( imports.n ))' } };
    const loaded = blueprint({ deployExecutions: [spiff({ deployItems: [item] })] });
    expect(await renderDeployItems(context(loaded, { name: 'web', n: 3 }), noTargets)).to.deep.equal([
      { name: 'web', type: 'test.example/fake', config: { v: 3 } },
    ]);
    const child = { name: '(( "c" 1 ))', blueprint: { ref: 'cd://resources/x' } };
    const parent = blueprint({ subinstallationExecutions: [spiff({ subinstallations: [child] })] });
    expect((await renderSubInstallations(context(parent, {}))).map(({ name }) => name)).to.deep.equal(['c1']);
  });

  it('DF-80: always write their state, with the recorded names', async () => {
    const states = new States();
    const loaded = blueprint({ deployExecutions: [spiff({ deployItems: [] })] });
    await renderDeployItems({ ...context(loaded, {}), states }, noTargets);
    expect(states.updates).to.deep.equal([
      { secretName: stateSecretName('shop', 'deploy', 's'), state: {}, format: 'yaml' },
    ]);
  });

  const values: readonly (readonly [expression: string, value: unknown])[] = [
    ['parseOCIRef("example.org/a:1.2")', ['example.org/a', '1.2']],
    ['ociRefRepo("example.org/a:1.2")', 'example.org/a'],
    ['ociRefVersion("example.org/a:1.2")', '1.2'],
  ];
  for (const [expression, value] of values) {
    it(`know (( ${expression} ))`, async () =>
      expect(await bindings({ bindings: { r: `(( ${expression} ))` } })).to.have.deep.property('r', value));
  }

  const failures: readonly (readonly [title: string, template: unknown, message: string])[] = [
    [
      'for a resource without component',
      { bindings: { r: '(( getResource("name", "x") ))' } },
      '*Unable to search for a resource as no ComponentDescriptor is defined.',
    ],
    ['with their input, but without the values', { r: '(( nope ))' }, 'template input:\n'],
    ['for two documents', 'a: 1\n---\nb: 2', 'multi document not possible'],
    [
      'for a function that only GoTemplate has',
      { r: '(( getResources("a", "b") ))' },
      "unknown function 'getResources'",
    ],
  ];
  for (const [title, template, message] of failures) {
    it(`fail ${title}`, async () => {
      expect(await outcome(Promise.resolve(bindings(template)))).to.throw(TemplateFailed, message);
    });
  }
});
