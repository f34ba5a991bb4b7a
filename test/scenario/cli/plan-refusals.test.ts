/** `espalier plan` with deletions that wait, with `strict: true`, and with deployers of one's own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
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
  const createItem = (namespace: string, spec: DeployItem['spec']): Promise<DeployItem> =>
    scenes.cluster.client.send({
      verb: 'create',
      kind: deployItemKind,
      object: { apiVersion: API_VERSION, kind: 'DeployItem', metadata: { name: 'item', namespace }, spec },
    });
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
    await createItem(scene.ns, { type: `${GROUP}/mock`, config });
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

  describe("with items of a deployer of one's own", () => {
    const own = async (): Promise<string> => {
      const scene = await scenes.scene();
      const config = { apiVersion: 'dns.example.org/v1', kind: 'Cfg' };
      await createItem(scene.ns, { type: 'example.org/dns', config });
      return scene.ns;
    };
    const moduleOf = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const plugin = (more: string): string => `
      export const dns = {
        type: 'example.org/dns', name: 'dns.example.org', version: '1.0.0',
        config: { decode: (document) => document },
        apply() { throw new Error('a plan must not apply'); },
        remove() { throw new Error('a plan must not remove'); },
        ${more}
      };`;

    it('asks the deployer of a module', async () => {
      const ref = "{ apiVersion: 'dns.example.org/v1', kind: 'Record', name: 'www' }";
      const plan1 = `plan: (ctx, direction) => ({ notes: [direction], objects: [{ ref: ${ref}, change: 'create' }] }),`;
      const file = moduleOf('dns.mjs', plugin(plan1));
      const { output, code } = await plan('item', '-n', await own(), '--deployer', file, '--exit-code');
      expect(output).to.contain('+ Record www').and.contain('! apply').and.contain('1 to create');
      expect(code).to.equal(2);
    });

    it('says what is missing without the module, without a plan, and without a deployer', async () => {
      const ns = await own();
      expect((await plan('item', '-n', ns)).output).to.contain(
        '? not known: items of type example.org/dns are not planned; name the module of their deployer with --deployer',
      );
      const silent = moduleOf('silent.mjs', plugin(''));
      expect((await plan('item', '-n', ns, '--deployer', silent)).output).to.contain(
        '? not known: the deployer of type example.org/dns has no plans',
      );
      const empty = moduleOf('empty.mjs', 'export const x = 1;');
      const refused = await plan('item', '-n', ns, '--deployer', empty);
      expect(refused.output).to.contain('the module exports no deployer');
      expect(refused.code).to.equal(1);
      const missing = await plan('item', '-n', ns, '--deployer', join(folder, 'missing.mjs'));
      expect(missing.output).to.contain('cannot load the module');
    });
  });
});
