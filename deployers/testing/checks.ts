/**
 * The rules for a deployer, one check for each. Every check uses its own deploy items, so checks can run at the same
 * time.
 */
import { FINALIZER, annotations, operations } from '../../src/api/labels.ts';
import type { ItemPlan, PlannedChange } from '../sdk/index.ts';
import { same, holds } from './expect.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subject.ts';

/** One rule. */
export interface Check {
  /** Stable name, for `without`. */
  readonly name: string;
  readonly sentence: string;
  /** Fields of the subject without which the check is skipped. */
  readonly needs?: readonly (keyof Subject)[];
  /** Whether the check starts the deployer's program to ask it for plans. */
  readonly needsCommand?: true;
  /** @throws ContractBroken */
  run(stage: Stage): Promise<void>;
}

const jobs: readonly Check[] = [
  {
    name: 'no-job',
    sentence: 'does nothing without a job',
    async run(stage) {
      const name = await stage.create(stage.subject.succeeds);
      await stage.meanwhile();
      const { status, metadata } = await stage.fresh(name);
      same('status', status, undefined);
      same('metadata.finalizers', metadata.finalizers, undefined);
    },
  },
  {
    name: 'other-types',
    sentence: 'ignores items of other types',
    async run(stage) {
      const name = await stage.create(stage.subject.succeeds, { type: 'example.org/of-nobody' });
      await stage.trigger(name);
      await stage.meanwhile();
      same('status.phase', (await stage.fresh(name)).status?.phase, undefined);
    },
  },
  {
    name: 'end',
    sentence: 'ends a job with phase, job id and time in one write',
    async run(stage) {
      const name = await stage.create(stage.subject.succeeds);
      const jobID = await stage.trigger(name);
      await stage.ended(name, jobID);
      const first = stage.history(name).find((s) => s.phase === 'Succeeded' || s.jobIDFinished === jobID);
      same('status.phase', first?.phase, 'Succeeded');
      same('status.jobIDFinished', first?.jobIDFinished, jobID);
      same('status.observedGeneration', first?.observedGeneration, 1);
      holds(Boolean(first?.transitionTimes?.initTime), 'status.transitionTimes.initTime is not set');
      holds(Boolean(first?.transitionTimes?.finishedTime), 'status.transitionTimes.finishedTime is not set');
      holds(Boolean(first?.lastReconcileTime), 'status.lastReconcileTime is not set');
      const { identity, name: deployer, version } = first?.deployer ?? {};
      holds(Boolean(identity && deployer && version), 'status.deployer lacks identity, name or version');
    },
  },
  {
    name: 'finalizer',
    sentence: 'keeps a finalizer on the item',
    async run(stage) {
      const { name } = await stage.run(stage.subject.succeeds);
      same('metadata.finalizers', (await stage.fresh(name)).metadata.finalizers, [FINALIZER]);
    },
  },
  {
    name: 'rest',
    sentence: 'writes nothing after the end of a job',
    async run(stage) {
      const { name } = await stage.run(stage.subject.succeeds);
      const before = await stage.fresh(name);
      await stage.meanwhile();
      const { resourceVersion } = (await stage.fresh(name)).metadata;
      same('metadata.resourceVersion', resourceVersion, before.metadata.resourceVersion);
    },
  },
  {
    name: 'next-job',
    sentence: 'ends the next job, too',
    async run(stage) {
      const { name } = await stage.run(stage.subject.succeeds);
      const { phase, jobIDFinished, jobID } = await stage.ended(name, await stage.trigger(name));
      same('status.phase', phase, 'Succeeded');
      same('status.jobIDFinished', jobIDFinished, jobID);
    },
  },
  {
    name: 'changed-spec',
    sentence: 'does not act on a changed spec before the next job',
    async run(stage) {
      const { name, status } = await stage.run(stage.subject.succeeds);
      await stage.configure(name, { ...stage.subject.succeeds, changed: 'by the suite' });
      await stage.meanwhile();
      same('status', (await stage.fresh(name)).status, status);
    },
  },
  {
    name: 'update-on-change-only',
    sentence: 'ends a job at once if nothing changed and the item sets updateOnChangeOnly',
    async run(stage) {
      const { name } = await stage.run(stage.subject.succeeds, { updateOnChangeOnly: true });
      const { phase } = await stage.ended(name, await stage.trigger(name));
      same('status.phase', phase, 'Succeeded');
    },
  },
  {
    name: 'test-reconcile',
    sentence: 'starts a job of its own for the annotation test-reconcile',
    async run(stage) {
      const name = await stage.create(stage.subject.succeeds);
      await stage.annotate(name, { [annotations.operation]: operations.testReconcile });
      await stage.until(
        name,
        'the job of the deployer has succeeded',
        (i) => i?.status?.phase === 'Succeeded',
      );
      const { status, metadata } = await stage.fresh(name);
      holds(Boolean(status?.jobID), 'status.jobID is not set');
      same('status.jobIDFinished', status?.jobIDFinished, status?.jobID);
      same('the annotation', metadata.annotations?.[annotations.operation], undefined);
    },
  },
];

