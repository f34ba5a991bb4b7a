/** Dependents on a cluster, with any Kubernetes API server. */
import { expect } from 'chai';
import { AlreadyExists, Conflict, TooManyRequests } from '../../../src/runtime/errors.ts';
import type { View } from '../../../src/runtime/types.ts';
import { kubernetes, readOnly, type KubernetesSpec } from '../../../src/workflow/kubernetes.ts';
import { kubernetesBulk } from '../../../src/workflow/kubernetes-bulk.ts';
import type { WorkflowResult } from '../../../src/workflow/result.ts';
import { hasLabel, nameEndsWith } from '../../../src/workflow/target.ts';
import {
  configMaps,
  crdOf,
  deployments,
  kindOfTest,
  read,
  secrets,
  type AnyObj,
  type ConfigMap,
  type Page,
} from '../../support/operators.ts';
import { useStages, type Stage } from './stage.ts';
import { eventually } from '../../support/waiting.ts';

const map = (name: string, data: Record<string, string> = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

/** A ConfigMap named after the page, with the content of its spec. */
const textOf = (more: Partial<KubernetesSpec<ConfigMap, Page>> = {}) =>
  kubernetes<ConfigMap, Page>({
    kind: configMaps,
    desired: ({ metadata, spec }) => map(metadata.name, { text: (spec['text'] as string | undefined) ?? '' }),
    ...more,
  });

const deployment = (page: View<Page>): AnyObj => {
  const labels = { page: page.metadata.name };
  const container = {
    name: 'web',
    image: (page.spec['image'] as string | undefined) ?? 'nginx:1',
    ports: [{ containerPort: 80 }],
    resources: { requests: { cpu: '1000m' } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: page.metadata.name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  };
};

describe('a dependent on a cluster', function () {
  this.timeout(60_000);
  const stages = useStages();
  const dids: string[] = [];
  const noting = {
    onReconcile: (_: unknown, ctx: { workflow: { result: WorkflowResult | undefined } }) => {
      dids.push(...[...(ctx.workflow.result?.done ?? [])].map(([name, { did }]) => `${name} ${did}`).sort());
      return Promise.resolve({ write: 'none' } as const);
    },
  };
  beforeEach(() => void dids.splice(0));
  const ran = (stage: Stage, times = 1) => eventually('it has run', () => stage.runs.length >= times);
  const mapIn = (stage: Stage, name: string) => read(stages.cluster, configMaps, stage.key(name));

  it('RUN-53, RUN-55: is created, not written for defaults of the server, and updated if the desired state changes', async () => {
    const use = kubernetes<AnyObj, Page>({ kind: deployments, desired: deployment });
    const stage = await stages.set(() => [{ use }], noting);
    await stage.page('a');
    await ran(stage);
    expect(await stage.again('a')).to.deep.equal([]);
    await stage.edit('a', { image: 'nginx:2' });
    await ran(stage, 3);
    expect(dids).to.deep.equal(['deployment created', 'deployment noop', 'deployment updated']);
    expect(stage.client.writes).to.deep.equal(['apply Deployment a', 'apply Deployment a']);
    expect(stage.client.reads).to.deep.equal([]);
    const [owner] = (await read(stages.cluster, deployments, stage.key('a')))?.metadata.ownerReferences ?? [];
    expect(owner).to.include({ kind: 'Page', name: 'a', controller: true });
  });

  it('RUN-55: matches while another manager scales it, but not if a user changes an applied field', async () => {
    const use = kubernetes<AnyObj, Page>({ kind: deployments, desired: deployment });
    const stage = await stages.set(() => [{ use }], noting);
    await stage.page('a');
    await ran(stage);
    const edit = (body: object) =>
      stages.cluster.client.send({ verb: 'merge', kind: deployments, key: stage.key('a'), body });
    await edit({ spec: { replicas: 3 } });
    await ran(stage, 2);
    expect(stage.client.writes).to.have.length(1);
    await edit({
      spec: { template: { spec: { containers: [{ name: 'web', image: 'nginx:hacked' }] } } },
    });
    await eventually('it is healed', async () => {
      const found = await read(stages.cluster, deployments, stage.key('a'));
      return JSON.stringify(found?.spec).includes('nginx:1');
    });
    expect((await read(stages.cluster, deployments, stage.key('a')))?.spec).to.have.property('replicas', 3);
  });

  it('RUN-56: removes a field that is no longer desired', async () => {
    const use = kubernetes<ConfigMap, Page>({
      kind: configMaps,
      desired: ({ metadata, spec }) => map(metadata.name, spec['both'] ? { x: '1', y: '2' } : { x: '1' }),
    });
    const stage = await stages.set(() => [{ use }], noting);
    await stage.page('a', { both: true });
    await ran(stage);
    await stage.edit('a', { both: false });
    await ran(stage, 2);
    expect((await mapIn(stage, 'a'))?.data).to.deep.equal({ x: '1' });
    expect(await stage.again('a')).to.deep.equal([]);
  });

  it('RUN-57: takes over an object of another owner on request, with one apply', async () => {
    const use = textOf({ adopt: true });
    const stage = await stages.set(() => [{ use }], noting);
    const object = map('a', { text: 'hi', theirs: 'stays' });
    object.metadata.namespace = stage.namespace;
    await stages.cluster.client.send({ verb: 'create', kind: configMaps, object });
    await stage.page('a', { text: 'hi' });
    await ran(stage);
    expect((await mapIn(stage, 'a'))?.data).to.deep.equal({ text: 'hi', theirs: 'stays' });
    expect(await stage.again('a')).to.deep.equal([]);
    expect(dids[0]).to.equal('configMap created');
  });

  it('RUN-57: leaves an object of another owner alone otherwise, and reports it', async () => {
    const stage = await stages.set(() => [{ use: textOf() }]);
    const object = map('a', { text: 'theirs' });
    object.metadata.namespace = stage.namespace;
    await stages.cluster.client.send({ verb: 'create', kind: configMaps, object });
    await stage.page('a', { text: 'ours' });
    await eventually('it has failed', () => stage.errors.length > 0);
    expect(String(stage.errors[0])).to.include(
      'already exists and does not belong to this primary; set adopt',
    );
    expect((await mapIn(stage, 'a'))?.data).to.deep.equal({ text: 'theirs' });
  });

  it('RUN-58: applies once per desired state, although a webhook rewrites each apply', async () => {
    const stage = await stages.set(() => [{ use: textOf() }], noting);
    const rewrite = <T>(object: T): T => JSON.parse(JSON.stringify(object).replaceAll('500m', '0.5')) as T;
    stage.client.rewrite = rewrite;
    await stage.page('a', { text: '500m' });
    await ran(stage);
    expect(await stage.again('a')).to.deep.equal([]);
    expect(await stage.again('a')).to.deep.equal([]);
    await stage.edit('a', { text: 'twice 500m' });
    await ran(stage, 4);
    expect(stage.client.writes).to.have.length(2);
    expect((await mapIn(stage, 'a'))?.data).to.deep.equal({ text: 'twice 0.5' });

    await stage.restart();
    stage.client.rewrite = rewrite;
    await ran(stage, 5);
    await stage.again('a');
    expect(stage.client.writes.length).to.be.at.most(1);
  });

  it('RUN-60: always writes if it never compares, and triggers no reconcile by that', async () => {
    const stage = await stages.set(() => [{ use: textOf({ match: 'never' }) }]);
    await stage.page('a', { text: 'x' });
    await ran(stage);
    const version = (await mapIn(stage, 'a'))?.metadata.resourceVersion;
    expect(await stage.again('a')).to.deep.equal(['apply ConfigMap a']);
    expect(await stage.again('a')).to.deep.equal(['apply ConfigMap a']);
    expect((await mapIn(stage, 'a'))?.metadata.resourceVersion).to.equal(version);
    expect(stage.runs).to.have.length(3);
  });

  it('RUN-59: compares the desired fields and replaces, if it does not use apply', async () => {
    const stage = await stages.set(() => [{ use: textOf({ ssa: false }) }], noting);
    await stage.page('a', { text: 'x' });
    await ran(stage);
    await stages.cluster.client.send({
      verb: 'merge',
      kind: configMaps,
      key: stage.key('a'),
      body: { metadata: { labels: { by: 'hand' } }, data: { more: 'y' } },
    });
    await ran(stage, 2);
    await stage.edit('a', { text: 'z' });
    await ran(stage, 3);
    expect(stage.client.writes).to.deep.equal(['create ConfigMap a', 'replace ConfigMap a']);
    const found = await mapIn(stage, 'a');
    expect(found?.data).to.deep.equal({ text: 'z' });
    expect(found?.metadata.labels).to.deep.equal({ by: 'hand' });
  });

  it('RUN-54: is not updated without the update trait, and not created without the create trait', async () => {
    const onlyCreated = textOf({ name: 'created', can: ['create'] });
    const onlyUpdated = kubernetes<ConfigMap, Page>({
      name: 'updated',
      kind: configMaps,
      can: ['update'],
      desired: ({ metadata }) => map(`${metadata.name}-missing`),
    });
    const stage = await stages.set(() => [{ use: onlyCreated }, { use: onlyUpdated }], noting);
    await stage.page('a', { text: 'first' });
    await ran(stage);
    await stage.edit('a', { text: 'second' });
    await ran(stage, 2);
    expect(stage.client.writes).to.deep.equal(['apply ConfigMap a']);
    expect(dids).to.deep.equal(['created created', 'updated noop', 'created noop', 'updated noop']);
    expect(stage.errors).to.deep.equal([]);
  });

  it('RUN-61: leaves owned objects to the garbage collector, deletes the rest, and releases the primary', async () => {
    const owned = textOf({ name: 'owned' });
    const annotated = kubernetes<ConfigMap, Page>({
      name: 'annotated',
      kind: configMaps,
      gc: false,
      desired: ({ metadata }) => map(`${metadata.name}-n`),
    });
    const stage = await stages.set(() => [{ use: owned }, { use: annotated }]);
    await stage.page('a');
    await ran(stage);
    const { annotations, ownerReferences } = (await mapIn(stage, 'a-n'))?.metadata ?? {};
    expect(ownerReferences).to.equal(undefined);
    expect(annotations).to.deep.equal({
      'espalier.dev/primary-name': 'a',
      'espalier.dev/primary-namespace': stage.namespace,
      'espalier.dev/primary-type': 'Page.runtime.test.example',
    });
    await stage.remove('a');
    await eventually('the page is gone', async () => !(await stage.read('a')));
    expect(await mapIn(stage, 'a-n')).to.equal(undefined);
    expect(stage.client.writes.filter((write) => write.startsWith('delete'))).to.deep.equal([
      'delete ConfigMap a-n',
    ]);
  });

  it('RUN-62: shares an event source with another dependent of its kind, and each keeps its own objects', async () => {
    const [one, two] = ['one', 'two'].map((which) =>
      kubernetes<ConfigMap, Page>({
        name: which,
        kind: configMaps,
        desired: ({ metadata, spec }) => map(`${metadata.name}-${which}`, { text: String(spec[which]) }),
      }),
    );
    const stage = await stages.set(() => [{ use: one as never }, { use: two as never }], noting);
    await stage.page('a', { one: '1', two: '1' });
    await ran(stage);
    await stage.edit('a', { two: '2' });
    await ran(stage, 2);
    expect(dids).to.deep.equal(['one created', 'two created', 'one noop', 'two updated']);
    expect(stage.client.watches.filter((watch) => watch.startsWith('configmaps'))).to.have.length(1);
  });

  it('RUN-62: or has its own event source, restricted by labels', async () => {
    const labelled = (which: string) =>
      kubernetes<ConfigMap, Page>({
        name: which,
        kind: configMaps,
        selector: `which=${which}`,
        desired({ metadata, spec }) {
          const object = map(`${metadata.name}-${which}`, { text: String(spec[which]) });
          return { ...object, metadata: { ...object.metadata, labels: { which } } };
        },
      });
    const stage = await stages.set(() => [{ use: labelled('one') }, { use: labelled('two') }], noting);
    await stage.page('a', { one: '1', two: '1' });
    await ran(stage);
    await stage.edit('a', { one: '2' });
    await ran(stage, 2);
    expect(dids.slice(2)).to.deep.equal(['one updated', 'two noop']);
    const watches = stage.client.watches.filter((watch) => watch.startsWith('configmaps')).sort();
    expect(watches).to.deep.equal(['configmaps which=one', 'configmaps which=two']);
  });

  it('RUN-63: is found by a discriminator without computing the desired state', async () => {
    let asked = 0;
    const discriminated = kubernetes<ConfigMap, Page>({
      kind: configMaps,
      discriminator: nameEndsWith('-x'),
      can: ['create', 'delete'],
      gc: false,
      desired({ metadata }) {
        asked++;
        return map(`${metadata.name}-x`);
      },
    });
    const stage = await stages.set(() => [{ use: discriminated }]);
    await stage.page('a');
    await ran(stage);
    expect(asked).to.equal(1);
    await stage.again('a');
    await stage.remove('a');
    await eventually('the page is gone', async () => !(await stage.read('a')));
    expect(asked).to.equal(1);
    expect(await mapIn(stage, 'a-x')).to.equal(undefined);
  });

  it('RUN-63: is ambiguous if a discriminator matches two', async () => {
    const make = (which: string) =>
      kubernetes<ConfigMap, Page>({
        name: which,
        kind: configMaps,
        desired: ({ metadata }) => ({
          ...map(`${metadata.name}-${which}`),
          metadata: { name: `${metadata.name}-${which}`, labels: { all: 'alike' } },
        }),
      });
    const confused = readOnly<ConfigMap, Page>({
      name: 'confused',
      kind: configMaps,
      discriminator: hasLabel('all', 'alike'),
    });
    const stage = await stages.set(() => [
      { use: make('one') },
      { use: make('two') },
      { use: confused, dependsOn: ['one', 'two'] },
    ]);
    await stage.page('a');
    await eventually('it has failed', () => stage.errors.length > 0);
    expect(String(stage.errors[0])).to.match(/dependent "confused" of Page .*: .*a-one, .*a-two all match/);
  });

  it('RUN-64: in bulk first deletes undesired objects, then creates the rest', async () => {
    const use = kubernetesBulk<ConfigMap, Page>({
      kind: configMaps,
      desiredAll: ({ spec }) => new Map((spec['ids'] as string[]).map((id) => [id, map(id)])),
    });
    const stage = await stages.set(() => [{ use }], noting);
    await stage.page('p', { ids: ['a', 'b', 'c'] });
    await ran(stage);
    const before = stage.client.writes.length;
    await stage.edit('p', { ids: ['b', 'd'] });
    await ran(stage, 2);
    const writes = stage.client.writes.slice(before);
    expect(writes.slice(0, 2).sort()).to.deep.equal(['delete ConfigMap a', 'delete ConfigMap c']);
    expect(writes.slice(2)).to.deep.equal(['apply ConfigMap d']);
    expect(await stage.again('p')).to.deep.equal([]);
  });

  it('RUN-64: in bulk keeps undesired objects if it cannot delete', async () => {
    const use = kubernetesBulk<ConfigMap, Page>({
      kind: configMaps,
      can: ['create', 'update'],
      desiredAll: ({ spec }) => new Map((spec['ids'] as string[]).map((id) => [id, map(id)])),
    });
    const stage = await stages.set(() => [{ use }], noting);
    await stage.page('p', { ids: ['a', 'b'] });
    await ran(stage);
    await stage.edit('p', { ids: ['b'] });
    await ran(stage, 2);
    expect(stage.client.writes).to.have.length(2);
    expect(await mapIn(stage, 'a')).to.not.equal(undefined);
  });

  it('RUN-67: accepts any kind, with all its fields', async () => {
    const gadgets = kindOfTest('run.time.example', 'Gadget');
    await stages.cluster.install(crdOf(gadgets));
    const use = kubernetes<AnyObj, Page>({
      kind: gadgets,
      gc: false,
      desired: ({ metadata, spec }) => ({
        apiVersion: 'run.time.example/v1',
        kind: 'Gadget',
        metadata: { name: metadata.name },
        spec: { size: spec['size'], list: [1, 'two', { three: null }] },
        odd: { deep: [true] },
      }),
    });
    const stage = await stages.set(() => [{ use }], noting);
    await stage.page('a', { size: 1 });
    await ran(stage);
    expect(await stage.again('a')).to.deep.equal([]);
    const theirs = {
      verb: 'merge',
      kind: gadgets,
      key: stage.key('a'),
      body: { extra: { kept: 'yes' } },
    } as const;
    await stages.cluster.client.send(theirs);
    await ran(stage, 3);
    await stage.edit('a', { size: 2 });
    await ran(stage, 4);
    expect(await read(stages.cluster, gadgets, stage.key('a'))).to.deep.include({
      extra: { kept: 'yes' },
      odd: { deep: [true] },
    });
    await stage.remove('a');
    await eventually('the page is gone', async () => !(await stage.read('a')));
    expect(await read(stages.cluster, gadgets, stage.key('a'))).to.equal(undefined);
  });

  it('RUN-68: that is read-only blocks its successors, and triggers a reconcile of the primary', async () => {
    const settings = readOnly<ConfigMap, Page>({
      name: 'settings',
      kind: configMaps,
      source: 'settings',
      selector: 'settings',
      toPrimary: ({ metadata }) => [`${metadata.namespace ?? ''}/${metadata.name}`],
    });
    const use = kubernetes<AnyObj, Page>({ kind: deployments, desired: deployment });
    const stage = await stages.set(() => [
      {
        use: settings,
        ready: async (node) => 'x' in (((await node.actual()) as ConfigMap | undefined)?.data ?? {}),
      },
      { use, dependsOn: ['settings'] },
    ]);
    const object = map('a');
    object.metadata = { name: 'a', namespace: stage.namespace, labels: { settings: 'yes' } };
    await stages.cluster.client.send({ verb: 'create', kind: configMaps, object });
    await stage.page('a');
    await ran(stage);
    expect(stage.client.writes).to.deep.equal([]);
    const body = { data: { x: '1' } };
    await stages.cluster.client.send({ verb: 'merge', kind: configMaps, key: stage.key('a'), body });
    await eventually('the Deployment is made', () => stage.client.writes.length > 0);
    expect(stage.client.writes).to.deep.equal(['apply Deployment a']);
  });

  it('reports by its name that the desired state is undefined', async () => {
    const use = kubernetes<ConfigMap, Page>({
      kind: configMaps,
      desired: () => null as unknown as ConfigMap,
    });
    const stage = await stages.set(() => [{ use }]);
    await stage.page('a');
    await eventually('it has failed', () => stage.errors.length > 0);
    expect(String(stage.errors[0]))
      .to.include('dependent "configMap" of Page')
      .and.include('"desired" returned null');
  });

  it('reports that an owner in another namespace would get it garbage collected', async () => {
    const use = kubernetes<ConfigMap, Page>({
      kind: configMaps,
      desired: () => ({ ...map('x'), metadata: { name: 'x', namespace: 'default' } }),
    });
    const stage = await stages.set(() => [{ use }]);
    await stage.page('a');
    await eventually('it has failed', () => stage.errors.length > 0);
    expect(String(stage.errors[0])).to.include('cannot own it; set gc: false');
  });

  it('reads the YAML of a template', async () => {
    const use = kubernetes<ConfigMap, Page>({
      kind: configMaps,
      desired: ({ metadata }) => `metadata: { name: ${metadata.name} }\ndata: { from: yaml }`,
    });
    const stage = await stages.set(() => [{ use }]);
    await stage.page('a');
    await ran(stage);
    expect((await mapIn(stage, 'a'))?.data).to.deep.equal({ from: 'yaml' });
    expect(await stage.again('a')).to.deep.equal([]);
  });

  it('converts stringData of a Secret, and matches', async () => {
    const use = kubernetes<AnyObj, Page>({
      kind: secrets,
      desired: ({ metadata }) => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: metadata.name },
        stringData: { password: 'hunter2' },
      }),
    });
    const stage = await stages.set(() => [{ use }]);
    await stage.page('a');
    await ran(stage);
    await stage.again('a');
    expect(await stage.again('a')).to.deep.equal([]);
    expect((await read(stages.cluster, secrets, stage.key('a')))?.['data']).to.deep.equal({
      password: Buffer.from('hunter2').toString('base64'),
    });
  });

  it('is created once even if the cache has not seen it yet', async () => {
    const stage = await stages.set(() => [{ use: textOf() }], noting);
    const refused = {
      status: 409,
      reason: 'AlreadyExists',
      ref: { verb: 'create', kind: 'ConfigMap' },
    } as const;
    let faults = 1;
    stage.client.fault = ({ verb }) =>
      verb === 'apply' && faults-- > 0 ? new AlreadyExists({ message: 'taken', ...refused }) : undefined;
    await stage.page('a', { text: 'x' });
    await ran(stage);
    expect(stage.errors).to.deep.equal([]);
    expect((await mapIn(stage, 'a'))?.data).to.deep.equal({ text: 'x' });
  });

  for (const [what, times, writes] of [
    ['overcomes two conflicts by reading the current object', 2, 3],
    ['gives up after three conflicts, and the next reconcile repairs it', 3, 4],
  ] as const) {
    it(what, async () => {
      const stage = await stages.set(() => [{ use: textOf() }], noting);
      await stage.page('a', { text: 'x' });
      await ran(stage);
      const conflict = new Conflict({
        message: 'changed',
        status: 409,
        reason: 'Conflict',
        ref: { verb: 'apply', kind: 'ConfigMap' },
      });
      let faults: number = times;
      stage.client.fault = ({ verb }) => (verb === 'apply' && faults-- > 0 ? conflict : undefined);
      const before = stage.client.writes.length;
      await stage.edit('a', { text: 'y' });
      await eventually('it is healed', async () => (await mapIn(stage, 'a'))?.data?.['text'] === 'y');
      expect(stage.client.writes.length - before).to.equal(writes);
    });
  }

  it('is retried after a temporary error', async () => {
    const stage = await stages.set(() => [{ use: textOf() }]);
    const ref = { verb: 'apply', kind: 'ConfigMap' };
    let faults = 2;
    stage.client.fault = () =>
      faults-- > 0
        ? new TooManyRequests({ message: 'slow down', status: 429, reason: 'TooManyRequests', ref })
        : undefined;
    await stage.page('a', { text: 'x' });
    await eventually('it is there', () => mapIn(stage, 'a'));
    expect(stage.errors.length).to.be.at.least(1);
  });

  it('is recreated if a user deletes it', async () => {
    const stage = await stages.set(() => [{ use: textOf() }]);
    await stage.page('a', { text: 'x' });
    await ran(stage);
    const { uid } = (await mapIn(stage, 'a'))?.metadata ?? {};
    await stages.cluster.client.send({ verb: 'delete', kind: configMaps, key: stage.key('a') });
    await eventually('it is there again', async () => {
      const found = await mapIn(stage, 'a');
      return found !== undefined && found.metadata.uid !== uid;
    });
  });

  it('reads by requests, without a watch, on request', async () => {
    const stage = await stages.set(() => [{ use: textOf({ reader: 'live' }) }], noting);
    await stage.page('a', { text: 'x' });
    await ran(stage);
    expect(await stage.again('a')).to.deep.equal([]);
    expect(stage.client.watches).to.not.include('configmaps');
    expect(stage.client.reads).to.deep.equal(['get ConfigMap a', 'get ConfigMap a']);
  });
});

