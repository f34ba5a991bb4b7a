/** What an installation writes: sub-installations, its execution, data objects, targets and states. */
import { expect } from 'chai';
import { ensureChildren } from '../../../../controllers/installation/children.ts';
import { ensureExecution, itemsToStore } from '../../../../controllers/installation/execution.ts';
import { checkImports } from '../../../../controllers/installation/import-conflicts.ts';
import { deleteAll, fence, handDown } from '../../../../controllers/installation/job.ts';
import { asExport, asImport, cannotWrite, upsert } from '../../../../controllers/installation/objects.ts';
import { storeState } from '../../../../controllers/installation/state-effects.ts';
import type { Snapshot } from '../../../../controllers/installation/snapshot.ts';
import type { WantedChild } from '../../../../src/dataflow/render-installation.ts';
import { readDeployItems, type Execution } from '../../../../src/api/kinds/execution.ts';
import { FINALIZER, annotations, labels } from '../../../../src/api/labels.ts';
import { defaultLimits } from '../../../../src/api/limits.ts';
import { installationContext, objectName } from '../../../../src/dataflow/scope.ts';
import { PhaseError, type Effect } from '../../../../src/machine/decision.ts';
import { effectsOf } from '../../../support/ask.ts';
import {
  NOW,
  child,
  deleting,
  done,
  execution,
  installation,
  running,
  template,
} from '../../../support/given.ts';
import { JOB, dataObject, decide, nothing, ownExecution, self, target, wanted } from './given.ts';

/** Verb, kind and content of each effect. */
const contents = (effects: readonly Effect[]) =>
  effects.map((effect) => [
    `${effect.do} ${effect.kind.kind}`,
    effect.do === 'patch'
      ? effect.body
      : effect.do === 'create'
        ? effect.object
        : effect.target.metadata.name,
  ]);

describe('the children of an installation', () => {
  const template_ = annotations.subinstallationName;
  const withMeta = (meta: object): WantedChild => {
    const { name, object } = wanted('a');
    return { name, object: { ...object, metadata: { ...object.metadata, ...meta } } };
  };
  const ensured = (children: Snapshot['children'], ...list: WantedChild[]) =>
    ensureChildren({ self, children, freshName: (prefix) => `${prefix}new` }, list);
  const existing = (meta: object = {}, spec: object = {}) => {
    const one = child('stack', 'a', done('j1'));
    return {
      ...one,
      metadata: { ...one.metadata, ...meta },
      spec: { ...one.spec, ...spec },
    };
  };
  const tagged = { [template_]: 'a', team: 'x' };

  it('are created as the blueprint describes them, with a fresh name', () => {
    const { object } = wanted('a');
    expect(contents(ensured([], wanted('a')).effects)).to.deep.equal([
      ['create Installation', { ...object, metadata: { ...object.metadata, name: 'a-new' } }],
    ]);
  });
  it('get the spec of the blueprint', () => {
    const effects = ensured([existing({}, { context: 'other' })], wanted('a')).effects;
    expect(contents(effects)).to.deep.equal([['patch Installation', { spec: { context: 'default' } }]]);
  });
  it('get the labels and annotations that they lack, and nothing else', () => {
    const effects = ensured(
      [existing({ labels: { x: '1', y: '2' }, annotations: tagged })],
      withMeta({ labels: { x: '1', y: '3' }, annotations: { [template_]: 'a', z: '4' } }),
    ).effects;
    expect(contents(effects)).to.deep.equal([
      ['patch Installation', { metadata: { labels: { y: '3' }, annotations: { z: '4' } } }],
    ]);
  });
  it('get only labels, or only annotations', () => {
    const only = (meta: object) => contents(ensured([existing()], withMeta(meta)).effects)[0]?.[1];
    expect(only({ labels: { y: '3' } })).to.deep.equal({ metadata: { labels: { y: '3' } } });
    expect(only({ annotations: { z: '4' } })).to.deep.equal({ metadata: { annotations: { z: '4' } } });
  });
  it('lose the flag that charts are cached with their parent, and keep it with it', () => {
    const key = annotations.cacheHelmCharts;
    const cached = existing({ annotations: { ...tagged, [key]: 'true' } });
    expect(contents(ensured([cached], wanted('a')).effects)).to.deep.equal([
      ['patch Installation', { metadata: { annotations: { [key]: null } } }],
    ]);
    const kept = withMeta({ annotations: { [key]: 'true' } });
    expect(ensured([cached], kept).effects).to.deep.equal([]);
  });
  it('are left alone if they are up to date', () => {
    const { condition, ...rest } = ensured([existing()], wanted('a'));
    expect(rest).to.deep.equal({
      effects: [],
      cache: { activeSubs: [{ specName: 'a', objectName: 'a-x' }], orphanedSubs: null },
    });
    expect(condition.status).to.equal('True');
  });
  it('without annotations are orphans, whatever the blueprint says', () => {
    const { annotations: _, ...metadata } = existing().metadata;
    const effects = ensured([{ ...existing(), metadata }], wanted('a')).effects;
    expect(effectsOf({ effects })).to.deep.equal(['patch a-x', 'delete a-x', 'create a-new']);
  });
  it('are found also by a parent without a status', () => {
    const { status: _, ...bare } = self;
    const { living } = {
      living: ensureChildren({ self: bare, children: [existing()], freshName: String }, [wanted('a')]),
    };
    expect(living.effects).to.deep.equal([]);
  });
  it('that are orphans are annotated to ignore their successors, and deleted', () => {
    expect(contents(ensured([existing()]).effects)).to.deep.equal([
      ['patch Installation', { metadata: { annotations: { [annotations.deleteIgnoreSuccessors]: 'true' } } }],
      ['delete Installation', 'a-x'],
    ]);
  });
});

