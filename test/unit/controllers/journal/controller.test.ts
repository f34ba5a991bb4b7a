/** The controllers of the journal: which writes they send, what a failed one leads to, and when records are deleted. */
import { expect } from 'chai';
import { journalControllers } from '../../../../controllers/journal/index.ts';
import { defaultJournal, type JournalSettings } from '../../../../src/api/journal.ts';
import { installationKind } from '../../../../src/api/kinds/installation.ts';
import { jobRecordKind, type JobRecord } from '../../../../src/api/kinds/jobrecord.ts';
import { labels } from '../../../../src/api/labels.ts';
import type { ControllerSpec } from '../../../../src/runtime/controller/controller.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { child, done, installation, running } from '../../../support/given.ts';
import { stage, type Stage } from '../support/stage.ts';

const MINUTE = 60_000;
/** Time of the fake clock at its start, plus minutes. */
const at = (minutes: number): string => new Date(Date.UTC(2026, 0, 1) + minutes * MINUTE).toISOString();
const ended = (jobID: string) => ({ ...done(jobID), transitionTimes: { finishedTime: at(0) } });
const web = installation('web', { status: ended('j1') });
/** Name of the first record of `web`, whose uid is uid-1. */
const FIRST = /^web-[0-9a-f]{5}-1$/;

let on: Stage;
let specs: () => ControllerSpec<never>;

function begin(which: 'recorder' | 'cleaner', more: Partial<JournalSettings> = {}): void {
  const settings = { ...defaultJournal, maxAgeMs: 10 * MINUTE, ...more };
  on = stage<never>((ports) => {
    const [recorder, cleaner] = journalControllers({ ...ports, settings, installationCache: {} });
    const spec = (which === 'recorder' ? recorder : cleaner) as never;
    specs = () => spec;
    return spec;
  });
}

/** A stored record of `web`. */
const stored = (number: number, endedAt: string, uid = 'uid-1'): JobRecord =>
  on.client.put(jobRecordKind, {
    metadata: { name: `r-${String(number)}`, namespace: 'demo', labels: { [labels.rootUid]: uid } },
    spec: {
      root: { name: 'web', uid },
      number,
      jobID: `old-${String(number)}`,
      request: { reason: 'Unknown' },
      result: 'Succeeded',
      endedAt,
    },
  });

const bodies = (verb: string): JobRecord[] =>
  on.client.requests.filter((one) => one.verb === verb).map(({ body }) => body as JobRecord);
const jobs = (verb: string): string[] => bodies(verb).map(({ spec }) => spec.jobID);

const refuse = (verb: string, code: number, reason: string, message: string, times = Infinity): void => {
  let left = times;
  on.client.fault = (request) =>
    request.verb === verb && left-- > 0
      ? apiErrorFrom(code, { reason, message }, { verb, kind: 'JobRecord' })
      : undefined;
};

