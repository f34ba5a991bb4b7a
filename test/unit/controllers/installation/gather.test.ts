/** The facts for the phases of an installation, from caches with given objects and a server with few requests. */
import { expect } from 'chai';
import { gather, type Sources } from '../../../../controllers/installation/gather/index.ts';
import { TemporarilyUnavailable } from '../../../../controllers/installation/gather/component-errors.ts';
import type { Inst } from '../../../../controllers/installation/related-objects.ts';
import type { Snapshot } from '../../../../controllers/installation/snapshot.ts';
import { GROUP, labels } from '../../../../src/api/labels.ts';
import { defaultLimits } from '../../../../src/api/limits.ts';
import { stateSecretName } from '../../../../src/blueprint/state.ts';
import { executionContext, installationContext, objectName } from '../../../../src/dataflow/scope.ts';
import { importsHash } from '../../../../src/dataflow/imports-hash.ts';
import { PhaseError } from '../../../../src/machine/decision.ts';
import { gatherOnce } from '../../../../src/machine/phase.ts';
import { createTreeSizes, type TreeSizes } from '../../../../src/landscape/tree-size.ts';
import type { Obj, View } from '../../../../src/runtime/types.ts';
import {
  NOW,
  child,
  deleting,
  done,
  execution,
  installation,
  item,
  running,
} from '../../../support/given.ts';
import { worldOf } from '../../../support/static-world.ts';
import { imports as importSet, runner } from '../../dataflow/given.ts';
import { JOB, dataObject, ownExecution, target, trading } from './given.ts';
import { inline } from './landscape.ts';
import { server } from './server.ts';

interface Given {
  readonly self?: Inst;
  /** In the caches. */
  readonly objects?: readonly View<Obj>[];
  /** On the server alone. */
  readonly stored?: readonly Obj[];
  readonly sources?: Partial<Sources>;
}
const stack = (spec: object = {}, meta: object = {}, status: object = {}): Inst =>
  installation('stack', {
    spec: { blueprint: inline(), ...spec },
    meta,
    status: { ...running(JOB, 'Init'), ...status },
  });

function facts({ self = stack(), objects = [], stored = [], sources = {} }: Given = {}) {
  const world = worldOf(self, ...objects);
  const { asked, client } = server(...stored);
  const get = gatherOnce<Snapshot>(
    gather({
      world,
      client,
      sources: {} as never,
      runnerOf: () => runner,
      trees: createTreeSizes(world),
      findComponent: () => Promise.resolve({ view: undefined, condition: undefined }),
      ...sources,
    })(self, NOW),
  );
  return { get, asked, world };
}
const namesOf = (objects: readonly View<Obj>[]) => objects.map(({ metadata: { name } }) => name);
const failureOf = async (work: Promise<unknown>): Promise<PhaseError> => {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PhaseError) return error;
  throw new Error(`no PhaseError, but ${String(error)}`);
};
/** An execution of a blueprint in GoTemplate. */
const go = (text: string, name = 'e') => ({ name, type: 'GoTemplate', template: text });
/** Labels of objects that `stack` stores in its own scope, or exports. */
const ofStack = (type: string, job: string, more: object = {}) => ({
  labels: {
    [labels.dataSource]: installationContext('stack'),
    [labels.dataSourceType]: type,
    [labels.dataContext]: installationContext('stack'),
    [labels.dataJobId]: job,
    ...more,
  },
});

