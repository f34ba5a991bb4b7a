/** Records of jobs: their size, where they are stored, and who requested a job. */
import { expect } from 'chai';
import type { Installation } from '../../../../src/api/kinds/installation.ts';
import type { JobPart, JobRecord, JobRecordSpec } from '../../../../src/api/kinds/jobrecord.ts';
import { defaultJournal } from '../../../../src/api/journal.ts';
import { annotations } from '../../../../src/api/labels.ts';
import { changesSince, recordOf } from '../../../../controllers/journal/record.ts';
import { requestOf } from '../../../../controllers/journal/request.ts';
import {
  expiryOf,
  isExpired,
  newRecord,
  planOf,
  replacement,
} from '../../../../controllers/journal/slots.ts';
import { cacheWithRequests, requestText } from '../../../../src/landscape/job-requests.ts';

const START = '2026-01-01T00:00:00Z';
const END = '2026-01-01T00:01:00Z';

const rootWith = (spec: object = {}, status: object = {}, metadata: object = {}): Installation => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Installation',
  metadata: { name: 'web', namespace: 'shop', uid: 'u', generation: 3, ...metadata },
  spec: { blueprint: { inline: { filesystem: {} } }, ...spec },
  status: {
    observedGeneration: 3,
    jobID: 'j',
    jobIDFinished: 'j',
    phase: 'Succeeded',
    transitionTimes: { triggerTime: START, finishedTime: END },
    ...status,
  },
});

const record = (root: Installation, parts: readonly JobPart[] = [], maxBytes = 16 * 1024): JobRecordSpec =>
  recordOf({ root, below: { parts, others: 0 }, observed: {}, imports: [], before: undefined, maxBytes });

const part = (name: string, more: Partial<JobPart> = {}): JobPart => ({
  kind: 'DeployItem',
  name,
  title: name,
  depth: 2,
  triggeredAt: START,
  endedAt: START,
  ...more,
});

/** Letters that do not compress. */
const noise = (length: number): string =>
  Array.from({ length }, (_, i) => ((i * 2654435761) >>> 7).toString(36))
    .join('')
    .slice(0, length);