describe('the journal, when the job of a root has ended', () => {
  afterEach(() => on.end());

  it('creates a record that belongs to the root and has its label', async () => {
    begin('recorder');
    const { uid } = on.client.put(installationKind, web).metadata;
    await on.start();
    expect(jobs('create')).to.deep.equal(['j1']);
    const [record] = bodies('create');
    expect(record).to.include({ apiVersion: 'espalier.dev/v1alpha1', kind: 'JobRecord' });
    expect(record?.metadata.name).to.match(FIRST);
    expect(record?.metadata.namespace).to.equal('demo');
    expect(record?.metadata.labels).to.deep.equal({ [labels.rootUid]: uid });
    expect(record?.metadata.ownerReferences).to.deep.equal([
      { apiVersion: 'landscaper.gardener.cloud/v1alpha1', kind: 'Installation', name: 'web', uid },
    ]);
  });

  const others = [
    ['it is a sub-installation', child('web', 'sub', done('j1'))],
    ['it never had a job', installation('web', { status: {} })],
    [
      'its first job runs, and the last job of its predecessor has no record',
      installation('web', { status: running('j1') }),
    ],
    [
      'its next job runs, and nothing observed the last one',
      installation('web', { status: { ...done('j1'), jobID: 'j2' } }),
    ],
  ] as const;
  for (const [title, object] of others)
    it(`creates none if ${title}`, async () => {
      begin('recorder');
      on.client.put(installationKind, object);
      await on.start();
      expect(on.client.changes).to.deep.equal([]);
    });

  it('does nothing for a change that ends no job', async () => {
    begin('recorder');
    on.client.put(installationKind, web);
    await on.start();
    on.client.edit(installationKind, 'demo/web', { metadata: { labels: { a: 'b' } } });
    await on.settle();
    expect(on.runs).to.deep.equal(['demo/web']);
  });

  it('numbers records, and does not record a job again after a restart', async () => {
    begin('recorder');
    on.client.put(installationKind, web);
    stored(7, at(-1));
    await on.start();
    expect(bodies('create').map(({ spec }) => spec.number)).to.deep.equal([8]);
    on.client.edit(installationKind, 'demo/web', { status: ended('j2') }, 'status');
    await on.settle();
    on.client.edit(installationKind, 'demo/web', { status: ended('j1') }, 'status');
    await on.settle();
    expect(jobs('create'), 'each once').to.deep.equal(['j1', 'j2']);
  });

  it('records each job that ended while records could not be written, the oldest first', async () => {
    begin('recorder');
    on.client.put(installationKind, { ...web, status: { observedGeneration: 1, ...running('j1') } });
    await on.start();
    refuse('create', 503, 'ServiceUnavailable', 'busy', 2);
    for (const id of ['j1', 'j2'])
      on.client.edit(installationKind, 'demo/web', { status: ended(id) }, 'status');
    await on.clock.advance(10_000);
    expect(jobs('create').slice(-2)).to.deep.equal(['j1', 'j2']);
  });

  it('does not record a job again whose record was deleted', async () => {
    begin('recorder');
    on.client.put(installationKind, { ...web, status: { observedGeneration: 1, ...running('j1') } });
    await on.start();
    on.client.edit(installationKind, 'demo/web', { status: ended('j1') }, 'status');
    await on.settle();
    on.client.remove(jobRecordKind, `demo/${bodies('create')[0]?.metadata.name ?? ''}`);
    on.client.edit(installationKind, 'demo/web', { status: ended('j2') }, 'status');
    await on.settle();
    expect(jobs('create')).to.deep.equal(['j1', 'j2']);
  });

  it('limits the record to its size', async () => {
    begin('recorder', { recordBytes: 1 });
    on.client.put(installationKind, {
      ...web,
      spec: { ...web.spec, importDataMappings: { a: 'x'.repeat(5_000) } },
    });
    await on.start();
    expect(bodies('create')[0]?.spec.specOmitted).to.match(/^the spec takes/);
  });

  it('retries ever more rarely while the server refuses its record', async () => {
    begin('recorder');
    on.client.put(installationKind, web);
    refuse('create', 403, 'Forbidden', 'no rights');
    await on.start();
    await on.clock.advance(60_000);
    expect(on.client.changes.length).to.be.within(2, 30);
  });

  it('writes nothing again in a namespace that is being deleted', async () => {
    begin('recorder');
    on.client.put(installationKind, web);
    const message = 'unable to create new content in namespace demo because it is being terminated';
    refuse('create', 403, 'Forbidden', message);
    await on.start();
    await on.clock.advance(60_000);
    expect(on.client.changes).to.have.length(1);
  });

  it('checks every second whether another process has written the record', async () => {
    begin('recorder');
    on.client.put(installationKind, web);
    refuse('create', 409, 'AlreadyExists', 'exists', 2);
    await on.start();
    await on.clock.advance(999);
    expect(on.client.changes).to.have.length(1);
    await on.clock.advance(1);
    expect(on.client.changes).to.have.length(2);
    await on.clock.advance(1_000);
    expect(on.client.changes).to.have.length(3);
  });
});