describe('the facts about an installation', () => {
  it('include itself, the time and the limits', async () => {
    const self = stack();
    const { get } = facts({ self });
    expect(await get('self')).to.equal(self);
    expect(await get('now')).to.equal(NOW);
    expect(await get('treeDepth')).to.equal(30);
    expect(await get('treeRecursion')).to.equal(5);
    expect(await get('limits')).to.equal(defaultLimits);
    const limits = { ...defaultLimits, deployItems: 1 };
    const tight = facts({ sources: { treeDepth: 2, treeRecursion: 1, limits } });
    expect(await tight.get('treeDepth')).to.equal(2);
    expect(await tight.get('treeRecursion')).to.equal(1);
    expect(await tight.get('limits')).to.equal(limits);
  });
  it('include its ancestors, the nearest first', async () => {
    const top = installation('top');
    const middle = child('top', 'm', {}, { ...child('top', 'm').metadata, name: 'middle' });
    const self = child('middle', 'a', running(JOB));
    expect(namesOf(await facts({ self, objects: [top, middle] }).get('ancestors'))).to.deep.equal([
      'middle',
      'top',
    ]);
  });
  it('include its children and its execution', async () => {
    const { get } = facts({ objects: [child('stack', 'a'), execution('stack'), execution('other')] });
    expect(namesOf(await get('children'))).to.deep.equal(['a-x']);
    expect((await get('execution'))?.metadata.name).to.equal('stack');
  });

  describe('about names of children', () => {
    const named = async (...objects: View<Obj>[]) => (await facts({ objects }).get('freshName'))('a-');
    it('keep a name that the job has used already', async () => {
      const name = await named();
      expect(await named()).to.equal(name);
      const own = child('stack', 'a', {}, { ...child('stack', 'a').metadata, name });
      expect(await named(own)).to.equal(name);
    });
    it('avoid a name that another installation has, or a child under deletion', async () => {
      const name = await named();
      expect(await named(installation(name))).to.not.equal(name);
      const going = child('stack', 'a', {}, { ...child('stack', 'a').metadata, ...deleting, name });
      expect(await named(going)).to.not.equal(name);
    });
  });

  describe('about its Context', () => {
    const context = (name: string): Obj => ({
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Context',
      metadata: { name, namespace: 'demo' },
    });
    it('come from the cache', async () => {
      const { get, asked } = facts({ objects: [context('default')] });
      expect((await get('context'))?.metadata.name).to.equal('default');
      expect(asked).to.deep.equal([]);
    });
    it('come from the server if the cache is behind', async () => {
      const { get, asked } = facts({ self: stack({ context: 'special' }), stored: [context('special')] });
      expect((await get('context'))?.metadata.name).to.equal('special');
      expect(asked).to.deep.equal(['Context demo/special']);
    });
    it('use the default one if it names none', async () => {
      const { get, asked } = facts({ self: stack({ context: undefined }) });
      expect(await get('context')).to.equal(undefined);
      expect(asked).to.deep.equal(['Context demo/default']);
    });
  });

  it('load the component with the Context', async () => {
    const found = {
      view: undefined,
      condition: { type: 'ComponentReferenceOverwrite', status: 'True', reason: 'r', message: 'm' } as const,
    };
    const calls: unknown[] = [];
    const { get } = facts({
      sources: {
        findComponent: (self, context) => {
          calls.push([self.metadata.name, context]);
          return Promise.resolve(found);
        },
      },
    });
    expect(await get('component')).to.equal(found);
    expect(calls).to.deep.equal([['stack', undefined]]);
  });

  for (const [title, meta, outcome] of [
    ['is retried', {}, 'retry'],
    ['ends the job of an installation that was deleted meanwhile', deleting, 'fail'],
  ] as const) {
    it(`report that a server which cannot be reached ${title}`, async () => {
      const away = new TemporarilyUnavailable('InitPrerequisites', 'ResolveBlueprint', 'away', [
        'ERR_TIMEOUT',
      ]);
      const { get } = facts({
        self: stack({}, meta),
        sources: { findComponent: () => Promise.reject(away) },
      });
      const error = await failureOf(get('blueprint'));
      expect(error.outcome).to.equal(outcome);
      expect(error.problem).to.deep.include({
        message: 'away',
        reason: 'ResolveBlueprint',
        codes: ['ERR_TIMEOUT'],
      });
    });
  }

  it('contain the warnings about the blueprint', async () => {
    expect(await facts().get('blueprintWarnings')).to.deep.equal({ all: [], unknownFields: [] });
    const self = stack({
      blueprint: inline({ imports: [{ name: 'x', type: 'data', schema: { typ: 'string' } }] }),
    });
    expect((await facts({ self }).get('blueprintWarnings')).all[0]).to.match(/^blueprint\.yaml:1:\d+: /);
  });
});

