/** The condition that reports warnings about a blueprint that works. */
import { expect } from 'chai';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { bpFile, data, fails, go, keeping, succeeds, type Given } from '../../support/dataflow.ts';
import { eventsOf } from '../../support/events.ts';
import { child } from '../../support/landscape.ts';
import { inspectText } from '../../../src/cli/tree/print-inspect.ts';
import { treesOf } from '../../../src/cli/tree/tree.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';

const said = (self: View<Installation> | undefined) =>
  self?.status?.conditions?.find(({ type }) => type === 'ValidateBlueprint');
const nameless = { deployExecutions: [{ type: 'GoTemplate', template: 'deployItems: []' }] };
const doubtful: Given = { bp: { ...nameless, localTypes: { t: { tpye: 'string' } } } };

const plain = { isWide: false, hasDetails: false, hasNamespaces: false };

describe('a blueprint', () => {
  const here = useCluster();

  it('with warnings works, and a condition lists them with line and rule', async () => {
    const scene = await succeeds(here, doubtful);
    const condition = said(scene.installation('shop'));
    expect(condition).to.include({ status: 'False', reason: 'BlueprintHasMistakes' });
    expect(condition?.message).to.match(
      /^blueprint\.yaml:1:\d+: .*"tpye" is not a keyword of schemas.* \[schema-keyword\]$/m,
    );
    expect(condition?.message).to.match(/give the execution a name \[execution-name\]$/m);
  });

  it('that is fixed loses the condition with its next job', async () => {
    const scene = await succeeds(here, doubtful);
    const filesystem = { 'blueprint.yaml': bpFile(keeping('1')) };
    await scene.patch(installationKind, 'shop', { spec: { blueprint: { inline: { filesystem } } } });
    await scene.operation('shop', 'reconcile');
    await scene.until('the second job is done', () => scene.jobs('shop').length === 2);
    expect(said(await scene.finished('shop', 'Succeeded'))).to.equal(undefined);
  });

  it('with an unknown field works, and the condition, an event and inspect name the field that was meant', async () => {
    const misspelt = { deployExecution: [{ name: 'd', type: 'GoTemplate', template: 'deployItems: []' }] };
    const scene = await succeeds(here, { bp: misspelt });
    const message =
      /^blueprint\.yaml:1:\d+: unknown field "deployExecution"; did you mean "deployExecutions"\? \[unknown-field\]$/;
    const self = scene.installation('shop');
    expect(said(self)?.message).to.match(message);
    expect(await eventsOf(scene, 'shop', 'BlueprintHasMistakes')).to.include(
      `Warning BlueprintHasMistakes: ${said(self)?.message ?? ''}`,
    );
    const [tree] = treesOf({ installations: self ? [self] : [], executions: [], deployItems: [] });
    expect(inspectText(tree ? [tree] : [], plain)).to.contain('did you mean "deployExecutions"?');
  });

  it('whose execution produces an unknown field works, and the condition names the execution', async () => {
    const scene = await succeeds(here, {
      bp: { deployExecutions: [{ name: 'd', type: 'GoTemplate', template: 'deployItem: []' }] },
    });
    expect(said(scene.installation('shop'))?.message).to.equal(
      'result of deploy execution "d": unknown field "deployItem"; did you mean "deployItems"?',
    );
  });

  it('without warnings has no such condition', async () => {
    const scene = await succeeds(here, { bp: keeping('1') });
    expect(said(scene.installation('shop'))).to.equal(undefined);
  });

  it('that fails gets the condition, too', async () => {
    const { self } = await fails(here, {
      bp: { deployExecutions: [{ type: 'GoTemplate', template: '{{ fail "x" }}' }] },
    });
    expect(said(self)?.message).to.contain('[execution-name]');
  });

  it('whose sub-installation imports a value that only an import execution binds gets the advice to declare it', async () => {
    const { error } = await fails(here, {
      bp: {
        importExecutions: [go('bindings: {full: x}')],
        subinstallations: [child('a', { takes: { in: 'full' } })],
        imports: [data('other', {}, { required: false })],
      },
    });
    expect(error.message).to.contain('import not satisfied');
    expect(error.message)
      .to.contain('an import execution binds "full"')
      .and.to.contain('declared under "imports"');
  });
});

describe('a blueprint with a strict configuration', () => {
  const here = useCluster({ config: { isStrict: true } });

  it('fails because of an unknown field, and creates nothing', async () => {
    const { scene, error } = await fails(here, {
      bp: {
        deployExecutions: [
          {
            name: 'd',
            type: 'GoTemplate',
            template:
              'deployItems: [{name: a, type: landscaper.gardener.cloud/mock, dependson: [b], lables: {}}]',
          },
        ],
      },
    });
    expect(error).to.include({ operation: 'InitPrerequisites', reason: 'ValidateBlueprint' });
    expect(error.message.split('\n').slice(0, 2)).to.deep.equal([
      'the blueprint has unknown fields, which strict: true in the configuration refuses:',
      'result of deploy execution "d": deployItems[0]: unknown field "lables"; did you mean "labels"?',
    ]);
    expect(scene.execution('shop')).to.equal(undefined);
  });

  it('works in spite of other warnings', async () => {
    const scene = await succeeds(here, doubtful);
    expect(said(scene.installation('shop'))?.status).to.equal('False');
  });
});
