/** The order in which objects of a chart are deleted, and which of them, on API servers. */
import { expect } from 'chai';
import { packChart, raw } from '../../support/helm-charts.ts';
import { helmConfig } from '../../unit/deployers/bench.ts';
import { World } from './world.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const DEFINITIONS = 'apiextensions.k8s.io/v1';
const FINALIZER = 'test.example/hold';

const four = (letter: string): string => `
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}-${letter}}
---
apiVersion: ${RBAC}
kind: ClusterRole
metadata: {name: {{ .Release.Name }}-${letter}}
rules: []
---
apiVersion: ${RBAC}
kind: ClusterRoleBinding
metadata: {name: {{ .Release.Name }}-${letter}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}-${letter}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}-${letter}, namespace: {{ .Release.Namespace }}}]
---
apiVersion: ${DEFINITIONS}
kind: CustomResourceDefinition
metadata: {name: ${letter}.{{ .Release.Name }}.example.org}
spec:
  group: {{ .Release.Name }}.example.org
  scope: Namespaced
  names: {kind: K${letter}, plural: ${letter}, singular: k${letter}, listKind: K${letter}List}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;
const chart = (...letters: readonly string[]): object =>
  raw(packChart({ 'templates/all.yaml': letters.map(four).join('---') }));
/** The namespaced and the cluster-wide objects of the two charts. */
const both = chart('a', 'b');
const onlyA = chart('a');

const kinds = [
  ['v1', 'ServiceAccount', (name: string, letter: string) => `app/${name}-${letter}`],
  [RBAC, 'ClusterRole', (name: string, letter: string) => `${name}-${letter}`],
  [RBAC, 'ClusterRoleBinding', (name: string, letter: string) => `${name}-${letter}`],
  [
    DEFINITIONS,
    'CustomResourceDefinition',
    (name: string, letter: string) => `${letter}.${name}.example.org`,
  ],
] as const;
const all = kinds.flatMap(([, kind]) => [`${kind} a`, `${kind} b`]);

describe('deleting the objects of a chart on API servers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
  });
  after(() => world.stop());

  /** Those of the eight objects that exist. */
  async function left(name: string): Promise<string[]> {
    const found: string[] = [];
    for (const [apiVersion, kind, keyOf] of kinds) {
      for (const letter of ['a', 'b']) {
        const object = await world.find(world.target, apiVersion, kind, keyOf(name, letter));
        if (object) found.push(`${kind} ${letter}`);
      }
    }
    return found;
  }
  const hold = (apiVersion: string, kind: string, key: string, isHeld: boolean): Promise<void> => {
    const metadata = { finalizers: isHeld ? [FINALIZER] : null };
    return world.edit(world.target, apiVersion, kind, key, { metadata });
  };
  const isGoing = (apiVersion: string, kind: string, key: string): Promise<string> =>
    world.until(`${kind} ${key} is on its way`, async () => {
      return (await world.find(world.target, apiVersion, kind, key))?.metadata.deletionTimestamp;
    });
  async function applied(name: string, more: object = {}): Promise<void> {
    await world.giveItem(name, 'helm', helmConfig({ name, ...both, ...more }));
    const { status } = await world.run(name, 'j1');
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
    expect(await left(name)).to.deep.equal(all);
  }

  it('DEP-45: namespaced objects are deleted first, then cluster-scoped objects, CRDs last', async () => {
    await applied('order');
    await hold('v1', 'ServiceAccount', 'app/order-a', true);
    await hold(RBAC, 'ClusterRole', 'order-a', true);
    await world.remove('order');
    await world.kick('order', 'j2');
    await isGoing('v1', 'ServiceAccount', 'app/order-a');
    expect(await world.problem('order')).to.contain('ServiceAccount app/order-a');
    expect(await left('order')).to.deep.equal(all.filter((name) => name !== 'ServiceAccount b'));
    await hold('v1', 'ServiceAccount', 'app/order-a', false);
    await isGoing(RBAC, 'ClusterRole', 'order-a');
    await world.until('what is waited for is shown', async () => {
      return (await world.problem('order')).includes('ClusterRole order-a') || undefined;
    });
    const definitions = ['CustomResourceDefinition a', 'CustomResourceDefinition b'];
    expect(await left('order')).to.deep.equal(['ClusterRole a', ...definitions]);
    await hold(RBAC, 'ClusterRole', 'order-a', false);
    await world.gone('order');
    expect(await left('order')).to.deep.equal([]);
  });

  const custom = (kind: string, more: object = {}): object => ({
    customResourceGroup: { resources: [{ apiVersion: RBAC, kind, ...more }] },
  });
  const predefined = (type: string): object => ({ predefinedResourceGroup: { type } });
  const groups: readonly (readonly [string, (name: string) => object, RegExp])[] = [
    ['namespaced resources', () => predefined('namespaced-resources'), /^ServiceAccount/],
    ['definitions', () => predefined('crds'), /^CustomResourceDefinition/],
    ['nothing', () => predefined('empty'), /^$/],
    ['one object', (name) => custom('ClusterRole', { names: [`${name}-a`] }), /^ClusterRole a$/],
    ['a kind that is written as a resource', () => custom('clusterroles'), /^$/],
  ];
  for (const [i, [title, groupOf, goes]] of groups.entries()) {
    it(`DEP-46: deletion groups with ${title}`, async () => {
      const name = `group${String(i)}`;
      await applied(name, { deletionGroups: [groupOf(name)] });
      await world.remove(name);
      await world.kick(name, 'j2');
      await world.gone(name);
      expect(await left(name)).to.deep.equal(all.filter((each) => !goes.test(each)));
    });
  }

  it('DEP-49: objects that a new version of the chart no longer has are deleted by the groups for updates', async () => {
    const deletionGroupsDuringUpdate = [predefined('cluster-scoped-resources')];
    await applied('update', { deletionGroupsDuringUpdate });
    await world.configure('update', helmConfig({ name: 'update', ...onlyA, deletionGroupsDuringUpdate }));
    const { status } = await world.run('update', 'j2');
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
    const goes = ['ClusterRole b', 'ClusterRoleBinding b'];
    expect(await left('update')).to.deep.equal(all.filter((name) => !goes.includes(name)));
  });
});
