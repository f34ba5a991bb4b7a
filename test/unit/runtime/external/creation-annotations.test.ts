/** How external resources are annotated, and how that is read: annotations, results of creations, policies, conditions. */
import { expect } from 'chai';
import type { Obj, View } from '../../../../src/runtime/types.ts';
import {
  annotationOf,
  pollIntervalError,
  pollIntervalMs,
} from '../../../../src/runtime/external/annotations.ts';
import { Conditions, isActive, type StepEvent } from '../../../../src/runtime/external/conditions.ts';
import {
  failedAnnotations,
  graceLeftMs,
  interruptedMessage,
  isInterrupted,
  pendingAnnotations,
  succeededAnnotations,
} from '../../../../src/runtime/external/creation.ts';
import { filledIn } from '../../../../src/runtime/external/late-initialization.ts';
import { assigned, byObjectName, byUid, shortened } from '../../../../src/runtime/external/names.ts';
import {
  deletesResource,
  needsFinalizer,
  readPolicies,
  steps,
} from '../../../../src/runtime/external/policies.ts';

const NAME = (name: string) => `external.espalier.dev/${name}`;
const object = (annotations?: Record<string, string>, more: object = {}): View<Obj> => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name: 'x', ...(annotations && { annotations }) },
  ...more,
});
const NOW = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number): string => new Date(NOW + ms).toISOString();

describe('the poll interval of an external resource', () => {
  for (const [text, expected] of [
    [undefined, 60_000],
    ['90s', 90_000],
    ['10s', 10_000],
    ['1s', 10_000],
    ['often', 60_000],
  ] as const) {
    it(`is ${String(expected)} ms if the object says ${text ?? 'nothing'}`, () => {
      const annotations = text === undefined ? undefined : { [NAME('poll-interval')]: text };
      expect(pollIntervalMs(object(annotations), 60_000, 10_000)).to.equal(expected);
      const complaint = pollIntervalError(object(annotations));
      if (text === 'often') expect(complaint).to.include('external.espalier.dev/poll-interval is "often"');
      else expect(complaint).to.equal(undefined);
    });
  }
});

describe('the annotations of a creation', () => {
  it('replace those of an earlier one', () => {
    expect(pendingAnnotations(NOW, 'n')).to.deep.equal({
      [NAME('create-pending')]: at(0),
      [NAME('create-succeeded')]: null,
      [NAME('create-failed')]: null,
      [NAME('name')]: 'n',
    });
    expect(pendingAnnotations(NOW, undefined)).not.to.have.property(NAME('name'));
  });
  it('show how it ended', () => {
    expect(succeededAnnotations(NOW, 'n')).to.deep.equal({
      [NAME('create-succeeded')]: at(0),
      [NAME('name')]: 'n',
    });
    expect(succeededAnnotations(NOW, undefined)).to.deep.equal({ [NAME('create-succeeded')]: at(0) });
    expect(failedAnnotations(NOW)).to.deep.equal({ [NAME('create-failed')]: at(0) });
  });
  for (const [title, annotations, expected] of [
    ['that is invalid is older than any end', { 'create-pending': 'x', 'create-failed': at(0) }, false],
    ['that is invalid is a creation all the same', { 'create-pending': 'x' }, true],
    ['is not ended by an invalid mark', { 'create-pending': at(0), 'create-failed': 'x' }, true],
  ] as const) {
    it(`of a start ${title}`, () => {
      const named = Object.fromEntries(Object.entries(annotations).map(([name, text]) => [NAME(name), text]));
      expect(isInterrupted(object(named))).to.equal(expected);
    });
  }
  it('tell the user what to do', () => {
    const message = interruptedMessage(object({ [NAME('create-pending')]: at(0) }));
    expect(message).to.include(`the creation begun at ${at(0)} was interrupted`);
    expect(message)
      .to.include(`annotation ${NAME('name')}`)
      .and.include(`remove the annotation ${NAME('create-pending')}`);
    expect(annotationOf(object({ [NAME('paused')]: 'true' }), 'paused')).to.equal('true');
  });
});

describe('the time for which a created resource may be invisible', () => {
  for (const [title, succeeded, expected] of [
    ['is over without a creation', undefined, 0],
    ['starts with the creation', at(0), 30_000],
    ['gets shorter', at(-10_000), 20_000],
    ['is over after 30 s', at(-30_000), 0],
    ['stays over', at(-90_000), 0],
    ['is over if the creation is in the future', at(1), 0],
  ] as const) {
    it(title, () => {
      const annotations = succeeded === undefined ? undefined : { [NAME('create-succeeded')]: succeeded };
      expect(graceLeftMs(object(annotations), NOW)).to.equal(expected);
    });
  }
});

