/**
 * Deploy items whose target leads from one cluster to another, with the commands about the objects that stay. The
 * host serves as the second cluster.
 */
import { expect } from 'chai';
import type { DeployItem } from '../../../deployers/sdk/kinds.ts';
import { useCommandLine } from '../../support/command-line.ts';
import { c1, raw } from '../../support/helm-charts.ts';
import { configMap, helmConfig, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World, type Json } from './world.ts';

interface Kind {
  readonly title: string;
  readonly type: string;
  readonly config: object;
  /** The name of a ConfigMap of the item. */
  readonly object: string;
  /** How the status describes what the item has. */
  readonly text: string;
}

const kinds: readonly Kind[] = [
  {
    title: 'manifests',
    type: 'kubernetes-manifest',
    config: manifestConfig({ manifests: [manage(configMap('plain'))] }),
    object: 'plain',
    text: 'ConfigMap app/plain',
  },
  {
    title: 'a chart',
    type: 'helm',
    config: helmConfig({ name: 'chart', ...raw(c1()) }),
    object: 'chart-cm',
    text: 'ConfigMap app/chart-cm',
  },
  {
    title: 'a release',
    type: 'helm',
    config: helmConfig({ name: 'shop', helmDeployment: true, ...raw(c1()) }),
    object: 'shop-cm',
    text: 'Helm release app/shop',
  },
];

describe('a deploy item whose target leads to another cluster', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
    await world.create(world.host, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'app' } });
    await world.create(world.host, secretFor('old', world.targetServer.kubeconfig));
    await world.giveTarget('old', { secretRef: { name: 'old-kc', key: 'kubeconfig' } });
  });
  after(() => world?.stop());
  const line = useCommandLine(() => world.hostServer.kubeconfig);

  const secretFor = (name: string, kubeconfig: string): Json => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${name}-kc`, namespace: 'proj' },
    stringData: { kubeconfig },
  });
  const leadTo = (server: 'old' | 'new', target: string): Promise<void> => {
    const { kubeconfig } = server === 'old' ? world.targetServer : world.hostServer;
    return world.edit(world.host, 'v1', 'Secret', `proj/${target}-kc`, {
      data: { kubeconfig: Buffer.from(kubeconfig).toString('base64') },
    });
  };
  const isThere = async (object: string): Promise<readonly [old: boolean, current: boolean]> => [
    (await world.configMap(`app/${object}`)) !== undefined,
    (await world.find(world.host, 'v1', 'ConfigMap', `app/${object}`)) !== undefined,
  ];
  const conditionOf = ({ status }: DeployItem): string =>
    status?.conditions?.find(({ type }) => type === 'ObjectsLeftBehind')?.message ?? '';

  for (const [i, { title, type, config, object, text }] of kinds.entries())
    it(`with ${title} keeps a record until the objects are removed or forgotten`, async () => {
      const name = `item-${String(i)}`;
      await world.create(world.host, secretFor(name, world.targetServer.kubeconfig));
      await world.giveTarget(name, { secretRef: { name: `${name}-kc`, key: 'kubeconfig' } });
      await world.giveItem(name, type, config, { target: name });
      expect(conditionOf(await world.run(name, 'j1'))).to.equal('');

      await leadTo('new', name);
      const moved = await world.run(name, 'j2');
      expect(moved.status?.phase).to.equal('Succeeded');
      expect(conditionOf(moved)).to.contain(`1 object stays on cluster `).and.contain(text);
      expect(await isThere(object)).to.deep.equal([true, true]);

      await leadTo('old', name);
      await world.run(name, 'j3');
      await leadTo('new', name);
      await world.remove(name);
      const failed = await world.run(name, 'j4');
      expect(failed.status?.phase).to.equal('DeleteFailed');
      expect(failed.status?.lastError?.message).to.contain(text).and.contain('now leads to cluster');
      expect(await isThere(object)).to.deep.equal([true, false]);

      const shown = await line.run('di', 'left-behind', 'list', name, '-n', 'proj');
      expect(shown.output)
        .to.contain(`deploy item proj/${name}: 1 object on cluster`)
        .and.contain(`    ${text}`);
      const wrong = await line.run('di', 'left-behind', 'remove', name, '-n', 'proj', '--target', name);
      expect(wrong.code).to.equal(1);
      expect(wrong.errors).to.contain('no objects of the deploy item stay on cluster');
      expect(await isThere(object)).to.deep.equal([true, false]);
      const kubeconfig = line.write('old.yaml', world.targetServer.kubeconfig);
      const place = i === 0 ? ['--target', 'old'] : ['--target-kubeconfig', kubeconfig];
      const removed = await line.run('di', 'left-behind', 'remove', name, '-n', 'proj', ...place);
      expect(removed.errors + removed.output).to.contain(`- removed ${text}`);
      expect(removed.code).to.equal(0);
      expect(await isThere(object)).to.deep.equal([false, false]);
      expect((await world.item(name)).status?.leftBehind).to.equal(undefined);
      expect(conditionOf(await world.item(name))).to.equal('');

      await world.kick(name, 'j5');
      await world.gone(name);
    });

  it('is deleted after its objects on the old cluster were forgotten', async () => {
    await world.giveItem(
      'forgotten',
      'kubernetes-manifest',
      manifestConfig({ manifests: [manage(configMap('f'))] }),
    );
    await world.run('forgotten', 'j1');
    await leadTo('new', 'cluster-a');
    await world.remove('forgotten');
    expect((await world.run('forgotten', 'j2')).status?.phase).to.equal('DeleteFailed');
    const refused = await line.run('di', 'left-behind', 'forget', 'forgotten', '-n', 'proj');
    expect([refused.code, refused.errors.includes('cannot ask for confirmation')]).to.deep.equal([2, true]);
    const other = await line.run('di', 'left-behind', 'forget', 'forgotten', '-n', 'proj', '--cluster', 'x');
    expect([
      other.code,
      other.errors.includes('no objects of deploy item forgotten stay there'),
    ]).to.deep.equal([2, true]);
    const done = await line.run('di', 'left-behind', 'forget', 'forgotten', '-n', 'proj', '--yes');
    expect(done.output).to.contain('ConfigMap app/f').and.contain('they were not deleted');
    await world.kick('forgotten', 'j3');
    await world.gone('forgotten');
    expect(await isThere('f')).to.deep.equal([true, false]);
    const empty = await line.run('di', 'left-behind', 'list', '-A');
    expect(empty.output).to.contain('no deploy item has objects on another cluster');
    await leadTo('old', 'cluster-a');
  });

  it('is not changed by a command that lacks an argument, or names nothing that exists', async () => {
    const rows: readonly (readonly [readonly string[], number, string])[] = [
      [['remove', 'x', '-n', 'proj'], 2, 'either with --target-kubeconfig FILE or with --target NAME'],
      [['remove', 'x', '-n', 'proj', '--target', 'old'], 1, 'there is no deploy item x in namespace proj'],
      [['forget', 'x', '-n', 'proj'], 1, 'there is no deploy item x in namespace proj'],
    ];
    for (const [args, code, message] of rows) {
      const ended = await line.run('di', 'left-behind', ...args);
      expect([ended.code, ended.errors]).to.satisfy(
        ([actual, errors]: [number, string]) => actual === code && errors.includes(message),
      );
    }
  });
});