describe('a dependent that is not always active', function () {
  this.timeout(60_000);
  const stages = useStages();
  const watches = (stage: Stage): number =>
    stage.client.watches.filter((watch) => watch.startsWith('configmaps')).length;
  const optional = (which: string, source?: string) =>
    kubernetes<ConfigMap, Page>({
      name: which,
      kind: configMaps,
      ...(source && { source }),
      desired: ({ metadata }) => map(`${metadata.name}-${which}`),
    });
  const isWanted =
    (which: string) =>
    (_: unknown, { spec }: View<Page>) =>
      Boolean(spec[which]);

  it('RUN-85: is watched as long as any primary activates it', async () => {
    const stage = await stages.set(() => [{ use: optional('x'), active: isWanted('x') }]);
    await stage.page('a', {});
    await stage.page('b', {});
    await eventually('both have run', () => stage.runs.length >= 2);
    expect(watches(stage)).to.equal(0);
    await stage.edit('a', { x: true });
    await stage.edit('b', { x: true });
    const made = (name: string) => read(stages.cluster, configMaps, stage.key(name));
    await eventually('both are made', async () => (await made('a-x')) && (await made('b-x')));
    await eventually('it is watched', () => watches(stage) === 1);
    await stage.edit('a', { x: false });
    await eventually('a has run', () => stage.runs.filter((run) => run.endsWith('a')).length >= 3);
    expect(watches(stage)).to.equal(1);
    await stage.edit('b', { x: false });
    await eventually('all watches have ended', () => watches(stage) === 0);
    expect(await made('a-x')).to.not.equal(undefined);
    await stage.edit('a', { x: true });
    await eventually('it is watched again', () => watches(stage) === 1);
    expect(await stage.again('a')).to.deep.equal([]);
  });

  it('RUN-85: shares a source of the same name with another while either is active', async () => {
    const stage = await stages.set(() => [
      { use: optional('x', 'shared'), active: isWanted('x') },
      { use: optional('y', 'shared'), active: isWanted('y') },
    ]);
    await stage.page('a', { x: true, y: true });
    await eventually('both are made', async () => {
      const made = await Promise.all(
        ['a-x', 'a-y'].map((name) => read(stages.cluster, configMaps, stage.key(name))),
      );
      return made.every((object) => object !== undefined);
    });
    await eventually('it is watched', () => watches(stage) === 1);
    await stage.edit('a', { x: false });
    await eventually('it has run', () => stage.runs.length >= 2);
    expect(watches(stage)).to.equal(1);
    await stage.edit('a', { y: false });
    await eventually('all watches have ended', () => watches(stage) === 0);
  });

  it('RUN-85: is no longer watched after its primary is gone', async () => {
    const use = kubernetes<ConfigMap, Page>({
      kind: configMaps,
      gc: false,
      desired: ({ metadata }) => map(metadata.name),
    });
    const stage = await stages.set(() => [{ use, active: () => true }]);
    await stage.page('a');
    await eventually('it is watched', () => watches(stage) === 1);
    await eventually('it has run', () => stage.runs.length > 0);
    await stage.remove('a');
    await eventually('the page is gone', async () => !(await stage.read('a')));
    await eventually('all watches have ended', () => watches(stage) === 0);
    expect(await read(stages.cluster, configMaps, stage.key('a'))).to.equal(undefined);
  });
});
