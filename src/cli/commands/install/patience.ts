/** Writes of installing and uninstalling, which go on after a conflict or a hiccup of the server. */
import type { Clock } from '../../../lib/clock.ts';
import { systemRng, type Rng } from '../../../lib/rng.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { persistently } from '../../../runtime/transport/persistently.ts';
import type { Client, Obj, Write } from '../../../runtime/types.ts';
import { CommandError } from '../../errors.ts';

interface Ports {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng?: Rng;
}

/**
 * @param what to be done, as in `apply ConfigMap a/b`
 * @throws CommandError after the last try; the errors of runtime/errors.ts that do not pass
 */
export const patiently = <T>(
  what: string,
  { clock, rng = systemRng }: Ports,
  ask: () => Promise<T>,
): Promise<T> =>
  persistently(ask, {
    clock,
    rng,
    givenUp: (error, tries) =>
      new CommandError(
        `cannot ${what}, given up after ${String(tries)} tries: ${error.message}; completed steps are kept, so check the API server and run the command again`,
        { cause: error },
      ),
  });

/** Whether the object was there, as far as the answers tell. @throws as `patiently` */
export async function deleteIfThere(
  write: Extract<Write<Obj>, { verb: 'delete' }>,
  ports: Ports,
): Promise<boolean> {
  let tries = 0;
  const { kind, key } = write;
  try {
    await patiently(`delete ${kind.kind} ${key}`, ports, () => {
      tries++;
      return ports.client.send(write);
    });
    return true;
  } catch (error) {
    // An answer may have been lost.
    if (error instanceof NotFound) return tries > 1;
    throw error;
  }
}
