/** Retries writes of install and uninstall after a conflict or a temporary failure of the API server. */
import type { Clock } from '../../../lib/clock.ts';
import { systemRng, type Rng } from '../../../lib/rng.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { retryTemporary } from '../../../runtime/transport/retry-temporary.ts';
import type { Client, Obj, Write } from '../../../runtime/types.ts';
import { CommandError } from '../../errors.ts';

interface Ports {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng?: Rng;
}

/**
 * @param what the operation, for example `apply ConfigMap a/b`
 * @throws CommandError after the last attempt; the errors of runtime/errors.ts that are permanent
 */
export const withRetries = <T>(
  what: string,
  { clock, rng = systemRng }: Ports,
  ask: () => Promise<T>,
): Promise<T> =>
  retryTemporary(ask, {
    clock,
    rng,
    givenUp: (error, tries) =>
      new CommandError(
        `cannot ${what}, gave up after ${String(tries)} attempts: ${error.message}; completed steps are kept; check the API server and run the command again`,
        { cause: error },
      ),
  });

/** @returns whether the object existed, according to the responses. @throws as `withRetries` */
export async function deleteIfThere(
  write: Extract<Write<Obj>, { verb: 'delete' }>,
  ports: Ports,
): Promise<boolean> {
  let tries = 0;
  const { kind, key } = write;
  try {
    await withRetries(`delete ${kind.kind} ${key}`, ports, () => {
      tries++;
      return ports.client.send(write);
    });
    return true;
  } catch (error) {
    // The response of an earlier attempt may have been lost.
    if (error instanceof NotFound) return tries > 1;
    throw error;
  }
}
