/** The writes of an execution to its deploy items. */
import { expect } from 'chai';
import {
  createItem,
  handDownJob,
  interruptItem,
  markWithoutUninstall,
  updateItem,
} from '../../../controllers/execution/items.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate } from '../../../src/api/kinds/execution.ts';
import { API_VERSION, FINALIZER, NO_TARGET_NAME, annotations, labels } from '../../../src/api/labels.ts';
import { removeFinalizer, type Effect } from '../../../src/machine/decision.ts';
import { NOW, done, execution, item, running, template } from '../../support/given.ts';

const JOB = 'j2';
const self = execution('plan', { status: running(JOB) });
const author = { self, now: NOW, clusterNames: new Map<string, string>() };
const bodyOf = (effect: Effect | undefined): unknown => (effect?.do === 'patch' ? effect.body : effect);

describe('a deploy item that an execution creates', () => {
  const created = (of: Partial<DeployItemTemplate> = {}, by = author): unknown => {
    const effect = createItem(by, template('a', of), (prefix) => `${prefix}sfx`);
    return effect.do === 'create' ? effect.object : effect;
  };
  const NOTES = {
    [annotations.dependsOn]: '',
    [annotations.deployerType]: 'test.example/fake',
    [annotations.deployerTargetName]: NO_TARGET_NAME,
    [annotations.reconcileTime]: NOW,
  };

  it('is deleted with the execution, and not without being uninstalled', () => {
    expect(created()).to.deep.equal({
      apiVersion: API_VERSION,
      kind: 'DeployItem',
      metadata: {
        name: 'plan-a-sfx',
        generateName: 'plan-a-',
        namespace: 'demo',
        labels: { [labels.executionManagedBy]: 'plan', [labels.executionName]: 'a' },
        annotations: NOTES,
        finalizers: [FINALIZER],
        ownerReferences: [
          {
            apiVersion: API_VERSION,
            kind: 'Execution',
            name: 'plan',
            uid: 'uid-plan',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        type: 'test.example/fake',
        config: { apiVersion: 'test.example/v1', kind: 'Cfg' },
        context: 'default',
      },
    });
  });

  it('has the fields of its template, whose name, labels and dependencies are in its metadata', () => {
    const target = { name: 'prod', namespace: 'demo' };
    const of = { target, timeout: '1m0s', labels: { tier: 'web', app: 'x' }, dependsOn: ['b', 'c'] };
    const by = { ...author, clusterNames: new Map([['a', 's1']]) };
    const object = created(of, by) as DeployItem;
    expect(object.spec).to.deep.include({ target, timeout: '1m0s' });
    expect(object.spec).not.to.have.any.keys('name', 'labels', 'dependsOn');
    expect(object.metadata.labels).to.include({ tier: 'web', app: 'x', [labels.executionName]: 'a' });
    expect(object.metadata.annotations).to.deep.equal({
      ...NOTES,
      [annotations.dependsOn]: 'b,c',
      [annotations.deployerTargetName]: 'prod',
      [annotations.clusterName]: 's1',
      [annotations.templateLabels]: 'app,tier',
    });
  });

  it('does not become another’s by labels of its template', () => {
    const object = created({ labels: { [labels.executionManagedBy]: 'other' } }) as DeployItem;
    expect(object.metadata.labels).to.include({ [labels.executionManagedBy]: 'plan' });
  });

  const contexts: readonly [string, string | undefined, string][] = [
    ['that of the execution', 'own', 'own'],
    ['default when the execution names none', undefined, 'default'],
  ];
  for (const [title, context, expected] of contexts) {
    it(`has the context ${title}`, () => {
      const by = { ...author, self: { ...self, spec: context === undefined ? {} : { context } } };
      expect(created({}, by)).to.have.nested.property('spec.context', expected);
    });
  }
});

describe('a deploy item that an execution updates from its template', () => {
  const effect = createItem(author, template('a'), (prefix) => `${prefix}sfx`);
  const there = { ...item('plan', 'a'), ...(effect.do === 'create' ? effect.object : {}) };
  const withMeta = (meta: Partial<DeployItem['metadata']>): DeployItem => ({
    ...there,
    metadata: { ...there.metadata, ...meta },
  });
  const updated = (object: DeployItem, of: Partial<DeployItemTemplate> = {}): unknown =>
    bodyOf(updateItem({ ...author, now: '2026-01-02T00:00:00Z' }, template('a', of), object));
  const TIME = { [annotations.reconcileTime]: '2026-01-02T00:00:00Z' };

  it('is not written if nothing has changed', () => {
    expect(updated(there)).to.equal(undefined);
    const marked = { ...there.metadata.labels, own: 'user' };
    expect(updated(withMeta({ labels: marked }))).to.equal(undefined);
  });

  it('gets the changes, and the time', () => {
    expect(updated(there, { timeout: '1m0s' })).to.deep.equal({
      spec: { timeout: '1m0s' },
      metadata: { annotations: TIME },
    });
    expect(updated(there, { dependsOn: ['b'] })).to.deep.equal({
      metadata: { annotations: { [annotations.dependsOn]: 'b', ...TIME } },
    });
    expect(updated(withMeta({ labels: {} }))).to.deep.equal({
      metadata: {
        labels: { [labels.executionManagedBy]: 'plan', [labels.executionName]: 'a' },
        annotations: TIME,
      },
    });
  });

  it('gets its labels and annotations again if a user has removed them', () => {
    const { labels: _l, annotations: _a, ...metadata } = there.metadata;
    const body = updated({ ...there, metadata }, { labels: { tier: 'web' } }) as DeployItem;
    expect(body.metadata.labels).to.include({ tier: 'web', [labels.executionName]: 'a' });
    expect(body.metadata.annotations).to.include({
      [annotations.templateLabels]: 'tier',
      [annotations.deployerType]: 'test.example/fake',
    });
  });

  it('keeps labels that its template no longer has', () => {
    const gone = withMeta({
      annotations: { ...there.metadata.annotations, [annotations.templateLabels]: 'tier' },
    });
    expect(updated(gone)).to.equal(undefined);
  });

  it('keeps its recorded cluster if that can no longer be determined', () => {
    const known = withMeta({
      annotations: { ...there.metadata.annotations, [annotations.clusterName]: 's1' },
    });
    expect(updated(known)).to.equal(undefined);
  });
});

describe('the other writes of an execution to a deploy item', () => {
  const unseen = (): DeployItem => {
    const { status: _, ...rest } = item('plan', 'a');
    return rest;
  };

  it('hand it the job: its times are reset, and the observed generation stays', () => {
    const status = {
      jobID: JOB,
      jobIDGenerationTime: NOW,
      transitionTimes: { triggerTime: NOW, initTime: null, waitTime: null, finishedTime: null },
      observedGeneration: 7,
    };
    const given = handDownJob(
      { self, now: NOW },
      item('plan', 'a', { ...done('j1'), observedGeneration: 7 }),
    );
    expect(given).to.include({ sub: 'status' });
    expect(bodyOf(given)).to.deep.equal({ status });
    expect(bodyOf(handDownJob({ self, now: NOW }, unseen()))).to.have.nested.property(
      'status.observedGeneration',
      0,
    );
  });

  it('end its job if it is interrupted', () => {
    const ended = interruptItem(
      { self, now: NOW },
      item('plan', 'a', { ...running(JOB), observedGeneration: 7 }),
    );
    expect(bodyOf(ended))
      .to.have.property('status')
      .that.includes({ phase: 'Failed', jobID: JOB, jobIDFinished: JOB, observedGeneration: 7 });
    const never = bodyOf(interruptItem({ self, now: NOW }, unseen()));
    expect(never).to.have.nested.property('status.observedGeneration', 0);
  });

  it('remove our finalizer, and no other', () => {
    const kept = item('plan', 'a', {}, { finalizers: ['x.org/keep', FINALIZER] });
    expect(bodyOf(removeFinalizer(deployItemKind, kept))).to.deep.equal({
      metadata: { finalizers: ['x.org/keep'] },
    });
    const { finalizers: _, ...metadata } = kept.metadata;
    expect(bodyOf(removeFinalizer(deployItemKind, { ...kept, metadata }))).to.deep.equal({
      metadata: { finalizers: [] },
    });
  });

  it('mark it to be forgotten', () => {
    expect(bodyOf(markWithoutUninstall(item('plan', 'a')))).to.deep.equal({
      metadata: { annotations: { [annotations.deleteWithoutUninstall]: 'true' } },
    });
  });
});