const results: readonly Check[] = [
  {
    name: 'exports',
    sentence: 'exports into a secret of the item, before the job ends',
    needs: ['exports'],
    async run(stage) {
      const { config = {}, value } = stage.subject.exports ?? {};
      const { name } = await stage.run(config);
      const { value: found, owners } = await stage.exported(name);
      same('the exported value', found, value);
      same('the owners of the secret', owners, [(await stage.fresh(name)).metadata.uid]);
      const ends = stage.history(name).filter(({ phase }) => phase === 'Succeeded');
      holds(
        ends.every(({ exportRef }) => exportRef !== undefined),
        'the job ended before status.exportRef was set',
      );
    },
  },
  {
    name: 'invalid',
    sentence: 'fails at once if the configuration is invalid, and recovers in the next job',
    needs: ['invalid'],
    async run(stage) {
      const { name, status } = await stage.run(stage.subject.invalid ?? {});
      same('status.phase', status.phase, 'Failed');
      same('status.lastError.codes', status.lastError?.codes, ['ERR_CONFIGURATION_PROBLEM']);
      await stage.configure(name, stage.subject.succeeds);
      const next = await stage.ended(name, await stage.trigger(name));
      same('status.phase of the next job', next.phase, 'Succeeded');
      same('status.lastError of the next job', next.lastError, undefined);
    },
  },
  {
    name: 'target-missing',
    sentence: 'fails at once if the target does not exist',
    async run(stage) {
      const { status } = await stage.run(stage.subject.succeeds, { target: 'not-there' });
      same('status.phase', status.phase, 'Failed');
      holds(Boolean(status.lastError?.message), 'status.lastError has no message');
    },
  },
];