describe('the predecessors of an installation', () => {
  const producer = installation('producer', { spec: trading({ gives: ['a'] }), status: done('p1') });
  const objects = [producer, installation('other', { spec: trading({ gives: ['b'] }) })];
  const importing = (more: object = {}) => stack({ ...trading({ takes: ['a'] }), ...more });

  it('are the siblings that export what it imports', async () => {
    const { get } = facts({ self: importing(), objects });
    expect(namesOf(await get('siblings'))).to.deep.equal(['producer']);
    expect(await get('predecessors')).to.deep.equal([producer]);
    expect(await get('predecessorJobs')).to.deep.equal({ producer: 'p1' });
  });
  it('may have finished no job', async () => {
    const fresh = installation('producer', { spec: trading({ gives: ['a'] }) });
    expect(await facts({ self: importing(), objects: [fresh] }).get('predecessorJobs')).to.deep.equal({
      producer: '',
    });
  });
  it('are none if the spec says that nothing is imported from siblings', async () => {
    const self = importing({ optimization: { hasNoSiblingImports: true } });
    expect(await facts({ self, objects }).get('predecessors')).to.deep.equal([]);
  });
});

describe('the imports of a job', () => {
  const spec = { imports: { targets: [{ name: 'cluster', target: 'cluster' }] } };
  const cluster = target('cluster', { generation: 1 }, { type: 't', config: 'new' });
  const copy = (config: string, type = 'import', job = JOB) =>
    target('copy', ofStack(type, job, { [labels.dataKey]: 'cluster' }), { type: 't', config });
  const replaced = (self: Inst, ...copies: Obj[]) =>
    facts({ self, objects: [cluster, ...copies] }).get('replacedTargets');

  it('have a hash', async () => {
    const { get } = facts({ self: stack(spec), objects: [cluster] });
    expect(await get('importsHash')).to.equal(importsHash(importSet({ targets: { cluster } })));
  });
  it('are compared with the copies of this job', async () => {
    expect(await replaced(stack(spec), copy('old'))).to.deep.equal(['cluster']);
    expect(await replaced(stack(spec), copy('new'))).to.deep.equal([]);
  });
  it('are not compared with copies of other jobs, or with exports', async () => {
    expect(await replaced(stack(spec), copy('old', 'import', 'j1'))).to.deep.equal([]);
    expect(await replaced(stack(spec), copy('old', 'export'))).to.deep.equal([]);
    const bare = copy('old');
    const { labels: _, ...metadata } = bare.metadata;
    expect(await replaced(stack(spec), { ...bare, metadata })).to.deep.equal([]);
  });
  it('are not compared if executions or mappings may have created the copies', async () => {
    const made = inline({ importExecutions: [go('bindings: {}')] });
    expect(await replaced(stack({ ...spec, blueprint: made }), copy('old'))).to.deep.equal([]);
    expect(await replaced(stack({ ...spec, importDataMappings: { x: 1 } }), copy('old'))).to.deep.equal([]);
  });
});

