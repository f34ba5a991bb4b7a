/** Installs or updates our CustomResourceDefinitions and waits until the API server serves them. */
import { setMaxListeners } from 'node:events';
import { loadCrds } from '../api/crds.ts';
import { jobRecordKind } from '../api/landscaper-kinds.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import { systemRng, type Rng } from '../lib/rng.ts';
import type { Logger } from '../observability/log.ts';
import { CustomResourceDefinition } from '../runtime/core-kinds.ts';
import { EspalierError, ShutdownError } from '../runtime/errors.ts';
import { retryTemporary } from '../runtime/transport/retry-temporary.ts';
import type { Client } from '../runtime/types.ts';

/** The API server accepted one of our CustomResourceDefinitions but does not serve it. */
export class CrdsNotServed extends EspalierError {}

/** The API server did not accept one of our CustomResourceDefinitions, although the request was retried. */
export class CrdsNotApplied extends EspalierError {}

/** Field manager of the definitions. */
export const CRD_MANAGER = 'espalier-crds';

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
 * @param more.signal ends the pauses between retries
 * @param more.hasJournal whether jobs are recorded; otherwise the definition of the records is not needed
 * @throws CrdsNotApplied if a definition cannot be written after several attempts; CrdsNotServed if one is not
 * served in time; ShutdownError if the signal aborts first; the errors of runtime/errors.ts
 */
export async function ensureCrds(
  client: Client,
  clock: Clock,
  log: Logger,
  more: { readonly rng?: Rng; readonly signal?: AbortSignal; readonly hasJournal?: boolean } = {},
): Promise<void> {
  const ports = { client, clock, log, rng: more.rng ?? systemRng, signal: more.signal };
  if (more.signal) setMaxListeners(0, more.signal); // the pause of every definition adds a listener
  const wanted = (loadCrds() as unknown as CustomResourceDefinition[]).filter(
    ({ spec }) => more.hasJournal === true || spec?.group !== jobRecordKind.group,
  );
  const written = await Promise.all(wanted.map((object) => applyCrd(object, ports)));
  const deadline = clock.now() + DEADLINE_MS;
  await Promise.all(written.map((crd) => waitUntilServed(crd, deadline, ports)));
  log.info({ count: wanted.length }, 'CustomResourceDefinitions installed');
}

const applyCrd = (object: CustomResourceDefinition, ports: Ports): Promise<CustomResourceDefinition> =>
  withRetries(object.metadata.name, ports, () =>
    ports.client.send({
      verb: 'apply',
      kind: CustomResourceDefinition,
      object,
      manager: CRD_MANAGER,
      force: true,
    }),
  );

async function waitUntilServed(crd: CustomResourceDefinition, deadline: number, ports: Ports): Promise<void> {
  const { client, clock } = ports;
  const { name } = crd.metadata;
  for (let now = crd; !isServed(now);) {
    if (clock.now() > deadline) {
      const refused = now.status?.conditions?.find((c) => c.type === 'NamesAccepted' && c.status === 'False');
      throw new CrdsNotServed({
        message: `CustomResourceDefinition ${name} is not served after 30 s${refused?.message ? `: ${refused.message}` : ''}`,
      });
    }
    await pause(INTERVAL_MS, ports);
    now = await withRetries(name, ports, () => client.get(CustomResourceDefinition, name));
  }
}

const withRetries = <T>(name: string, ports: Ports, ask: () => Promise<T>): Promise<T> =>
  retryTemporary(ask, {
    clock: ports.clock,
    rng: ports.rng,
    signal: ports.signal,
    onPause(error, tries, pauseMs) {
      const fields = { crd: name, tries, pauseMs, err: error.message };
      ports.log.warn(fields, 'installing a CustomResourceDefinition failed; retrying');
    },
    givenUp: (error, tries) =>
      new CrdsNotApplied({
        message: `CustomResourceDefinition ${name} cannot be installed, gave up after ${String(tries)} attempts: ${error.message}`,
        cause: error,
      }),
  }).catch((error: unknown) => {
    throw ports.signal?.aborted && error === ports.signal.reason ? shutdownError(error) : error;
  });

/** @throws ShutdownError when the signal aborts first */
const pause = (ms: number, { clock, signal }: Ports): Promise<void> =>
  sleep(clock, ms, signal).catch((cause: unknown) => {
    throw shutdownError(cause);
  });

const shutdownError = (cause: unknown): Error =>
  new ShutdownError({ message: 'stopped before the CustomResourceDefinitions were installed', cause });

const isServed = (crd: CustomResourceDefinition): boolean =>
  crd.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True') ?? false;
