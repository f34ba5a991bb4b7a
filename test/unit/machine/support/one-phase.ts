/** A machine whose first phase decides as a test says, and the result of the loop over phases. */
import { installationKind, type Installation } from '../../../../src/api/kinds/installation.ts';
import { patchStatus, type Decision, type Problem } from '../../../../src/machine/decision.ts';
import { phaseOf, type PhaseRow, type StatusOf } from '../../../../src/machine/phase.ts';
import { runPhases, type Machine } from '../../../../src/machine/run.ts';
import type { Status } from '../../../../src/machine/status.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Obj, View, Write } from '../../../../src/runtime/types.ts';
import { NOW, child, installation, running } from '../../../support/given.ts';

export interface Snapshot {
  readonly self: View<Installation>;
  readonly now: string;
  readonly fact: string;
}
type Decide = (snapshot: Snapshot) => Decision<string, StatusOf<Snapshot>>;
export type Row = Partial<Omit<PhaseRow<Snapshot, string>, 'phase'>>;

export interface Given {
  readonly row?: Row;
  /** Further phases. */
  readonly others?: Readonly<Record<string, Decide>>;
  /** The stored status; the reconcile is about to run phase `One`. */
  readonly stored?: object;
  /** Changes of the reconcile so far. */
  readonly heading?: Status;
  readonly meta?: object;
  readonly machine?: Partial<Machine<Installation, Snapshot>>;
  /** The error of the API server for writes to the child. */
  readonly refusal?: Error;
  /** Retries before this one; default none. */
  readonly attempt?: number;
  /** Looked up once for the decision, and again to confirm it. */
  readonly fact?: () => string;
}

export const EARLIER = '2025-12-31T23:50:00Z';
export const apiError = (code: number, reason = ''): Error =>
  apiErrorFrom(code, { reason, message: 'said no' }, { verb: 'patch', kind: 'Installation' });
export const noRight = apiError(403, 'Forbidden');
export const below = child('stack', 'a');
export const effects = [patchStatus(installationKind, below, { jobID: 'j1' })];
export const problem: Problem = { operation: 'op', reason: 'Why', message: 'it is so' };
export const told = { ...problem, lastTransitionTime: NOW, lastUpdateTime: NOW };

/** Runs a machine whose first phase decides with `decide`. */
export async function run(decide: Decide, given: Given = {}) {
  const { row, others = {}, stored = running('j1', 'One'), meta = {}, refusal, fact = () => 'f' } = given;
  const self = installation('stack', { status: stored, meta });
  const writes: (readonly [name: string, status: Status])[] = [];
  const events: string[] = [];
  const entered: string[] = [];
  const phase = (answer: Decide) =>
    phaseOf<Snapshot>()({ needs: ['fact'], next: [], decide: answer as () => Decision<never> });
  const table: Record<string, PhaseRow<Snapshot, string>> = {
    One: { phase: phase(decide), onFail: 'Failed', ...row },
  };
  for (const [name, answer] of Object.entries(others))
    table[name] = { phase: phase(answer), onFail: 'Failed' };
  let latest: Installation = self;
  const write = (sent: Write): Promise<Obj> => {
    const name = ('key' in sent ? sent.key : '').replace('demo/', '');
    if (name !== 'stack' && refusal) return Promise.reject(refusal);
    const { status = {} } = (sent as { body?: { status?: Status } }).body ?? {};
    writes.push([sent.verb === 'merge' ? name : `${sent.verb} ${name}`, status]);
    if (name !== 'stack') return Promise.resolve(below);
    latest = { ...latest, status: { ...latest.status, ...status } } as Installation;
    return Promise.resolve(latest);
  };
  const machine: Machine<Installation, Snapshot> = {
    kind: installationKind,
    table,
    gather: (picture, now) => ({ self: () => picture, now: () => now, fact }),
    always: ['self', 'now'],
    ...given.machine,
  };
  const ports = {
    write: write as never,
    read: () => Promise.reject(new Error('nothing is read here')),
    now: () => NOW,
    log: silentLogger,
    attempt: given.attempt ?? 0,
    event: (...event: readonly string[]) => void events.push(event.join(' ')),
    entered: (to: string, from?: string) => void entered.push(`${from ?? ''} → ${to}`),
  };
  const heading = { observedGeneration: 1, ...self.status, phase: 'One', ...given.heading };
  const end = await runPhases(machine, self, heading, ports).catch((error: unknown) => error);
  const names = writes.map(([name]) => name);
  const last = writes.at(-1)?.[1] ?? {};
  return { end, writes, names, last, events, entered };
}

export const ended = (end: unknown): unknown => (end as { end?: string }).end;