describe('the objects that an installation renders in Init', () => {
  const importing = { imports: [{ name: 'a', type: 'data', schema: {} }] };
  const items = (count: number) =>
    go(
      `deployItems: [${Array.from({ length: count }, (_, i) => `{name: i${String(i)}, type: x, config: {}}`).join(', ')}]`,
    );

  it('are copies of imports, with existing objects of their names', async () => {
    const self = stack({ ...trading({ takes: ['a'] }), blueprint: inline(importing) });
    const name = objectName(installationContext('stack'), 'a');
    const existing = dataObject(name);
    const given = (...objects: Obj[]) =>
      facts({ self, objects: [dataObject('a'), ...objects] }).get('importUpserts');
    expect((await given())[0]).to.deep.include({ existing: undefined });
    const [upsert] = await given(existing, target(name));
    expect(upsert?.wanted).to.have.nested.property('metadata.name', name);
    expect(upsert?.existing).to.equal(existing);
  });
  it('are copies of targets, with targets of their names', async () => {
    const bp = inline({ imports: [{ name: 't', type: 'target', targetType: 't' }] });
    const self = stack({ imports: { targets: [{ name: 't', target: 't' }] }, blueprint: bp });
    const name = objectName(installationContext('stack'), 't');
    const existing = target(name);
    const cluster = target('t', {}, { type: `${GROUP}/t` });
    const { get } = facts({ self, objects: [cluster, existing, dataObject(name)] });
    expect((await get('importUpserts'))[0]?.existing).to.equal(existing);
  });
  it('are states, with the secrets that store them', async () => {
    const bp = inline({
      deployExecutions: [go('{state: {count: 2, was: {{ .state.count }}}, deployItems: []}')],
    });
    const name = stateSecretName('stack', 'deploy', 'e');
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'demo' },
      data: { config: Buffer.from('count: 1').toString('base64') },
    };
    const { get, asked } = facts({ self: stack({ blueprint: bp }), stored: [secret] });
    const [upsert] = await get('stateUpserts');
    expect(upsert?.update.state).to.deep.equal({ count: 2, was: 1 });
    expect(upsert?.existing?.metadata.name).to.equal(name);
    expect(asked.filter((one) => one.startsWith('Secret'))).to.deep.equal([`Secret demo/${name}`]);
  });

  describe('are counted for the limit of the tree', () => {
    const sub = { name: 'a', blueprint: { filesystem: { 'blueprint.yaml': '{}' } } };
    const reserved = async (blueprint: object, ...objects: View<Obj>[]) => {
      let added: number | undefined;
      const trees: TreeSizes = {
        reserve: (_, count) => {
          added = count;
          return { root: 'r', present: 0, reserved: 0, added: count, limit: 1, isGranted: true };
        },
      };
      await facts({ self: stack({ blueprint: inline(blueprint) }), objects, sources: { trees } }).get(
        'reservation',
      );
      return added;
    };
    const both = { subinstallations: [sub, { ...sub, name: 'b' }], deployExecutions: [items(2)] };
    const rows: readonly (readonly [string, object, readonly View<Obj>[], number])[] = [
      ['as nothing', {}, [], 0],
      ['for children, the execution and its items', both, [], 5],
      ['without existing children', both, [child('stack', 'a')], 4],
      [
        'with children that are being deleted',
        both,
        [child('stack', 'a', {}, { ...child('stack', 'a').metadata, ...deleting })],
        5,
      ],
      ['without an existing execution and its items', both, [ownExecution(), item('stack', 'i0')], 3],
      [
        'with items of an execution that does not exist yet, whatever items exist',
        both,
        [item('stack', 'i0')],
        5,
      ],
      [
        'as zero, not less, if there are more items than wanted',
        both,
        [ownExecution(), ...['i0', 'i1', 'i2'].map((name) => item('stack', name))],
        2,
      ],
      ['as children only', { subinstallations: [sub] }, [], 1],
      [
        'as children only if there is an execution without items',
        { subinstallations: [sub] },
        [ownExecution()],
        1,
      ],
      [
        'with items that can be rendered, even if children cannot',
        { subinstallations: [sub, sub], deployExecutions: [items(1)] },
        [],
        0,
      ],
      [
        'with children, even if items cannot be rendered',
        { subinstallations: [sub], deployExecutions: [go('{{ fail "x" }}')] },
        [],
        1,
      ],
    ];
    for (const [title, blueprint, objects, count] of rows) {
      it(title, async () => {
        expect(await reserved(blueprint, ...objects)).to.equal(count);
      });
    }
  });
});

