import { outcome } from '../../support/outcome.ts';
import { expect } from 'chai';
import { renderDeployItems } from '../../../src/blueprint/deployitems.ts';
import { DeployItemsInvalid, ImportsRejected, TemplateFailed } from '../../../src/blueprint/errors.ts';
import { runImportExecutions } from '../../../src/blueprint/imports.ts';
import { States, stateSecretName, type StateUpdate } from '../../../src/blueprint/state.ts';
import { blueprint, context, target } from '../dataflow/given.ts';

const go = (template: string, name = 'g') => ({ name, type: 'GoTemplate', template });
const noTargets = { namespace: 'demo', targets: new Map(), targetLists: new Map(), targetMaps: new Map() };
const item = 'type: test.example/fake, config: {}';

describe('import executions', () => {
  const run = (...importExecutions: object[]) =>
    runImportExecutions(context(blueprint({ importExecutions }), { prefix: 'p' }));

  it('add bindings that the next one sees', async () => {
    expect(
      await run(
        go('bindings: {full: "{{ .imports.prefix }}-x"}'),
        go('bindings: {next: {{ .imports.full }}!}'),
      ),
    ).to.deep.equal({
      prefix: 'p',
      full: 'p-x',
      next: 'p-x!',
    });
  });

  it('may overwrite imports', async () => {
    expect(await run(go('bindings: {prefix: {a: map}}'))).to.deep.equal({ prefix: { a: 'map' } });
  });

  it('may have an empty result', async () => {
    expect(await run(go(''), go('errors: []'), go('other: 1'))).to.deep.equal({ prefix: 'p' });
  });

  it('may leave a value out without failing', async () => {
    expect(await run(go('bindings: {x: {{ .imports.nope }}}'))).to.have.property('x', '<no value>');
  });

  it('reject the imports with their errors, and the next one does not run', async () => {
    expect(await outcome(run(go('errors: [e1, "e2 {{ .imports.prefix }}"]'), go('{{ broken'))))
      .to.throw(ImportsRejected, 'import validation failed: e1, e2 p')
      .with.deep.property('errors', ['e1', 'e2 p']);
  });

  it('have no state', async () => {
    expect(await run(go('bindings: {roots: {{ keys . | sortAlpha | toJson }}}'))).to.have.deep.property(
      'roots',
      ['blueprint', 'blueprintDef', 'cd', 'componentDescriptorDef', 'components', 'imports'],
    );
  });

  const mistakes: readonly [string, object, string][] = [
    [
      'errors that are a string',
      go('errors: just text'),
      'error while decoding templated execution: errors: expected a list, found a string',
    ],
    [
      'a template with a syntax error',
      go('{{ broken'),
      'unable to template executions: template: execution:1',
    ],
    [
      'an unknown engine',
      { type: 'Jinja', template: '' },
      'unknown template type Jinja; known are GoTemplate, Spiff, Handlebars',
    ],
    ['a missing template', { type: 'GoTemplate' }, 'no template found'],
    [
      'a function for components',
      go('{{ getResource "name" "x" }}'),
      'Unable to search for a resource as no ComponentDescriptor is defined.',
    ],
  ];
  for (const [title, executor, message] of mistakes) {
    it(`fail because of ${title}`, async () =>
      expect(await outcome(run(executor))).to.throw(TemplateFailed, message));
  }
});

describe('deploy executions', () => {
  const run = (
    deployExecutions: readonly object[],
    files: Record<string, unknown> = {},
    states = new States(),
  ) =>
    renderDeployItems(
      {
        ...context(blueprint({ deployExecutions }, files), { text: 'hello', cluster: target('my-cluster') }),
        states,
      },
      { ...noTargets, targets: new Map([['cluster', target('my-cluster')]]) },
    );

  it('create items from a file of the blueprint', async () => {
    const text =
      'deployItems:\n- name: app\n  type: test.example/fake\n  target: {import: cluster}\n  config:\n    text: {{ .imports.text | quote }}\n    ns: {{ .imports.cluster.metadata.namespace }}\n';
    const items = await run([{ name: 'main', type: 'GoTemplate', file: '/deploy.yaml' }], {
      'deploy.yaml': text,
    });
    expect(items).to.deep.equal([
      {
        name: 'app',
        type: 'test.example/fake',
        target: { name: 'my-cluster', namespace: 'demo' },
        config: { text: 'hello', ns: 'demo' },
      },
    ]);
  });

  it('are combined, and their items may depend on each other', async () => {
    const items = await run([
      go(`deployItems: [{name: a, ${item}}]`),
      go(`deployItems: [{name: b, dependsOn: [a], ${item}}]`),
    ]);
    expect(items.map(({ name, dependsOn }) => [name, dependsOn])).to.deep.equal([
      ['a', undefined],
      ['b', ['a']],
    ]);
  });

  it('do not see changes of each other', async () => {
    const items = await run([
      go(`{{ $_ := set .imports "text" "changed" }}deployItems: [{name: "{{ .imports.text }}", ${item}}]`),
      go(`deployItems: [{name: "{{ .imports.text }}", ${item}}]`),
    ]);
    expect(items.map(({ name }) => name)).to.deep.equal(['changed', 'hello']);
  });

  it('are validated together', async () => {
    const twice = [go(`deployItems: [{name: a, ${item}}]`), go(`deployItems: [{name: a, ${item}}]`)];
    expect(await outcome(run(twice))).to.throw(
      DeployItemsInvalid,
      'deployExecutions[1]: Duplicate value: "a"',
    );
  });

  it('fail with a code that marks the failure as information', async () => {
    expect(await outcome(run([go('{{')])))
      .to.throw(
        TemplateFailed,
        'Op: RenderDeployItemTemplates - Reason: Template - Message: unable to template executions: template: execution:1',
      )
      .with.deep.property('codes', ['ERR_FOR_INFO_ONLY']);
  });

  it('store the state they return, and read it again', async () => {
    const counting = go(
      '{{ $c := add1 (.state.count | default 0) }}state: {count: {{ $c }}}\ndeployItems: []',
      'default',
    );
    const secretName = stateSecretName('shop', 'deploy', 'default');
    const after = async (stored: ReadonlyMap<string, unknown>): Promise<readonly StateUpdate[]> => {
      const states = new States(stored);
      await run([counting], {}, states);
      return states.updates;
    };
    expect(await after(new Map())).to.deep.equal([{ secretName, state: { count: 1 } }]);
    expect(await after(new Map([[secretName, { count: 41 }]]))).to.deep.equal([
      { secretName, state: { count: 42 } },
    ]);
  });

  it('read the state that one of the same name has just stored', async () => {
    const remembering = go('state: {seen: {{ .state.seen | default 0 | add1 }}}', 'same');
    const states = new States();
    await run([remembering, remembering], {}, states);
    expect(states.updates.map(({ state }) => state)).to.deep.equal([{ seen: 2 }]);
  });

  it('store nothing if they return no state', async () => {
    const states = new States();
    await run([go('deployItems: []')], {}, states);
    expect(states.updates).to.deep.equal([]);
  });
});