describe('the record of a job', () => {
  it('contains a small spec as it is, a larger one compressed, and the reason if it is too large', () => {
    const withText = (text: string) => record(rootWith({ importDataMappings: { a: text } }));
    expect(withText('x').installation).to.deep.equal(rootWith({ importDataMappings: { a: 'x' } }).spec);
    const large = withText('x'.repeat(50_000));
    expect(large).not.to.have.property('installation');
    expect(large.installationGzip?.length).to.be.below(1_000);
    for (const length of [50_000, 12_000])
      expect(withText(noise(length)).specOmitted, 'more than half of the record').to.match(
        /^the spec takes \d+ KiB compressed, more than 8 KiB/,
      );
  });

  it('names the root, the job, its times, its end, and what was observed', () => {
    const times = { triggerTime: START, waitTime: '2026-01-01T00:00:30Z', finishedTime: END };
    const lastError = { operation: 'o', reason: 'r', message: 'm', codes: ['ERR_TIMEOUT'] };
    const failed = (phase: string) => rootWith({}, { phase, transitionTimes: times, lastError });
    const imports = [{ name: 'a', kind: 'Secret', object: 's' }];
    const facts = { below: { parts: [], others: 2 }, imports, before: undefined, maxBytes: 16 * 1024 };
    const first = recordOf({ root: failed('Failed'), observed: {}, ...facts });
    expect(first).to.deep.include({
      root: { name: 'web', uid: 'u' },
      number: 1,
      jobID: 'j',
      request: { reason: 'Unknown' },
      result: 'Failed',
      triggeredAt: START,
      waitedAt: '2026-01-01T00:00:30Z',
      endedAt: END,
      error: lastError,
      generation: 3,
      imports,
      partsOmitted: 2,
    });
    for (const field of ['previousJobID', 'importsChanged', 'changes', 'parts'])
      expect(first).not.to.have.property(field);
    const seen = { previousJobID: 'i', importsChanged: true, imports: [] };
    const before = { ...first, number: 6, specHash: 'other' };
    const next = recordOf({ root: failed('Succeeded'), observed: seen, ...facts, before });
    expect(next).to.deep.include({ number: 7, ...seen, changes: ['spec', 'imports'] });
    expect(next, 'an error of an earlier phase').not.to.have.property('error');
  });

  const component = { ref: { componentName: 'c', version: '1' } };
  const blueprints: readonly [string, object, object][] = [
    [
      'of a component',
      { blueprint: { ref: { resourceName: 'b' } }, componentDescriptor: component },
      { component: 'c', version: '1', resource: 'b' },
    ],
    [
      'of an inline component',
      { blueprint: { ref: { resourceName: 'b' } }, componentDescriptor: { inline: {} } },
      { resource: 'b' },
    ],
    ['without a component', { blueprint: { ref: { resourceName: 'b' } } }, { resource: 'b' }],
  ];
  for (const [title, spec, expected] of blueprints)
    it(`names the blueprint ${title}`, () => {
      expect(record(rootWith(spec)).blueprint).to.deep.equal(expected);
    });

  it('has the digest of an inline blueprint, which changes with its files', () => {
    const digest = (filesystem: object) =>
      record(rootWith({ blueprint: { inline: { filesystem } }, componentDescriptor: component })).blueprint;
    expect(digest({ a: 'x' })).to.have.all.keys('digest');
    expect(digest({ a: 'x' })).not.to.deep.equal(digest({ a: 'y' }));
  });

  it('keeps the parts that took longest, also beside those without times', () => {
    const { triggeredAt: _, ...timeless } = part('timeless');
    const parts = [timeless, part('slow', { endedAt: END }), part('quick')];
    const room = JSON.stringify(record(rootWith())).length + 1_500 + JSON.stringify(parts[1]).length + 1;
    expect(record(rootWith(), parts, room).parts?.map(({ name }) => name)).to.deep.equal(['slow']);
    expect(record(rootWith(), parts, room - 1).parts).to.equal(undefined);
  });

  it('has no spec that was changed while the job ran', () => {
    const { specOmitted, specHash } = record(rootWith({}, { observedGeneration: 2 }));
    expect(specOmitted).to.equal('the spec was changed before the job ended');
    expect(specHash).to.equal(undefined);
  });

  it('stays below its limit, and keeps the parts that failed and those that took longest', () => {
    const failure = { operation: 'o', reason: 'r', message: 'm'.repeat(400) };
    const parts = [
      ...Array.from({ length: 500 }, (_, i) => part(`quick-${String(i)}`)),
      part('slow', { endedAt: END }),
      part('failed', { error: failure }),
    ];
    const limited = record(rootWith(), parts);
    expect(JSON.stringify(limited).length).to.be.below(16 * 1024);
    const names = limited.parts?.map(({ name }) => name) ?? [];
    expect(names).to.include.members(['slow', 'failed']);
    expect(limited.partsOmitted).to.equal(parts.length - names.length);
  });

  it('shortens long messages', () => {
    const lastError = {
      operation: 'o',
      reason: 'r',
      message: 'm'.repeat(9_000),
      lastTransitionTime: END,
      lastUpdateTime: END,
    };
    expect(record(rootWith({}, { phase: 'Failed', lastError })).error?.message.length).to.equal(4_000);
  });

  it('compares with the record before, and trusts the hash of the imports more than their versions', () => {
    const base = record(rootWith());
    const imports = [{ name: 'a', kind: 'Target', object: 't', version: 'u/1' }];
    const rewritten = { ...base, imports, importsChanged: false };
    expect(changesSince(base, base)).to.deep.equal([]);
    expect(changesSince(base, rewritten)).to.deep.equal([]);
    expect(changesSince(base, { ...base, imports })).to.deep.equal(['imports']);
    const blueprint = { resource: 'b', component: 'c', version: '2' };
    expect(
      changesSince({ ...base, blueprint: { ...blueprint, version: '1' } }, { ...base, blueprint }),
    ).to.deep.equal(['component']);
  });
});

