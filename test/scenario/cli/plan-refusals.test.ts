/** `espalier plan` with deletions that wait, with `strict: true`, and with deployers of one's own. */
import { expect } from 'chai';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { useCluster } from '../../support/cluster.ts';
import { useCommandLine } from '../../support/command-line.ts';
import { root } from '../../support/landscape.ts';

describe('espalier plan', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['mock'] });
  const commandLine = useCommandLine(() => scenes.cluster.kubeconfig);

  async function plan(...args: string[]): Promise<{ code: number; output: string }> {
    const { code, errors, output } = await commandLine.run('plan', ...args);
    return { code, output: errors + output };
  }
  const createItem = (namespace: string, spec: DeployItem['spec']): Promise<DeployItem> =>
    scenes.cluster.client.send({
      verb: 'create',
      kind: deployItemKind,
      object: { apiVersion: API_VERSION, kind: 'DeployItem', metadata: { name: 'item', namespace }, spec },
    });
  const strict = (): string => commandLine.write('strict.yaml', 'strict: true\n');

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
      const file = commandLine.write('dns.mjs', plugin(plan1));
      const { output, code } = await plan('item', '-n', await own(), '--deployer', file, '--exit-code');
      expect(output).to.contain('+ Record www').and.contain('! apply').and.contain('1 to create');
      expect(code).to.equal(2);
    });

    it('says what is missing without the module, without a plan, and without a deployer', async () => {
      const ns = await own();
      expect((await plan('item', '-n', ns)).output).to.contain(
        '? not known: items of type example.org/dns are not planned; name the module or the program of their deployer with --deployer',
      );
      const silent = commandLine.write('silent.mjs', plugin(''));
      expect((await plan('item', '-n', ns, '--deployer', silent)).output).to.contain(
        '? not known: the deployer of type example.org/dns has no plans',
      );
      const empty = commandLine.write('empty.mjs', 'export const x = 1;');
      const refused = await plan('item', '-n', ns, '--deployer', empty);
      expect(refused.output).to.contain('the module exports no deployer');
      expect(refused.code).to.equal(1);
      const missing = await plan('item', '-n', ns, '--deployer', commandLine.file('missing.mjs'));
      expect(missing.output).to.contain('cannot load the module');
    });

    /** Answers with the type of the item and the content of its target. */
    const program = (): string => {
      const text = `#!${process.execPath}
        const { direction, deployItem, target } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
        const after = { type: deployItem.spec.type, password: target?.config.password };
        const named = { apiVersion: 'dns.example.org/v1', kind: 'Record', name: process.argv[2] };
        const objects = [{ ...named, change: 'change', before: {}, after }];
        const head = { apiVersion: 'espalier.dev/v1alpha1', kind: 'PlanResponse' };
        console.log(JSON.stringify({ ...head, objects, notes: [direction] }));`;
      return commandLine.write('deployer', text, 0o700);
    };

    it('asks a program in any language, with or without the type of its items', async () => {
      const ns = await own();
      for (const value of [`${program()} www`, `example.org/dns=${program()} www`]) {
        const { output, code } = await plan('item', '-n', ns, '--deployer', value, '--exit-code');
        expect(output)
          .to.contain('~ Record www')
          .and.contain('type: "example.org/dns"')
          .and.contain('! apply');
        expect(code).to.equal(2);
      }
      const other = await plan('item', '-n', ns, '--deployer', `example.org/other=${program()}`);
      expect(other.output).to.contain('? not known: items of type example.org/dns are not planned');
      const two = await plan('item', '-n', ns, '--deployer', './a', '--deployer', './b');
      expect(two.output)
        .to.contain('only one program can be without a type')
        .and.contain('example.org/dns=./b');
      expect(two.code).to.equal(2);
    });

    it('gives the program the content of the target, and masks it in the output', async () => {
      const scene = await scenes.scene();
      const spec = { type: 'example.org/dns-server', config: { password: 'a-secret-password' } };
      const metadata = { name: 'server', namespace: scene.ns };
      const object = { apiVersion: API_VERSION, kind: 'Target', metadata, spec };
      await scenes.cluster.client.send({ verb: 'create', kind: targetKind, object });
      const config = { apiVersion: 'dns.example.org/v1', kind: 'Cfg' };
      await createItem(scene.ns, { type: 'example.org/dns', config, target: { name: 'server' } });
      const { output } = await plan('item', '-n', scene.ns, '--deployer', `${program()} www`);
      expect(output)
        .to.match(/password: .*\*\*\*/)
        .and.not.contain('a-secret-password');
    });

    it('shows why a program cannot plan an item', async () => {
      const ns = await own();
      const text = '{"apiVersion":"espalier.dev/v1alpha1","kind":"PlanResponse","unknown":"too early"}';
      const file = commandLine.write('unknown', `#!/bin/sh\ncat >/dev/null\necho '${text}'\n`, 0o700);
      const { output, code } = await plan('item', '-n', ns, '--deployer', file);
      expect(output).to.contain('? not known: too early');
      expect(code).to.equal(0);
    });
  });
});