describe('the exports of an installation', () => {
  it('are old if another job wrote them', async () => {
    const objects = [dataObject('now', ofStack('export', JOB)), target('old', ofStack('export', 'j1'))];
    const { get } = facts({ objects });
    expect(namesOf(await get('ownExports'))).to.deep.equal(['now', 'old']);
    expect(namesOf(await get('oldExports'))).to.deep.equal(['old']);
  });
  it('are stale in its own scope if another job left them there', async () => {
    const objects = [
      dataObject('now', ofStack('import', JOB)),
      dataObject('old', ofStack('import', 'j1')),
      target('older', ofStack('import', 'j0')),
    ];
    expect(namesOf(await facts({ objects }).get('staleObjects'))).to.deep.equal(['old', 'older']);
  });

  const blueprint = (template_: string) =>
    inline({
      exports: [{ name: 'out', type: 'data', schema: {} }],
      exportExecutions: [go(`exports: {out: ${template_}}`)],
    });
  const exporting = (template_: string) =>
    stack({ blueprint: blueprint(template_), exports: { data: [{ name: 'out', dataRef: 'result' }] } });
  const exported = async (template_: string, ...objects: Obj[]) => {
    const { get } = facts({ self: exporting(template_), objects });
    const [upsert] = await get('exportUpserts');
    return upsert;
  };
  it('are computed from the exports of its deploy items', async () => {
    const name = objectName(executionContext('stack'), '');
    const upsert = await exported('{{ .values.deployitems.i.x }}', dataObject(name, {}, { i: { x: 7 } }));
    expect(upsert?.wanted).to.have.property('data', 7);
  });
  it('are computed from data in its own scope, except stale ones', async () => {
    const inScope = (name: string, key: string, job: string, data: unknown) =>
      dataObject(name, ofStack('import', job, { [labels.dataKey]: key }), data);
    const upsert = await exported(
      '{{ toJson .values.dataobjects }}',
      inScope('a', 'new', JOB, 1),
      inScope('b', 'stale', 'j1', 2),
    );
    expect(upsert?.wanted).to.have.deep.property('data', { new: 1 });
  });
  it('are computed from targets in its own scope, except stale ones', async () => {
    const inScope = (name: string, key: string, job: string) =>
      target(name, ofStack('import', job, { [labels.dataKey]: key }));
    const upsert = await exported(
      '{{ toJson (keys .values.targets) }}',
      inScope('a', 'new', JOB),
      inScope('b', 'stale', 'j1'),
    );
    expect(upsert?.wanted).to.have.deep.property('data', ['new']);
  });
  it('are compared with existing objects of their name', async () => {
    const existing = dataObject('result');
    expect((await exported('1', existing))?.existing).to.equal(existing);
    expect((await exported('1'))?.existing).to.equal(undefined);
  });
  it('have their state in secrets of the installation', async () => {
    const self = stack({
      blueprint: inline({
        exports: [{ name: 'out', type: 'data', schema: {} }],
        exportExecutions: [go('{state: {n: 2}, exports: {out: {{ .state.count }}}}')],
      }),
      exports: { data: [{ name: 'out', dataRef: 'result' }] },
    });
    const name = stateSecretName('stack', 'export', 'e');
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'demo' },
      data: { config: Buffer.from('count: 5').toString('base64') },
    };
    const { get } = facts({ self, stored: [secret] });
    const [upsert] = await get('exportStateUpserts');
    expect(upsert?.update).to.deep.include({ secretName: name });
    expect(upsert?.existing?.metadata.name).to.equal(name);
    expect((await get('exportUpserts'))[0]?.wanted).to.have.property('data', 5);
  });
});