describe('the comparison of two records', () => {
  const base = { ...record(rootWith()), specHash: 'h', blueprint: { digest: 'd' } };
  const without = (field: 'specHash' | 'blueprint') => ({ ...base, [field]: undefined });
  const rows: readonly [string, Partial<JobRecordSpec>, Partial<JobRecordSpec>, readonly string[]][] = [
    ['another spec', base, { ...base, specHash: 'i' }, ['spec']],
    ['no spec before', without('specHash'), base, []],
    ['no spec now', base, without('specHash'), []],
    ['another inline blueprint', base, { ...base, blueprint: { digest: 'e' } }, ['blueprint']],
    [
      'another resource',
      { ...base, blueprint: { resource: 'a' } },
      { ...base, blueprint: { resource: 'b' } },
      ['blueprint'],
    ],
    [
      'another component',
      { ...base, blueprint: { component: 'a' } },
      { ...base, blueprint: { component: 'b' } },
      ['component'],
    ],
    ['no blueprint before', without('blueprint'), base, []],
    ['no blueprint now', base, without('blueprint'), []],
    ['no imports before, and none now', { ...base, imports: undefined }, { ...base, imports: [] }, []],
    [
      'imports that changed, although the versions are the same',
      base,
      { ...base, importsChanged: true },
      ['imports'],
    ],
  ];
  for (const [title, before, now, expected] of rows)
    it(`finds ${expected.join(', ') || 'nothing'}: ${title}`, () => {
      expect(changesSince({ ...base, ...before }, { ...base, ...now })).to.deep.equal(expected);
    });
});

describe('the request of a job', () => {
  const scheduled = { numberOfReconciles: 2, lastReconcileTime: START };
  const stored = JSON.stringify({ jobID: 'j', reason: 'Requested', manager: 'kubectl' });
  const cases: readonly [string, Installation, object][] = [
    [
      'is stored',
      rootWith({}, {}, { annotations: { [annotations.jobRequest]: stored } }),
      { reason: 'Requested', manager: 'kubectl' },
    ],
    [
      'of another job does not count',
      rootWith({}, {}, { annotations: { [annotations.jobRequest]: stored.replace('"j"', '"i"') } }),
      { reason: 'Unknown' },
    ],
    [
      'may be broken',
      rootWith({}, {}, { annotations: { [annotations.jobRequest]: '{' } }),
      { reason: 'Unknown' },
    ],
    [
      'names no more than a valid name of a manager and of a predecessor',
      rootWith(
        {},
        {},
        {
          annotations: {
            [annotations.jobRequest]: JSON.stringify({
              jobID: 'j',
              reason: 'Requested',
              manager: 'm'.repeat(300),
              predecessor: 'p'.repeat(300),
            }),
          },
        },
      ),
      { reason: 'Requested', manager: 'm'.repeat(253), predecessor: 'p'.repeat(253) },
    ],
    [
      'is not a schedule that has started nothing',
      rootWith({}, { automaticReconcileStatus: { lastReconcileTime: START } }),
      { reason: 'Unknown' },
    ],
    [
      'is not a schedule without a time, of a job without a time',
      rootWith({}, { automaticReconcileStatus: { numberOfReconciles: 1 }, transitionTimes: {} }),
      { reason: 'Unknown' },
    ],
    ['is the deletion', rootWith({}, {}, { deletionTimestamp: END }), { reason: 'Deletion' }],
    [
      'is the schedule',
      rootWith({}, { automaticReconcileStatus: scheduled }),
      { reason: 'Schedule', attempt: 2 },
    ],
    [
      'is a retry of the schedule',
      rootWith({}, { automaticReconcileStatus: { ...scheduled, onFailed: true } }),
      { reason: 'RetryAfterFailure', attempt: 2 },
    ],
    [
      'is not an earlier time of the schedule',
      rootWith({}, { automaticReconcileStatus: { ...scheduled, lastReconcileTime: END } }),
      { reason: 'Unknown' },
    ],
    [
      'is a changed spec',
      rootWith({}, {}, { annotations: { [annotations.reconcileIfChanged]: 'true' } }),
      { reason: 'SpecChanged' },
    ],
  ];
  for (const [title, root, expected] of cases)
    it(title, () => {
      expect(requestOf(root, 'j')).to.deep.equal(expected);
    });

  it('keeps the field manager of the annotation, and no other managed fields', () => {
    const entry = (manager: string, annotation: string) => ({
      manager,
      fieldsV1: { 'f:metadata': { 'f:annotations': { [`f:${annotation}`]: {} } } },
    });
    const managedFields = [entry('helm', 'other'), entry('kubectl-annotate', annotations.operation)];
    const requested = { annotations: { [annotations.operation]: 'reconcile' }, managedFields };
    const root = cacheWithRequests.transform?.(rootWith({}, {}, requested)) ?? rootWith();
    expect(root.metadata.managedFields).to.deep.equal([{ manager: 'kubectl-annotate' }]);
    expect(JSON.parse(requestText(root, 'j'))).to.deep.equal({
      jobID: 'j',
      reason: 'Requested',
      manager: 'kubectl-annotate',
    });
    const idle = cacheWithRequests.transform?.(rootWith({}, {}, { managedFields: [...managedFields] }));
    expect(idle?.metadata).not.to.have.property('managedFields');
  });
});

