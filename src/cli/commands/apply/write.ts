/** Sends objects by server-side apply, and explains what the API server refuses. */
import { sleep, type Clock } from '../../../lib/clock.ts';
import { ApiError, Conflict, EspalierError, NotFound } from '../../../runtime/errors.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Obj } from '../../../runtime/types.ts';
import { CommandError } from '../../errors.ts';
import { changedFields } from '../install/changes.ts';
import { placeOf } from './read.ts';
import type { PlannedObject } from './resolve.ts';

/** The field manager of the command. */
const APPLY_MANAGER = 'espalier-apply';

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
  const applied: Applied[] = [];
  const problems: string[] = [];
  for (const one of planned) {
    if (one.isDeferred) {
      applied.push({ planned: one, outcome: 'created', before: undefined, after: one.object });
      continue;
    }
    try {
      applied.push(await send(one, ports, true));
    } catch (error) {
      // A server that cannot be reached is not a mistake in a file.
      if (!(error instanceof ApiError) || error.status === 401 || error.status >= 500) throw error;
      problems.push(refusalText(one, error));
    }
  }
  return { applied, problems };
}

/**
 * Applies the objects one after the other.
 * @throws CommandError with file and document of the object that cannot be written; those before it are written
 */
export async function applyAll(
  planned: readonly PlannedObject[],
  ports: ApplyPorts,
  report: (applied: Applied) => void,
): Promise<readonly Applied[]> {
  const all: Applied[] = [];
  for (const one of planned) {
    try {
      const applied = await untilServed(one, ports, () => send(one, ports, false));
      report(applied);
      all.push(applied);
    } catch (error) {
      if (!(error instanceof EspalierError)) throw error;
      const rest = planned.length - all.length - 1;
      throw new CommandError(
        `${refusalText(one, error)}; ${String(all.length)} objects before it are applied, ${String(rest)} after it are not; run the command again`,
        { cause: error },
      );
    }
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
  const after = await client.send({ verb: 'apply', kind, object, manager: APPLY_MANAGER, force, isDryRun });
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

/** The fields that other managers own, or the message of the API server, with file and document. */
export function refusalText({ document }: PlannedObject, error: EspalierError): string {
  const place = placeOf(document);
  const conflicts =
    error instanceof Conflict ? error.causes.filter(({ reason }) => reason === 'FieldManagerConflict') : [];
  if (conflicts.length === 0) return `${place}: ${error.message}`;
  const fields = conflicts.map(({ field = 'a field', message = '' }) => {
    const manager = /^conflict with (.+)$/.exec(message)?.[1] ?? 'another manager';
    return `${field} is managed by ${manager}`;
  });
  return `${place}: ${fields.join(', ')}; remove these fields from the file, or take them over with --force-conflicts`;
}
