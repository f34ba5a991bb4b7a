/** The condition that reports warnings about a blueprint that works. */
import { expect } from 'chai';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { View } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { bpFile, data, fails, go, keeping, succeeds, type Given } from '../../support/dataflow.ts';
import { child } from '../../support/landscape.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';

const said = (self: View<Installation> | undefined) =>
  self?.status?.conditions?.find(({ type }) => type === 'ValidateBlueprint');
const nameless = { deployExecutions: [{ type: 'GoTemplate', template: 'deployItems: []' }] };
const doubtful: Given = { bp: { ...nameless, localTypes: { t: { tpye: 'string' } } } };

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
