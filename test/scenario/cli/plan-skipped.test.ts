/** `espalier plan` for deploy items that the next job skips, because they are updated only when they change. */
import { expect } from 'chai';
import type { PlanDocument } from '../../../src/cli/commands/plan/document.ts';
import { ConfigMap } from '../../../src/runtime/core-kinds.ts';
import { useCluster } from '../../support/cluster.ts';
import { useCommandLine } from '../../support/command-line.ts';
import { network } from '../../support/console-stage.ts';
import { target } from '../../support/landscape.ts';

describe('espalier plan with updateOnChangeOnly', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['manifest'] });
  const commandLine = useCommandLine(() => scenes.cluster.kubeconfig);

  it('shows live objects that differ, and that the job will not correct, in no count', async () => {
    const scene = await scenes.scene();
    const { client, kubeconfig } = scenes.cluster;
    await scene.create(target('cluster', 'kubernetes-cluster', { kubeconfig }));
    await scene.create(network(scene.ns, { updateOnChangeOnly: true }));
    await scene.until(
      'the job has ended',
      () => scene.installation('network')?.status?.phase === 'Succeeded',
    );
    const plan = async (...args: readonly string[]) =>
      commandLine.run('plan', 'network', '-n', scene.ns, '--exit-code', ...args);

    const quiet = await plan();
    expect(quiet.output).to.contain('skipped: it has not changed').and.not.contain('will not correct');

    await client.send({
      verb: 'merge',
      kind: ConfigMap,
      key: `${scene.ns}/zones`,
      body: { data: { extra: 'by hand' } },
    });
    await client.send({ verb: 'delete', kind: ConfigMap, key: `${scene.ns}/routes` });
    const { code, output } = await plan();
    expect(output).to.contain('the job will not correct them (updateOnChangeOnly)').and.contain('data.extra');
    expect(output).to.contain('0 to create, 0 to change').and.contain('+ ConfigMap');
    expect(code, 'nothing would change').to.equal(0);

    const document = JSON.parse((await plan('-o', 'json')).output) as PlanDocument;
    const [planned] = document.items;
    expect(planned?.objects).to.deep.equal([]);
    expect(planned?.drift?.objects.map(({ change, name }) => `${change} ${name}`)).to.have.members([
      'change zones',
      'create routes',
    ]);
  });
});
