/** Watches the definition of a kind: a missing one costs no requests, and a changed one is noticed at once. */
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { compareVersions } from '../cache/versions.ts';
import { watchKind } from '../cache/watch.ts';
import { CustomResourceDefinition } from '../core-kinds.ts';
import { retryPolicies } from '../queue/retry.ts';
import { retryTemporary } from '../transport/retry-temporary.ts';
import type { Client } from '../types.ts';

interface FollowPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** How the conversion of a definition is installed. */
export interface Installation {
  /** Name of the definition, such as `widgets.example.org`. */
  readonly definition: string;
  /** Whether this version of the definition needs no change, such as that of the own write. */
  readonly isSettled: (version: string | undefined) => boolean;
  /** @returns whether it has changed the definition */
  readonly install: () => Promise<boolean>;
}

/** Before the third write and later ones, if another client keeps changing the definition back. */
const pauses = retryPolicies.external;
/** A definition that stays as it is for so long is not contested any more. */
const PEACE_MS = 10 * 60_000;

/**
 * Calls `install` when the definition is created or changes, never twice at the same time, until the signal aborts.
 * Temporary failures are repeated for about 20 s; other ones are logged.
 */
export async function followDefinition(
  { definition, isSettled, install }: Installation,
  { client, clock, rng, log, signal }: FollowPorts,
): Promise<void> {
  const scope = { fields: `metadata.name=${definition}`, metadataOnly: true };
  const options = { ...scope, clock, rng, compare: compareVersions };
  let isBroken = false;
  let writes = 0;
  let writtenAt = -Infinity;
  for await (const event of watchKind(client, CustomResourceDefinition, options, signal)) {
    if (event.type === 'state') {
      const { state } = event;
      if (state.phase === 'waiting' && !isBroken)
        log.warn({ definition, err: state.problem }, 'watch interrupted');
      isBroken = state.phase === 'waiting' || (isBroken && state.phase === 'listing');
    }
    const isThere = event.type === 'object' || (event.type === 'change' && event.change !== 'DELETED');
    if (!isThere || isSettled(event.object.metadata.resourceVersion)) continue;
    try {
      if (clock.now() - writtenAt > PEACE_MS) writes = 0;
      if (writes > 1) await sleep(clock, pauses.delay(writes - 1, rng) ?? 0, signal);
      const isWritten = await retryTemporary(install, { clock, rng, signal, givenUp: (error) => error });
      if (!isWritten) continue;
      writes++;
      writtenAt = clock.now();
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ definition, err: error }, 'writing the conversion of the definition failed');
    }
  }
}