describe('a naming strategy', () => {
  for (const [title, strategy, isDeterministic] of [
    ['by uid', byUid('x'), true],
    ['by name', byObjectName, true],
    ['of the service', assigned, false],
    ['by uid that shortens', shortened(byUid('x'), 20), true],
    ['of the service, shortened', shortened(assigned, 20), false],
  ] as const) {
    it(`${title} ${isDeterministic ? 'returns the same name again' : 'has no name beforehand'}`, () => {
      expect(strategy.isDeterministic).to.equal(isDeterministic);
      if (!isDeterministic) expect(strategy.nameOf(object())).to.equal(undefined);
    });
  }
  it('that shortens leaves names of the maximum length alone', () => {
    const of = (length: number) =>
      shortened(byObjectName, 20).nameOf({ ...object(), metadata: { name: 'n'.repeat(length) } });
    expect(of(20)).to.equal('n'.repeat(20));
    expect(of(21)).to.match(/^n{9}-[a-z2-7]{10}$/);
  });
});

describe('the policies of an object', () => {
  const read = (spec: object | undefined) => readPolicies(object(undefined, spec && { spec }));
  const all = new Set(steps);
  for (const [title, spec, allowed, reclaim] of [
    ['allow everything without a spec', undefined, all, 'Delete'],
    ['allow everything by default', {}, all, 'Delete'],
    ['allow everything by a star among others', { managementPolicies: ['Create', '*'] }, all, 'Delete'],
    ['allow nothing by an empty list', { managementPolicies: [] }, new Set(), 'Delete'],
    [
      'allow what they name',
      { managementPolicies: ['Observe', 'Update'] },
      new Set(['Observe', 'Update']),
      'Delete',
    ],
    ['may leave the resource in place', { reclaimPolicy: 'Retain' }, all, 'Retain'],
  ] as const) {
    it(title, () => {
      expect(read(spec)).to.deep.equal({ ok: true, policies: { allowed, reclaim } });
    });
  }
  for (const [spec, complaint] of [
    [{ reclaimPolicy: 'Keep' }, 'spec.reclaimPolicy is "Keep"; it can be "Delete" or "Retain"'],
    [{ managementPolicies: '*' }, 'spec.managementPolicies is not a list'],
    [
      { managementPolicies: ['*', 'Watch'] },
      'spec.managementPolicies has "Watch"; it can hold "*", "Observe", "Create"',
    ],
    [{ managementPolicies: [{ Observe: true }] }, 'spec.managementPolicies has an object'],
    [{ managementPolicies: ['Create'] }, 'spec.managementPolicies must include "Observe"'],
  ] as const) {
    it(`are rejected: ${complaint}`, () => {
      const reading = read(spec);
      expect(reading.ok ? 'accepted' : reading.problem).to.include(complaint);
    });
  }
  for (const [allowed, reclaim, deletes, needs] of [
    [['Observe', 'Delete'], 'Delete', true, true],
    [['Observe', 'Delete'], 'Retain', false, true],
    [['Observe', 'Create'], 'Delete', false, true],
    [['Observe', 'Update'], 'Delete', false, true],
    [['Observe', 'LateInitialize'], 'Delete', false, false],
  ] as const) {
    it(`${allowed.join(' and ')} with ${reclaim} ${deletes ? 'delete' : 'leave'} the resource, and ${needs ? '' : 'do not '}need a finalizer`, () => {
      const policies = { allowed: new Set(allowed), reclaim };
      expect([deletesResource(policies), needsFinalizer(policies)]).to.deep.equal([deletes, needs]);
    });
  }
});

