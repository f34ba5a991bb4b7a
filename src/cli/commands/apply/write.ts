/** Sends objects by server-side apply, and explains what the API server refuses. */
import { append } from '../../../lib/lists.ts';
import { sleep, type Clock } from '../../../lib/clock.ts';
import { ApiError, Conflict, EspalierError, NotFound } from '../../../runtime/errors.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Obj } from '../../../runtime/types.ts';
import { CommandError } from '../../errors.ts';
import { APPLY_MANAGER, CLI_MANAGER, moveToApply } from '../../field-managers.ts';
import { changedFields } from '../install/changes.ts';
import { batchesOf, eachAtOnce } from './in-batches.ts';
import { placeOf } from './read.ts';
import type { PlannedObject } from './resolve.ts';

type Outcome = 'created' | 'configured' | 'unchanged';

/** An object before and after the write, from the API server; absent before it is created. */
export interface Applied {
  readonly planned: PlannedObject;
  readonly outcome: Outcome;
  readonly before: Obj | undefined;
  readonly after: Obj;
}

interface ApplyPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Whether fields of other managers are taken over. */
  readonly force: boolean;
}

/**
 * Lets the API server check all objects without storing them. Objects that it cannot check yet count as created.
 * @returns one line for each object that it refuses
 */
export async function check(
  planned: readonly PlannedObject[],
  ports: ApplyPorts,
): Promise<{ readonly applied: readonly Applied[]; readonly problems: readonly string[] }> {
  const { results, failure } = await eachAtOnce(planned, (one) => checkOne(one, ports));
  if (failure) throw failure.error;
  return {
    applied: results.filter((result) => typeof result !== 'string'),
    problems: results.filter((result) => typeof result === 'string'),
  };
}

/** @returns why the API server refuses the object, or what it would store */
async function checkOne(one: PlannedObject, ports: ApplyPorts): Promise<Applied | string> {
  if (one.isDeferred) return { planned: one, outcome: 'created', before: undefined, after: one.object };
  try {
    return await send(one, ports, true);
  } catch (error) {
    // A server that cannot be reached is not a mistake in a file.
    if (!(error instanceof ApiError) || error.status === 401 || error.status >= 500) throw error;
    return refusalText(one, error);
  }
}

/**
 * Applies the objects in their order; those that do not need each other at the same time.
 * @throws CommandError with file and document of the object that cannot be written
 */
export async function applyAll(
  planned: readonly PlannedObject[],
  ports: ApplyPorts,
  report: (applied: Applied) => void,
): Promise<readonly Applied[]> {
  const all: Applied[] = [];
  for (const batch of batchesOf(planned)) {
    const write = (one: PlannedObject): Promise<Applied> =>
      untilServed(one, ports, () => send(one, ports, false));
    const { results, failure } = await eachAtOnce(batch, write, report);
    append(all, results);
    if (!failure) continue;
    const { item, error } = failure;
    if (!(error instanceof EspalierError)) throw error;
    const rest = planned.length - all.length - 1;
    throw new CommandError(
      `${refusalText(item, error)}; ${String(all.length)} other objects are applied, ${String(rest)} are not; run the command again`,
      { cause: error },
    );
  }
  return all;
}

async function send(
  planned: PlannedObject,
  { client, force }: ApplyPorts,
  isDryRun: boolean,
): Promise<Applied> {
  const { kind, key, object } = planned;
  const before = await getIfThere(client, kind, key);
  const request = { verb: 'apply', kind, object, manager: APPLY_MANAGER, force, isDryRun } as const;
  const after = await client.send(request).catch(async (error: unknown) => {
    if (!isConflictWithUs(error)) throw error;
    // No other manager owns the fields in conflict, so a dry run may take them over.
    if (isDryRun) return client.send({ ...request, force: true });
    if (!(await moveToApply(client, kind, key))) throw error;
    return client.send(request);
  });
  return { planned, before, after, outcome: outcomeOf(before, after) };
}

function outcomeOf(before: Obj | undefined, after: Obj): Outcome {
  if (!before) return 'created';
  return changedFields(before, after).length > 0 ? 'configured' : 'unchanged';
}

const SERVING_TIMEOUT_MS = 15_000;
const SERVING_PAUSE_MS = 200;

/** A new kind is served a moment after its definition is stored. */
async function untilServed<T>(
  { isDeferred }: PlannedObject,
  { clock }: ApplyPorts,
  ask: () => Promise<T>,
): Promise<T> {
  const giveUpAt = clock.now() + SERVING_TIMEOUT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDeferred || !(error instanceof NotFound) || clock.now() >= giveUpAt) throw error;
      await sleep(clock, SERVING_PAUSE_MS);
    }
  }
}

const managerIn = (message: string): string | undefined => /^conflict with (.+)$/.exec(message)?.[1];

const conflictsIn = (error: unknown): Conflict['causes'] =>
  error instanceof Conflict ? error.causes.filter(({ reason }) => reason === 'FieldManagerConflict') : [];

/** Whether all fields in conflict are managed by other commands of ours. */
function isConflictWithUs(error: unknown): boolean {
  const conflicts = conflictsIn(error);
  return (
    conflicts.length > 0 &&
    conflicts.every(({ message = '' }) => managerIn(message)?.startsWith(`"${CLI_MANAGER}"`))
  );
}

/** The fields that other managers own, or the message of the API server, with file and document. */
export function refusalText({ document }: PlannedObject, error: EspalierError): string {
  const place = placeOf(document);
  const conflicts = conflictsIn(error);
  if (conflicts.length === 0) return `${place}: ${error.message}`;
  const fields = conflicts.map(({ field = 'a field', message = '' }) => {
    const manager = managerIn(message) ?? 'another manager';
    return `${field} is managed by ${manager}`;
  });
  return `${place}: ${fields.join(', ')}; remove these fields from the file, or take them over with --force-conflicts`;
}