describe('the records of a root', () => {
  const settings = { ...defaultJournal, jobsPerRoot: 3 };
  const stored = (number: number, endedAt = END): JobRecord => {
    const object = newRecord(rootWith(), [], { ...record(rootWith()), number, endedAt }, settings);
    return { ...object, metadata: { ...object.metadata, name: `r-${String(number)}` } };
  };
  const now = Date.parse(END);
  const numbers = (all: readonly { readonly spec: { readonly number: number } }[]) =>
    all.map(({ spec }) => spec.number);

  it('are new objects below the limit, and then replace the oldest', () => {
    expect(planOf([stored(1), stored(2)], settings, now, true).replaced).to.equal(undefined);
    expect(planOf([stored(4), stored(2), stored(3)], settings, now, true).replaced?.spec.number).to.equal(2);
  });

  it('above a lowered limit are deleted, except for the one that is replaced', () => {
    const all = [1, 2, 3, 4, 5].map((number) => stored(number));
    const { replaced, surplus } = planOf(all, settings, now, true);
    expect([replaced?.spec.number, numbers(surplus)]).to.deep.equal([2, [1]]);
  });

  it('that are expired are deleted', () => {
    const all = [stored(1, '2025-01-01T00:00:00Z'), stored(2)];
    expect(numbers(planOf(all, settings, now, false).surplus)).to.deep.equal([1]);
  });

  it('expire exactly at their age, counted from the end of the job, or from their creation', () => {
    const { spec, metadata } = stored(1);
    const aged = (endedAt: string | undefined, creationTimestamp?: string): JobRecord =>
      ({ metadata: { ...metadata, creationTimestamp }, spec: { ...spec, endedAt } }) as JobRecord;
    const due = now + settings.maxAgeMs;
    expect(expiryOf(aged(END, START), settings)).to.equal(due);
    expect(expiryOf(aged(undefined, END), settings)).to.equal(due);
    expect(expiryOf(aged(undefined), settings), 'no time at all').to.equal(settings.maxAgeMs);
    expect([due - 1, due].map((time) => isExpired(aged(END), settings, time))).to.deep.equal([false, true]);
  });

  it('replace an expired one instead of deleting it, even below the limit', () => {
    const all = [stored(1, '2025-01-01T00:00:00Z'), stored(2)];
    const { replaced, surplus } = planOf(all, settings, now, true);
    expect([replaced?.spec.number, surplus]).to.deep.equal([1, []]);
  });

  it('take the lowest number that is free, and in a replaced one the version that was read', () => {
    const name = (slot: number) =>
      newRecord(rootWith(), [], record(rootWith()), settings).metadata.name.replace(/1$/, String(slot));
    const at = (slot: number): JobRecord => ({
      ...stored(slot),
      metadata: { name: name(slot), resourceVersion: '7' },
    });
    const next = newRecord(rootWith(), [at(1), at(3)], record(rootWith()), settings);
    expect(next.metadata.name).to.equal(name(2));
    const { metadata, spec } = replacement(at(3), next);
    expect(metadata).to.deep.equal({ ...next.metadata, name: name(3), resourceVersion: '7' });
    expect(spec).to.equal(next.spec);
  });

  it('have valid names, also if the name of the root is long', () => {
    const long = rootWith({}, {}, { name: `${'a'.repeat(229)}.${'b'.repeat(20)}` });
    const { metadata } = newRecord(long, [], record(long), settings);
    expect(metadata.name).to.match(/^a{229}-[0-9a-f]{5}-1$/);
  });

  it('remain after the root only if configured', () => {
    const owners = (keepAfterDeletion: boolean) =>
      newRecord(rootWith(), [], record(rootWith()), { ...settings, keepAfterDeletion }).metadata
        .ownerReferences;
    expect(owners(false)).to.have.length(1);
    expect(owners(true)).to.equal(undefined);
  });
});