describe('the conditions of an external resource, by event', () => {
  const TYPES = ['Creating', 'Updating', 'Deleting', 'Ready', 'Failed', 'Paused'] as const;
  const stored = TYPES.map((type) => ({
    type,
    status: 'True' as const,
    lastTransitionTime: 'then',
    reason: 'Old',
    message: 'old',
  }));
  const rows: [StepEvent, string, string][] = [
    ['begin create', 'Creating', 'Updating Ready'],
    ['begin update', 'Updating', ''],
    ['begin delete', 'Deleting', 'Creating Updating Ready'],
    ['observe creating', 'Creating', 'Ready'],
    ['observe ready', 'Ready', 'Creating'],
    ['observe updating', 'Updating', 'Creating Ready'],
    ['observe deleting', '', 'Creating Updating Ready'],
    ['observe failed', 'Failed', 'Creating Ready'],
    ['observe unknown', '', 'Ready'],
    ['in step', '', 'Updating'],
    ['succeed', '', 'Failed'],
    ['fail', 'Failed', ''],
    ['give up creating', 'Failed', 'Creating'],
    ['pause', 'Paused', ''],
    ['resume', '', 'Paused'],
  ];
  for (const [happening, on, off] of rows) {
    it(`${happening}: ${on || 'none'} become True, ${off || 'none'} become False`, () => {
      const fresh = new Conditions([]);
      fresh.note(happening, 'New', 'new');
      const begun = { status: 'True', lastTransitionTime: 'now', reason: 'New', message: 'new' };
      expect(fresh.render('now')).to.deep.equal(on === '' ? [] : [{ type: on, ...begun }]);
      const conditions = new Conditions(stored);
      conditions.note(happening, 'New', 'new');
      const ended = conditions.render('now').filter(({ status }) => status === 'False');
      const over = { status: 'False', lastTransitionTime: 'now', reason: 'New', message: '' };
      expect(ended).to.deep.equal(off === '' ? [] : off.split(' ').map((type) => ({ type, ...over })));
    });
  }
  it('keep the reason for which they ended', () => {
    const ended = {
      type: 'Creating',
      status: 'False',
      lastTransitionTime: 'then',
      reason: 'Old',
      message: 'old',
    } as const;
    const conditions = new Conditions([ended]);
    conditions.note('observe ready', 'Available');
    expect(conditions.render('now', 2)[0]).to.deep.equal(ended);
  });
  it('have the generation of the last reconcile that set them', () => {
    const [creating] = stored;
    const old = {
      status: 'True',
      lastTransitionTime: 'then',
      reason: 'R',
      message: '',
      observedGeneration: 1,
      type: creating?.type ?? '',
    } as const;
    const conditions = new Conditions([old]);
    conditions.note('fail', 'New', 'new');
    const generations = (generation: number | undefined) =>
      conditions.render('now', generation).map(({ type, observedGeneration }) => [type, observedGeneration]);
    expect(generations(2)).to.deep.equal([
      [old.type, 1],
      ['Failed', 2],
    ]);
    conditions.note('fail', 'New', 'new');
    expect(generations(3)[1]).to.deep.equal(['Failed', 3]);
  });
  it('get a new reason and keep their time while they are True', () => {
    const conditions = new Conditions(stored);
    conditions.note('fail', 'New', 'new');
    expect(conditions.render('now').find(({ type }) => type === 'Failed')).to.deep.equal({
      type: 'Failed',
      status: 'True',
      lastTransitionTime: 'then',
      reason: 'New',
      message: 'new',
    });
  });
  for (const [title, conditions, expected] of [
    ['are True if their status is True', [{ ...stored[3] }], true],
    ['are not True if their status is False', [{ ...stored[3], status: 'False' }], false],
    ['are not True if others are', [{ ...stored[0] }], false],
    ['are not True if they are missing', undefined, false],
  ] as const) {
    it(title, () => {
      const status = conditions && { conditions };
      expect(isActive({ ...(status && { status }) } as never, 'Ready')).to.equal(expected);
    });
  }
  it('are not True for an object without a status', () => {
    expect(isActive({}, 'Ready')).to.equal(false);
  });
});

describe('fields that the service fills in', () => {
  for (const [title, spec, filled, expected] of [
    ['are used if there was nothing', {}, { a: 1 }, { a: 1 }],
    ['are used if there was undefined', { a: undefined }, { a: 1 }, { a: 1 }],
    ['are ignored if they are empty', {}, { a: null, b: undefined }, {}],
    ['do not replace null', { a: null }, { a: 1 }, { a: null }],
    ['do not replace a scalar by an object', { a: 1 }, { a: { b: 1 } }, { a: 1 }],
    ['do not replace an object by a scalar', { a: { b: 1 } }, { a: 1 }, { a: { b: 1 } }],
    ['do not confuse inherited properties with given ones', {}, { toString: 'x' }, { toString: 'x' }],
  ] as const) {
    it(title, () => {
      expect(filledIn(spec, filled)).to.deep.equal(expected);
    });
  }
});