describe('the execution of an installation', () => {
  const items = [template('a')];
  const key = annotations.cacheHelmCharts;
  const ensured = async (given: Snapshot['self'], existing: Snapshot['execution'], list = items) => {
    const wanted = await itemsToStore({ execution: existing, limits: defaultLimits }, list);
    return ensureExecution({ self: given, execution: existing, itemsToStore: wanted }, list);
  };
  const stored = (meta: object = {}, context = 'default') => {
    const one = execution('stack', {
      items,
      meta: { annotations: { [annotations.operation]: 'x' }, ...meta },
    });
    return { ...one, spec: { ...one.spec, context } };
  };
  const caching = installation('stack', { meta: { annotations: { [key]: 'true' } } });
  const deployed = {
    type: 'ReconcileExecution',
    status: 'True',
    reason: 'ExecutionDeployed',
    message: 'Deployed execution item',
  };

  it('is created with all fields that upstream sets', async () => {
    const { effects, conditions } = await ensured(caching, undefined);
    const [effect] = effects;
    if (effect?.do !== 'create') throw new Error(effect?.do);
    const { spec, ...rest } = effect.object as unknown as { spec: object };
    expect(rest).to.deep.equal({
      apiVersion: self.apiVersion,
      kind: 'Execution',
      metadata: {
        name: 'stack',
        namespace: 'demo',
        annotations: { [annotations.operation]: 'reconcile', [key]: 'true' },
        finalizers: [FINALIZER],
        ownerReferences: [
          {
            apiVersion: self.apiVersion,
            kind: 'Installation',
            name: 'stack',
            uid: 'uid-stack',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
    });
    expect(spec).to.include({ context: 'default' });
    expect(conditions).to.deep.equal([deployed]);
  });
  it('does not cache charts unless the installation does', async () => {
    for (const given of [self, installation('stack', { meta: { annotations: { x: 'y' } } })]) {
      expect((await ensured(given, undefined)).effects[0]).to.have.deep.nested.property(
        'object.metadata.annotations',
        {
          [annotations.operation]: 'reconcile',
        },
      );
    }
  });
  it('has the context of the installation, or the default one', async () => {
    const { context: _, ...spec } = self.spec;
    const at = 'object.spec.context';
    expect((await ensured({ ...self, spec }, undefined)).effects[0]).to.have.nested.property(at, 'default');
    const special = installation('stack', { spec: { context: 'special' } });
    expect((await ensured(special, undefined)).effects[0]).to.have.nested.property(at, 'special');
    expect((await ensured({ ...self, spec }, stored())).effects).to.deep.equal([]);
  });
  it('gets a new context without writing its items', async () => {
    const { effects } = await ensured(installation('stack', { spec: { context: 'special' } }), stored());
    expect(contents(effects)).to.deep.equal([
      ['patch Execution', { metadata: { annotations: {} }, spec: { context: 'special' } }],
    ]);
  });
  it('gets the annotations that it lacks, and keeps those it has', async () => {
    expect(contents((await ensured(caching, stored())).effects)).to.deep.equal([
      ['patch Execution', { metadata: { annotations: { [key]: 'true' } }, spec: { context: 'default' } }],
    ]);
    expect(contents((await ensured(self, stored({ annotations: undefined }))).effects)).to.deep.equal([
      [
        'patch Execution',
        { metadata: { annotations: { [annotations.operation]: 'reconcile' } }, spec: { context: 'default' } },
      ],
    ]);
  });
  it('gets other items that replace all of its own', async () => {
    const [effect] = (await ensured(self, stored(), [template('b')])).effects;
    const { spec } = (effect as unknown as { readonly body: Pick<Execution, 'spec'> }).body;
    const { deployItems, deployItemsCompressed } = spec;
    expect(readDeployItems(spec)).to.deep.equal([template('b')]);
    expect([deployItems, deployItemsCompressed]).to.include(null);
  });
  it('is emptied if there are no items any more', async () => {
    const { effects, status } = await ensured(self, stored(), []);
    expect(effectsOf({ effects })).to.deep.equal(['patch stack']);
    expect(status).to.deep.equal({ executionRef: { name: 'stack', namespace: 'demo' } });
  });
  it('is not created if there are no items', async () => {
    expect(await ensured(self, undefined, [])).to.deep.equal({
      effects: [],
      conditions: [],
      status: { executionRef: null },
    });
  });

  describe('that does not exist', () => {
    const times = { lastTransitionTime: NOW, lastUpdateTime: NOW };
    const condition = (type: string, status: string) => ({
      type,
      status,
      reason: 'r',
      message: 'm',
      ...times,
    });
    const healed = async (...conditions: ReturnType<typeof condition>[]) =>
      (await ensured(installation('stack', { status: { conditions: conditions } }), undefined, []))
        .conditions;
    const complaint = condition('ReconcileExecution', 'False');

    it('clears the error of an earlier job, among others', async () => {
      const expected = [{ ...deployed, message: 'There is nothing to deploy' }];
      expect(await healed(condition('CreateExports', 'False'), complaint)).to.deep.equal(expected);
    });
    it('clears nothing else', async () => {
      expect(await healed(condition('ReconcileExecution', 'True'))).to.deep.equal([]);
      expect(await healed(condition('CreateExports', 'False'))).to.deep.equal([]);
      const { status: _, ...bare } = self;
      expect((await ensured(bare, undefined, [])).conditions).to.deep.equal([]);
      expect((await ensured(installation('stack', { status: {} }), undefined, [])).conditions).to.deep.equal(
        [],
      );
    });
  });
});

describe('a job that is handed down', () => {
  const both = [child('stack', 'a', done('j1')), ownExecution(done('j1'))];
  it('is written to each object by its own kind', () => {
    const effects = handDown({ self, now: NOW }, both);
    expect(effects.map((e) => e.kind.kind)).to.deep.equal(['Installation', 'Execution']);
    expect(effects[0]).to.have.nested.property('body.status.jobID', JOB);
  });
  it('is none if the parent never had one', () => {
    const { status: _, ...bare } = self;
    expect(handDown({ self: bare, now: NOW }, [child('stack', 'a', {})])).to.deep.equal([]);
    expect(fence(bare, [child('stack', 'a', {}, deleting)])).to.deep.equal([]);
  });
});

describe('a deletion that is passed down', () => {
  const parent = (meta: object = {}) => ({ self: installation('stack', { meta }), now: NOW });
  const key = annotations.deleteWithoutUninstall;
  const told = parent({ annotations: { [key]: 'true' } });
  it('deletes each object by its own kind', () => {
    expect(contents(deleteAll(parent(), [child('stack', 'a'), execution('stack')]))).to.deep.equal([
      ['delete Installation', 'a-x'],
      ['delete Execution', 'stack'],
    ]);
  });
  it('passes on the annotation not to uninstall, to objects that do not have it', () => {
    const has = child('stack', 'b', {}, { annotations: { [key]: 'true' } });
    expect(contents(deleteAll(told, [execution('stack'), has]))).to.deep.equal([
      ['patch Execution', { metadata: { annotations: { [key]: 'true' } } }],
      ['delete Execution', 'stack'],
      ['delete Installation', 'b-x'],
    ]);
  });
});

describe('an import or export', () => {
  const placed = { labels: { [labels.dataKey]: 'greeting' } };
  it('is created if it does not exist, by its own kind', () => {
    const effects = [dataObject('x'), target('y')].flatMap((one) =>
      upsert({ wanted: one, existing: undefined }, asImport),
    );
    expect(effects.map((e) => `${e.do} ${e.kind.kind}`)).to.deep.equal([
      'create DataObject',
      'create Target',
    ]);
  });
  it('is updated if it differs, and left alone if it does not', () => {
    const [effect] = upsert({ wanted: dataObject('x', {}, 2), existing: dataObject('x', {}, 1) }, asExport);
    expect(effect).to.have.deep.nested.property('body.data', 2);
    expect(effect).to.have.deep.property('ifRefused', cannotWrite(dataObject('x'), asExport));
    const same = dataObject('x', { labels: {}, annotations: {}, ownerReferences: [] });
    expect(upsert({ wanted: same, existing: same }, asExport)).to.deep.equal([]);
  });

  const rows = [
    [
      'an import',
      dataObject('hash', placed),
      asImport,
      {
        operation: 'handlePhaseInit',
        reason: 'CreateImportsAndSubobjects',
        message: 'unable to create or update data object hash for import greeting',
        condition: {
          type: 'CreateImports',
          status: 'False',
          reason: 'CreateDataObjects',
          message: 'unable to create data object for import greeting',
        },
      },
    ],
    [
      'an exported target',
      target('hash', placed),
      asExport,
      {
        operation: 'handlePhaseCompleting',
        reason: 'CreateOrUpdateExports',
        message: 'unable to create or update target hash for export greeting',
        condition: {
          type: 'CreateExports',
          status: 'False',
          reason: 'CreateTargets',
          message: 'unable to create target for export greeting',
        },
      },
    ],
    [
      'an export without a value',
      dataObject('hash', placed, null),
      asExport,
      {
        operation: 'handlePhaseCompleting',
        reason: 'CreateOrUpdateExports',
        message:
          'unable to create or update data object hash for export greeting: export "greeting" has the value null, which cannot be stored',
        condition: {
          type: 'CreateExports',
          status: 'False',
          reason: 'CreateDataObjects',
          message: 'unable to create data object for export greeting',
        },
      },
    ],
  ] as const;
  for (const [title, object, purpose, refusal] of rows) {
    it(`is reported if it cannot be written: ${title}`, () => {
      expect(cannotWrite(object, purpose)).to.deep.equal(refusal);
    });
  }
  it('is also reported if it is a target that contains data by mistake, or has no key', () => {
    const odd = { ...target('hash'), data: null };
    expect(cannotWrite(odd, asExport).message).to.equal('unable to create or update target hash for export ');
    const { data: _, ...empty } = dataObject('hash');
    expect(cannotWrite(empty as never, asImport).message).to.equal(
      'unable to create or update data object hash for import ',
    );
  });
  it('is reported in Init if a write is rejected', () => {
    const importUpserts = [{ wanted: dataObject('x', placed), existing: undefined }];
    const [effect] = decide('Init', { importUpserts }).effects;
    expect(effect?.ifRefused?.message).to.contain('data object x for import greeting');
  });
});

describe('the state of executions', () => {
  const update = { secretName: 'hash', state: { n: 1 } } as const;
  const refusal = {
    operation: 'handlePhaseInit',
    reason: 'CreateImportsAndSubobjects',
    message: 'unable to store the state of executions in secret hash',
    condition: {
      type: 'CreateImports',
      status: 'False',
      reason: 'CreateDataObjects',
      message: 'unable to store the state of executions in secret hash',
    },
  };
  it('is reported if it cannot be stored', () => {
    const [effect] = storeState(self, { update, existing: undefined }, asImport);
    expect(effect).to.deep.include({ do: 'create', ifRefused: refusal });
  });
  it('changes its own entry of an existing secret', () => {
    const existing = {
      apiVersion: 'v1',
      kind: 'Secret' as const,
      metadata: { name: 'hash', namespace: 'demo' },
      data: { config: 'x', other: 'y' },
    };
    const [effect] = storeState(self, { update, existing }, asImport);
    expect(effect).to.deep.include({ do: 'patch', ifRefused: refusal });
    expect(effect).to.have.nested.property('body.data').that.has.all.keys('config');
  });
});

describe('the copy of an import over an existing object', () => {
  const name = objectName(installationContext('stack'), 'out');
  const ownedBy = (owner: string) => ({
    labels: {
      [labels.dataSource]: installationContext(owner),
      [labels.dataSourceType]: 'export',
      [labels.dataContext]: installationContext('stack'),
      [labels.dataKey]: 'out',
    },
  });
  const exporting = { exports: { data: [{ name: 'out', dataRef: 'out' }] } };
  const exportingTarget = { exports: { targets: [{ name: 'out', target: 'out' }] } };
  const exporter = (spec: object = exporting, meta: object = {}) => {
    const one = child('stack', 'a', done('j1'), { ...child('stack', 'a').metadata, ...meta });
    return { ...one, spec: { ...one.spec, ...spec } };
  };
  const wantedChild = (spec: object = exporting) => {
    const { name: template_, object } = wanted('a');
    return { name: template_, object: { ...object, spec: { ...object.spec, ...spec } } as typeof object };
  };
  const broken = new PhaseError('handlePhaseInit', 'CreateImportsAndSubobjects', 'line 1');
  const checked = (
    children: Snapshot['rendered']['children'],
    existing: Snapshot['children'],
    make: typeof dataObject | typeof target = dataObject,
  ) =>
    checkImports({
      self,
      children: existing,
      rendered: { ...nothing, children },
      importUpserts: [
        { wanted: make('free'), existing: undefined },
        {
          wanted: make(name, { labels: { [labels.dataKey]: 'in' } }),
          existing: make(name, ownedBy('a-x')),
        },
        { wanted: make(name), existing: make(name, ownedBy('a-x')) },
      ],
    });
  const rows: readonly (readonly [string, () => ReturnType<typeof checked>, written: number])[] = [
    ['is not written while a child exports it', () => checked([wantedChild()], [exporter()]), 1],
    [
      'is written if the child does not export it any more',
      () => checked([wantedChild({})], [exporter()]),
      3,
    ],
    ['is written if no child is wanted any more', () => checked([], [exporter()]), 3],
    [
      'is written if the child is recreated',
      () => checked([wantedChild()], [exporter(exporting, deleting)]),
      3,
    ],
    [
      'is not written while children that cannot be rendered export it',
      () => checked(broken, [exporter()]),
      1,
    ],
    [
      'is written if such a child is being deleted',
      () => checked(broken, [exporter(exporting, deleting)]),
      3,
    ],
    ['is written if such a child exports nothing', () => checked(broken, [exporter({})]), 3],
    ['distinguishes targets from data', () => checked([wantedChild(exportingTarget)], [exporter()]), 3],
    [
      'considers exported targets',
      () => checked([wantedChild(exportingTarget)], [exporter(exportingTarget)], target),
      1,
    ],
  ];
  for (const [title, check, written] of rows) {
    // Inside of the test, because code that runs on import makes `make mutate` slow.
    it(title, () => {
      const { upserts, ...rest } = check();
      expect(upserts).to.have.length(written);
      if (written === 3) expect(rest).to.deep.equal({});
      else {
        expect(rest.refusal).to.deep.include({
          codes: ['ERR_CONFIGURATION_PROBLEM'],
          operation: 'handlePhaseInit',
        });
        expect(rest.refusal?.message).to.contain('for import in: ').and.contain('a-x');
      }
    });
  }

  it('ends the job, with the objects that may be written, before anything is created', () => {
    const decision = decide('Init', {
      children: [exporter()],
      rendered: { ...nothing, children: [wantedChild()], items: [template('i')] },
      importUpserts: [
        { wanted: dataObject('free'), existing: undefined },
        { wanted: dataObject(name), existing: dataObject(name, ownedBy('a-x')) },
      ],
      blueprintWarnings: { all: ['mistake'], unknownFields: [] },
    });
    if (decision.do !== 'fail') throw new Error(decision.do);
    expect(effectsOf(decision)).to.deep.equal(['create free']);
    expect(decision.problem.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(decision.problem).to.not.have.property('condition');
    expect(decision.status.conditions?.map(({ type }) => type)).to.deep.equal([
      'ValidateBlueprint',
      'CreateImports',
    ]);
  });
  it('also reports children that cannot be rendered: it is often the same mistake', () => {
    const condition = { type: 'CreateExports', status: 'False', reason: 'r', message: 'm' } as const;
    const children = new PhaseError('o', 'r', 'line 1', [], { conditions: [condition] });
    const decision = decide('Init', {
      children: [exporter()],
      rendered: { ...nothing, children },
      importUpserts: [
        { wanted: dataObject('free'), existing: undefined },
        { wanted: dataObject(name), existing: dataObject(name, ownedBy('a-x')) },
      ],
      blueprintWarnings: { all: ['mistake'], unknownFields: [] },
    });
    if (decision.do !== 'fail') throw new Error(decision.do);
    expect(effectsOf(decision)).to.deep.equal(['create free']);
    expect(decision.problem).to.include({
      operation: 'handlePhaseInit',
      reason: 'CreateImportsAndSubobjects',
    });
    expect(decision.problem.message).to.match(/; line 1$/);
    expect(decision.status.conditions?.map(({ type }) => type)).to.deep.equal([
      'ValidateBlueprint',
      'CreateImports',
      'CreateExports',
    ]);
  });
});

describe('an execution besides imports and children', () => {
  it('is created after them, in the same reconcile', () => {
    const decision = decide('Init', {
      self: installation('stack', { status: running(JOB, 'Init') }),
      rendered: { ...nothing, children: [wanted('a')], items: [template('i')] },
      importUpserts: [{ wanted: dataObject('x'), existing: undefined }],
    });
    expect(effectsOf(decision)).to.deep.equal(['create x', 'create a-sfx', 'create stack']);
  });
});
