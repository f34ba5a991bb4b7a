/** Installs or updates our CustomResourceDefinitions and waits until the server serves them. */
import { setMaxListeners } from 'node:events';
import { loadCrds } from '../api/crds.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import { systemRng, type Rng } from '../lib/rng.ts';
import type { Logger } from '../observability/log.ts';
import { crdKind, type CustomResourceDefinition } from '../runtime/core-kinds.ts';
import { ApiError, EspalierError, ShutdownError } from '../runtime/errors.ts';
import { mayPass } from '../runtime/failure.ts';
import { exponential } from '../runtime/retry.ts';
import type { Client } from '../runtime/types.ts';

/** The API server took our kinds, and does not serve them. */
export class CrdsNotServed extends EspalierError {}

/** The API server did not take one of our kinds, however often it was sent. */
export class CrdsNotApplied extends EspalierError {}

/** About 20 s in all: nine tries. */
const pauses = exponential({ initialMs: 200, factor: 2, maxMs: 5_000, jitter: 0.1, maxAttempts: 8 });
/** A server that asks for more patience gets no more than this at a time. */
const MAX_ASKED_MS = 30_000;
const DEADLINE_MS = 30_000;
const INTERVAL_MS = 50;

interface Ports {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rng: Rng;
  readonly signal?: AbortSignal | undefined;
}

/**
 * @param more.signal ends the pauses between tries
 * @throws CrdsNotApplied when a definition cannot be written in several tries; CrdsNotServed when one is not served
 *   in time; ShutdownError when the signal came first; the errors of runtime/errors.ts
 */
export async function ensureCrds(
  client: Client,
  clock: Clock,
  log: Logger,
  more: { readonly rng?: Rng; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const ports = { client, clock, log, rng: more.rng ?? systemRng, signal: more.signal };
  if (more.signal) setMaxListeners(0, more.signal); // every definition's pause listens
  const wanted = loadCrds() as unknown as CustomResourceDefinition[];
  const written = await Promise.all(wanted.map((object) => applied(object, ports)));
  const deadline = clock.now() + DEADLINE_MS;
  await Promise.all(written.map((crd) => established(crd, deadline, ports)));
  log.info({ count: wanted.length }, 'CustomResourceDefinitions are installed');
}

const applied = (object: CustomResourceDefinition, ports: Ports): Promise<CustomResourceDefinition> =>
  persistently(object.metadata.name, ports, () =>
    ports.client.send({ verb: 'apply', kind: crdKind, object, manager: 'espalier-crds', force: true }),
  );

async function established(crd: CustomResourceDefinition, deadline: number, ports: Ports): Promise<void> {
  const { client, clock } = ports;
  const { name } = crd.metadata;
  for (let now = crd; !isServed(now);) {
    if (clock.now() > deadline) {
      const refused = now.status?.conditions?.find((c) => c.type === 'NamesAccepted' && c.status === 'False');
      throw new CrdsNotServed(
        `CustomResourceDefinition ${name} is not served after 30 s${refused?.message ? `: ${refused.message}` : ''}`,
      );
    }
    await pause(INTERVAL_MS, ports);
    now = await persistently(name, ports, () => client.get(crdKind, name));
  }
}

/** Asks again after what may pass: somebody else's write at the same time, a server that is busy, broken or away. */
async function persistently<T>(name: string, ports: Ports, ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EspalierError) || !(isConflict(error) || mayPass(error))) throw error;
      const ms = pauses.delay(tries, ports.rng);
      if (ms === undefined) {
        throw new CrdsNotApplied(
          `CustomResourceDefinition ${name} cannot be installed, given up after ${String(tries)} tries: ${error.message}`,
          { cause: error },
        );
      }
      const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
      const pauseMs = Math.round(Math.max(ms, Math.min(askedMs, MAX_ASKED_MS)));
      const fields = { crd: name, tries, pauseMs, err: error.message };
      ports.log.warn(fields, 'a CustomResourceDefinition cannot be installed yet; trying again');
      await pause(pauseMs, ports);
    }
  }
}

/** @throws ShutdownError when the signal aborts first */
const pause = (ms: number, { clock, signal }: Ports): Promise<void> =>
  sleep(clock, ms, signal).catch((cause: unknown) => {
    throw new ShutdownError('stopped before the CustomResourceDefinitions were installed', { cause });
  });

/** Also of two that create it at the same time. */
const isConflict = (error: EspalierError): boolean => error instanceof ApiError && error.status === 409;

const isServed = (crd: CustomResourceDefinition): boolean =>
  crd.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True') ?? false;