const waiting: readonly Check[] = [
  {
    name: 'waits',
    sentence: 'waits, and ends the job when the wait is over',
    needs: ['waits', 'finish'],
    async run(stage) {
      const { waits = {}, finish = {} } = stage.subject;
      const name = await stage.create(waits);
      const jobID = await stage.trigger(name);
      await stage.until(name, 'the phase is Progressing', (i) => i?.status?.phase === 'Progressing');
      await stage.meanwhile();
      holds(stage.item(name)?.status?.jobIDFinished !== jobID, 'the job ended before the wait was over');
      await stage.configure(name, finish);
      const { phase, lastError } = await stage.ended(name, jobID);
      same('status.phase', phase, 'Succeeded');
      same('status.lastError', lastError, undefined);
    },
  },
  {
    name: 'timeout',
    sentence: 'fails after the timeout of the item',
    needs: ['waits'],
    async run(stage) {
      const { status } = await stage.run(stage.subject.waits ?? {}, { timeout: '2s' });
      same('status.phase', status.phase, 'Failed');
      const codes = status.lastError?.codes ?? [];
      holds(
        codes.includes('ERR_TIMEOUT'),
        `status.lastError.codes is [${codes.join(', ')}], without ERR_TIMEOUT`,
      );
    },
  },
  {
    name: 'interrupt',
    sentence: 'does not change an interrupted item',
    needs: ['waits'],
    async run(stage) {
      const name = await stage.create(stage.subject.waits ?? {});
      const jobID = await stage.trigger(name);
      await stage.until(name, 'the phase is Progressing', (i) => i?.status?.phase === 'Progressing');
      await stage.writeStatus(name, { phase: 'Failed', jobIDFinished: jobID });
      const { status } = await stage.fresh(name);
      await stage.meanwhile();
      same('status', (await stage.fresh(name)).status, status);
    },
  },
  {
    name: 'vanished',
    sentence: 'continues with other items if an item is deleted during its job',
    needs: ['waits'],
    async run(stage) {
      const name = await stage.create(stage.subject.waits ?? {});
      await stage.trigger(name);
      await stage.until(name, 'the phase is Progressing', (i) => i?.status?.phase === 'Progressing');
      await stage.vanish(name);
      await stage.meanwhile();
      holds(stage.item(name) === undefined, `${name} exists again`);
    },
  },
];

const deletion: readonly Check[] = [
  {
    name: 'delete',
    sentence: 'uninstalls in the next job after a deletion, not before, and removes the finalizer',
    async run(stage) {
      const { name, status } = await stage.run(stage.subject.succeeds);
      await stage.delete(name);
      await stage.meanwhile();
      same('status before the job', (await stage.fresh(name)).status, status);
      await stage.trigger(name);
      await stage.until(name, 'the item is deleted', (item) => item === undefined);
    },
  },
  {
    name: 'delete-without-uninstall',
    sentence: 'removes the finalizer without uninstalling if the annotation requests it',
    async run(stage) {
      const { name } = await stage.run(stage.subject.succeeds);
      await stage.annotate(name, { [annotations.deleteWithoutUninstall]: 'true' });
      await stage.delete(name);
      await stage.trigger(name);
      await stage.until(name, 'the item is deleted', (item) => item === undefined);
    },
  },
  {
    name: 'delete-unused',
    sentence: 'deletes an item that never had a job',
    async run(stage) {
      const name = await stage.create(stage.subject.succeeds);
      await stage.delete(name);
      await stage.until(name, 'the item is deleted', (item) => item === undefined);
      await stage.meanwhile();
    },
  },
];

const changes = ({ objects }: ItemPlan, ...wanted: readonly PlannedChange[]): boolean =>
  objects.some(({ change }) => wanted.includes(change));

const plans: readonly Check[] = [
  {
    name: 'plan',
    sentence: 'plans the changes of a job, and changes nothing',
    needs: ['plan'],
    needsCommand: true,
    async run(stage) {
      const name = await stage.create(stage.subject.plan);
      const first = await stage.plan(name, 'apply');
      holds(changes(first, 'create', 'change'), 'the plan of a new item neither creates nor changes objects');
      same('the second plan', await stage.plan(name, 'apply'), first);
      await stage.ended(name, await stage.trigger(name));
      const next = await stage.plan(name, 'apply');
      holds(!changes(next, 'create', 'change', 'delete'), 'the plan after the job still contains changes');
    },
  },
  {
    name: 'plan-deletion',
    sentence: 'plans the deletions of a deletion job, and deletes nothing',
    needs: ['plan'],
    needsCommand: true,
    async run(stage) {
      const { name } = await stage.run(stage.subject.plan ?? {});
      const first = await stage.plan(name, 'remove');
      holds(changes(first, 'delete'), 'the plan of a deletion deletes no objects');
      same('the second plan', await stage.plan(name, 'remove'), first);
    },
  },
];

export const checks: readonly Check[] = [...jobs, ...results, ...waiting, ...deletion, ...plans];
