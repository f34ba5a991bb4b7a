/** What `espalier plan` says about deletions that wait, and about unknown fields with `strict: true`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { annotations, API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { useCluster } from '../../support/cluster.ts';
import { root } from '../../support/landscape.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';

describe('espalier plan', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['mock'] });
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plan-'));
    writeFileSync(join(folder, 'kubeconfig'), scenes.cluster.kubeconfig, { mode: 0o600 });
    writeFileSync(join(folder, 'strict.yaml'), 'strict: true\n');
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  async function plan(...args: string[]): Promise<{ code: number; output: string }> {
    const terminal = fakeTerminal({ env: { KUBECONFIG: join(folder, 'kubeconfig') } });
    const code = await runProgram(['plan', ...args], terminal);
    return { code, output: terminal.errors + terminal.output };
  }
  const strict = (): string => join(folder, 'strict.yaml');

  it('names the installation that has to be deleted first', async () => {
    const scene = await scenes.scene();
    await scene.create(root('database', { annotations: {}, gives: { url: 'url' } }));
    await scene.create(root('app', { annotations: {}, takes: { url: 'url' } }));
    const { output, code } = await plan('database', '-n', scene.ns, '--delete');
    expect(output).to.contain(
      '! Installation database: its deletion deletes nothing yet: app imports its exports and has to be deleted first',
    );
    expect(output).to.contain(annotations.deleteIgnoreSuccessors);
    expect(code).to.equal(0);
    expect((await plan('app', '-n', scene.ns, '--delete')).output).to.not.contain('deleted first');
  });

  it('refuses unknown fields of a configuration where the job does', async () => {
    const scene = await scenes.scene();
    const config = {
      apiVersion: `mock.deployer.${GROUP}/v1alpha1`,
      kind: 'ProviderConfiguration',
      pahse: 'Succeeded',
    };
    await scenes.cluster.client.send({
      verb: 'create',
      kind: deployItemKind,
      object: {
        apiVersion: API_VERSION,
        kind: 'DeployItem',
        metadata: { name: 'item', namespace: scene.ns },
        spec: { type: `${GROUP}/mock`, config },
      },
    });
    const relaxed = await plan('item', '-n', scene.ns);
    expect(relaxed.output).to.contain('! unknown fields in the configuration').and.contain('pahse');
    expect(relaxed.code).to.equal(0);
    const refused = await plan('item', '-n', scene.ns, '--config', strict());
    expect(refused.output).to.contain('strict: true').and.contain('pahse').and.contain('1 would fail');
    expect(refused.code).to.equal(1);
  });

  it('refuses unknown fields of a blueprint where the job does', async () => {
    const scene = await scenes.scene();
    await scene.create(root('app', { annotations: {}, more: { improts: [] } }));
    expect((await plan('app', '-n', scene.ns)).code).to.equal(0);
    const { code, output } = await plan('app', '-n', scene.ns, '--config', strict());
    expect(output).to.contain('the blueprint has unknown fields').and.contain('improts');
    expect(code).to.equal(1);
  });
});
