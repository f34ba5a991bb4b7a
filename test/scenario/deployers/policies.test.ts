/** Objects with other owners, under each policy and with each update strategy, on API servers. */
import { expect } from 'chai';
import { MANIFEST_LABEL } from '../../../deployers/objects/manifests/label.ts';
import { policyRows } from '../../support/deployer-tables.ts';
import { configMap, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World, type Json } from './world.ts';

const MANIFEST = 'kubernetes-manifest';

describe('objects with other owners on API servers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
  });
  after(() => world.stop());

  const modeOf = async (name: string): Promise<string | undefined> =>
    ((await world.configMap(`app/${name}`))?.['data'] as { mode?: string } | undefined)?.mode;
  /** Names in the inventory at the end of the job. */
  const succeeded = async (name: string, job: string): Promise<string[]> => {
    const { status } = await world.run(name, job);
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
    const entries = (status?.providerStatus?.['managedResources'] ?? []) as { resource: { name: string } }[];
    return entries.map(({ resource }) => resource.name);
  };

  for (const { policy, made, updated, foreign, deletedUnlabelled, deletedWhenUnlisted } of policyRows) {
    const config = (name: string, mode: string): object =>
      manifestConfig({ manifests: [{ policy, manifest: configMap(name, { mode }) }] });
    const given = async (what: string): Promise<string> => {
      const name = `${policy}-${what}`;
      await world.giveItem(name, MANIFEST, config(name, 'slow'));
      return name;
    };

    it(`DEP-26: ${policy}: creation, change, and removal from the list`, async () => {
      const name = await given('made');
      await succeeded(name, 'j1');
      expect(await modeOf(name)).to.equal(made ? 'slow' : undefined);
      await world.configure(name, config(name, 'fast'));
      await succeeded(name, 'j2');
      const changed = made ? (updated ? 'fast' : 'slow') : undefined;
      expect(await modeOf(name)).to.equal(changed);
      await world.configure(name, manifestConfig({ manifests: [] }));
      expect(await succeeded(name, 'j3')).to.deep.equal([]);
      expect(await modeOf(name)).to.equal(deletedWhenUnlisted ? undefined : changed);
    });

    it(`DEP-26: ${policy}: an object that another client created`, async () => {
      await world.create(world.target, configMap(`${policy}-foreign`, { mode: 'foreign' }) as Json);
      const name = await given('foreign');
      expect(await succeeded(name, 'j1')).to.deep.equal(foreign[1] ? [name] : []);
      expect(await modeOf(name)).to.equal(foreign[0] ? 'slow' : 'foreign');
    });

    it(`DEP-26: ${policy}: deletion after the label was changed`, async () => {
      const name = await given('altered');
      await succeeded(name, 'j1');
      const metadata = { labels: { [MANIFEST_LABEL]: 'other' } };
      if (made) await world.edit(world.target, 'v1', 'ConfigMap', `app/${name}`, { metadata });
      await world.remove(name);
      await world.kick(name, 'j2');
      await world.gone(name);
      expect(await modeOf(name)).to.equal(made && !deletedUnlabelled ? 'slow' : undefined);
    });
  }

  const stored = { on: false, n: 0, name: 'a', tags: ['x'], opts: {} };
  const wanted = { on: true, n: 5, name: 'b', tags: ['y', 'z'], opts: { k: 'v' }, more: 1 };
  const merges: readonly (readonly [string, string, object, object, object])[] = [
    ['merge', 'fills what is empty', stored, wanted, { ...wanted, name: 'a', tags: ['x'] }],
    ['mergeOverwrite', 'takes what the manifest says', stored, wanted, wanted],
    [
      'mergeOverwrite',
      'takes false and an empty list, too',
      { on: true, tags: ['x'] },
      { on: false, tags: [] },
      { on: false, tags: [] },
    ],
  ];
  for (const [i, [updateStrategy, title, before, manifest, after]] of merges.entries()) {
    it(`DEP-23: ${updateStrategy} ${title}`, async () => {
      const name = `widget-${String(i)}`;
      const widget = (spec: object): Json => ({
        apiVersion: 'example.org/v1',
        kind: 'Widget',
        metadata: { name, namespace: 'app' },
        spec,
      });
      if (i === 0) await world.create(world.target, widgets);
      await world.until('widgets are served', () => world.create(world.target, widget(before)));
      await world.giveItem(
        name,
        MANIFEST,
        manifestConfig({ updateStrategy, manifests: [manage(widget(manifest))] }),
      );
      await succeeded(name, 'j1');
      const found = await world.find(world.target, 'example.org/v1', 'Widget', `app/${name}`);
      expect(found?.['spec']).to.deep.equal(after);
    });
  }
});

const widgets: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