describe('the records that a root has', () => {
  afterEach(() => on.end());

  it('are replaced from the oldest on, only in the version that was read', async () => {
    begin('recorder', { jobsPerRoot: 2 });
    on.client.put(installationKind, web);
    for (const number of [2, 1]) stored(number, at(-1));
    let isFirst = true;
    on.client.before = ({ verb }) => {
      if (verb === 'replace' && isFirst)
        on.client.edit(jobRecordKind, 'demo/r-1', { metadata: { annotations: { a: 'b' } } });
      isFirst &&= verb !== 'replace';
      return undefined;
    };
    await on.start();
    const taken = on.client.read(jobRecordKind, 'demo/r-1')?.spec.jobID;
    expect(taken, 'changed meanwhile').to.equal('old-1');
    await on.clock.advance(10_000);
    expect(on.client.read(jobRecordKind, 'demo/r-1')?.spec).to.include({ jobID: 'j1', number: 3 });
    const tries = ['replace JobRecord demo/r-1', 'replace JobRecord demo/r-1'];
    expect(on.client.changes, 'none deleted').to.deep.equal(tries);
  });

  it('are deleted with their uid when they are more than the limit', async () => {
    begin('recorder', { jobsPerRoot: 2 });
    on.client.put(installationKind, web);
    const uids = [1, 2, 3, 4].map((number) => stored(number, at(-1)).metadata.uid);
    await on.start();
    expect(on.client.read(jobRecordKind, 'demo/r-2')?.spec.jobID).to.equal('j1');
    expect(on.client.deleted).to.deep.equal([uids[2], uids[0]]);
  });

  it('are deleted when the oldest of them expires, which no event reports', async () => {
    begin('recorder');
    on.client.put(installationKind, web);
    stored(1, at(-6));
    stored(2, at(-7));
    await on.start();
    await on.clock.advance(3 * MINUTE);
    expect(on.client.deleted, 'not before').to.deep.equal([]);
    await on.clock.advance(1_000);
    expect(on.client.deleted).to.have.length(1);
    await on.clock.advance(MINUTE);
    expect(on.client.deleted).to.have.length(2);
    expect(on.client.read(jobRecordKind, 'demo/r-1')).to.equal(undefined);
  });

  it('do not block the next step if another client has deleted them', async () => {
    begin('recorder', { jobsPerRoot: 2 });
    on.client.put(installationKind, web);
    for (const number of [1, 2, 3, 4]) stored(number, at(-1));
    refuse('delete', 404, 'NotFound', 'gone', 1);
    await on.start();
    expect(on.client.deleted, 'both').to.have.length(2);
    expect(on.runs).to.have.length(1);
  });

  it('are deleted with a retry if the server refuses it at first', async () => {
    begin('recorder', { jobsPerRoot: 1 });
    on.client.put(installationKind, web);
    for (const number of [1, 2]) stored(number, at(-1));
    refuse('delete', 503, 'ServiceUnavailable', 'busy', 1);
    await on.start();
    expect(on.client.read(jobRecordKind, 'demo/r-2')).not.to.equal(undefined);
    await on.clock.advance(10_000);
    expect(on.client.read(jobRecordKind, 'demo/r-2')).to.equal(undefined);
  });
});

describe('the records of a root that is gone', () => {
  afterEach(() => on.end());

  it('are deleted, with their uid, when they expire', async () => {
    begin('cleaner');
    const { uid } = stored(1, at(-8)).metadata;
    stored(2, at(-2));
    await on.start();
    await on.clock.advance(2 * MINUTE);
    expect(on.client.deleted, 'not before').to.deep.equal([]);
    await on.clock.advance(1_000);
    expect(on.client.deleted).to.deep.equal([uid]);
    await on.clock.advance(5 * MINUTE);
    expect(on.client.deleted, 'only the expired one').to.have.length(1);
    await on.clock.advance(MINUTE);
    expect(on.client.deleted).to.have.length(2);
  });

  const checks = [
    ['when it expires, if that is soon', 2, 2 * MINUTE + 1_000],
    ['after a day, if it expires later', 60 * 24 * 60, 86_400_000],
    ['not again, if it has expired', 0, undefined],
  ] as const;
  for (const [title, minutes, expected] of checks)
    it(`are checked ${title}`, async () => {
      begin('cleaner', { maxAgeMs: minutes * MINUTE });
      const { reconciler } = specs();
      const ctx = { clock: on.clock, write: () => Promise.resolve() };
      const result = await reconciler.reconcile(stored(1, at(0)) as never, ctx as never);
      expect(result?.requeueAfterMs).to.equal(expected);
    });

  it('are deleted although a root of the same name was created since, and kept with their own root', async () => {
    begin('cleaner');
    const { uid = '' } = on.client.put(installationKind, web).metadata;
    const other = stored(1, at(-20), 'uid-of-before').metadata.uid;
    stored(2, at(-20), uid);
    await on.start();
    expect(on.client.deleted).to.deep.equal([other]);
  });
});
