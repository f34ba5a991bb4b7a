/** Waits for the end of the main container, and determines its exit code. */
import { sleep, type Clock } from '../../../src/lib/clock.ts';
import { ownField } from '../../../src/lib/objects.ts';
import type { Rng } from '../../../src/lib/rng.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { Forbidden, NotFound } from '../../../src/runtime/errors.ts';
import { joinKey } from '../../../src/runtime/keys.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { containers } from '../contract.ts';
import { POD, type Pod } from '../kinds.ts';
import type { Environment } from './environment.ts';

export interface WaitPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /**
   * The container is stopped. A native sidecar is stopped after the main container has ended, other containers of a
   * pod are stopped at the same time.
   */
  readonly signal?: AbortSignal;
}

/** The image failed, or its export is invalid. */
export class WaitProblem extends Error {
  override readonly name = 'WaitProblem';
}

// ---------------------------------------------------------------- a container beside the main one

/** @returns the exit code; undefined if the pod terminates and the main container does not end in time */
export async function endOfMain(environment: Environment, ports: WaitPorts): Promise<number | undefined> {
  const ending = terminationSignal(environment, ports);
  const exitCode = await waitForMainContainer(environment, ports, ending.signal).finally(ending.release);
  ports.log.info({ exitCode }, exitCode === undefined ? 'no time left' : 'main container exited');
  return exitCode;
}

/** Grace period of a pod that is not deleted itself, for example on a node without memory. */
const USUAL_GRACE_SECONDS = 30;
/** Share of the grace period for the main container; the rest is for saving its state. */
const SHARE = 2 / 3;

function graceOf(metadata: Pod['metadata']): number {
  const grace = ownField(metadata, 'deletionGracePeriodSeconds');
  return typeof grace === 'number' ? grace : USUAL_GRACE_SECONDS;
}

const shareOf = (graceSeconds: number): number => graceSeconds * 1000 * SHARE;

/**
 * Aborts a while after the pod has started to terminate. Kubelets report the exit codes of such a pod only after
 * all containers have ended, so the state is saved as it is at that time; otherwise the work of the image would be
 * lost.
 */
function terminationSignal(
  { pod }: Environment,
  { client, clock, signal, log }: WaitPorts,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const ending = new AbortController();
  let cancel = (): void => undefined;
  const endAt = (since: number, graceSeconds: number): void => {
    cancel();
    cancel = clock.at(since + shareOf(graceSeconds), () => {
      ending.abort(new Error('pod terminating'));
    });
  };
  const terminated = async (): Promise<void> => {
    log.info({ pod: pod.name }, 'pod terminating; waiting for the main container to exit');
    const now = clock.now();
    endAt(now, USUAL_GRACE_SECONDS);
    const { metadata } = await client.get(POD, joinKey(pod.namespace, pod.name), ending.signal);
    endAt(now, graceOf(metadata));
  };
  const listener = (): void => {
    terminated().catch((error: unknown) => {
      log.warn({ err: error }, 'cannot determine how much time is left');
    });
  };
  signal?.addEventListener('abort', listener, { once: true });
  if (signal?.aborted) listener();
  return {
    signal: ending.signal,
    release: () => {
      signal?.removeEventListener('abort', listener);
      cancel();
    },
  };
}

// ---------------------------------------------------------------- a native sidecar

/** Time until the exit code of a main container that has ended is stored, in the usual case. */
const USUAL_MS = 200_000;
/** Kubelets report exit codes of a pod that is deleted or evicted only after all containers have ended. */
const EARLY_MS = 5_000;

/**
 * A pod that is already being deleted at the first read may have sent its signal before this program was ready: then
 * it ends after a while.
 * @returns the exit code; undefined if the main container has ended, as the signal shows, but its code is unknown
 */
export async function signalOrEnd(
  environment: Environment,
  { signal = new AbortController().signal, ...ports }: WaitPorts,
  onPod: (pod: Pod) => void,
): Promise<number | undefined> {
  const late = new AbortController();
  let cancel: (() => void) | undefined;
  const observe = (pod: Pod): void => {
    cancel ??=
      pod.metadata.deletionTimestamp === undefined
        ? () => undefined
        : ports.clock.at(ports.clock.now() + EARLY_MS, () => {
            late.abort(new Error('pod terminating'));
          });
    onPod(pod);
  };
  const ending = AbortSignal.any([signal, late.signal]);
  const exitCode = await waitForMainContainer(environment, ports, ending, observe).finally(() => cancel?.());
  ports.log.info({ exitCode }, 'main container exited');
  return exitCode;
}

/** @returns undefined if it cannot be determined */
export async function exitCodeAfterEnd(
  environment: Environment,
  ports: WaitPorts,
): Promise<number | undefined> {
  const { clock } = ports;
  const limit = new AbortController();
  const end = (): void => {
    limit.abort(new Error('exit code unknown'));
  };
  const cancels = [clock.at(clock.now() + USUAL_MS, end)];
  const onPod = ({ metadata, status }: Pod): void => {
    const isEarly = metadata.deletionTimestamp !== undefined || status?.phase === 'Failed';
    if (isEarly && cancels.length === 1) cancels.push(clock.at(clock.now() + EARLY_MS, end));
  };
  try {
    return await waitForMainContainer(environment, ports, limit.signal, onPod);
  } finally {
    for (const cancel of cancels) cancel();
  }
}

/** How long the main container of a pod that is being deleted may run before its state is saved, in milliseconds. */
export const timeForMain = ({ metadata }: Pod): number => shareOf(graceOf(metadata));

// ---------------------------------------------------------------- the state of the pod

/** Time until the pod is read again if a watch receives no events. */
const WATCH_SECONDS = 30;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;
const FACTOR = 1.25;

/** @returns the exit code; undefined if the signal aborts first */
async function waitForMainContainer(
  environment: Environment,
  { client, clock, log }: WaitPorts,
  signal: AbortSignal,
  onPod: (pod: Pod) => void = () => undefined,
): Promise<number | undefined> {
  const key = joinKey(environment.pod.namespace, environment.pod.name);
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const sleepABit = async (): Promise<void> => {
      await sleep(clock, pauseMs, signal).catch(() => undefined);
      pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * FACTOR);
    };
    try {
      const pod = await client.get(POD, key, signal);
      const exitCode = exitCodeOf(pod);
      if (exitCode !== undefined) return exitCode;
      onPod(pod);
      const seen = await nextChange(environment, pod, { client, clock, signal });
      if (seen === 'closed') await sleepABit();
    } catch (error) {
      if (error instanceof NotFound) throw new WaitProblem(`pod ${key} is gone`, { cause: error });
      if (signal.aborted) break;
      log.warn({ err: error }, 'cannot read the pod; retrying');
      await sleepABit();
    }
  }
  const last = await client.get(POD, key).catch(() => undefined);
  return last && exitCodeOf(last);
}

function exitCodeOf({ status }: Pod): number | undefined {
  const main = status?.containerStatuses?.find(({ name }) => name === containers.main);
  return main?.state?.terminated?.exitCode;
}

/** Resolves with the next change of the pod, after a while without events, or if the watch fails. */
async function nextChange(
  { pod }: Environment,
  { metadata }: Pod,
  { client, clock, signal }: Pick<WaitPorts, 'client' | 'clock'> & { readonly signal: AbortSignal },
): Promise<'changed' | 'closed'> {
  const query = {
    namespace: pod.namespace,
    fields: `metadata.name=${pod.name}`,
    resourceVersion: metadata.resourceVersion ?? '0',
    timeoutSeconds: WATCH_SECONDS,
  };
  const idleTimeout = new AbortController();
  const cancel = clock.at(clock.now() + (WATCH_SECONDS + 5) * 1000, () => {
    idleTimeout.abort(new Error('watch received no events in time'));
  });
  try {
    for await (const frame of client.watch(POD, query, AbortSignal.any([signal, idleTimeout.signal]))) {
      if (frame.type === 'MODIFIED' || frame.type === 'DELETED' || frame.type === 'ADDED') return 'changed';
    }
  } catch (error) {
    // Upstream's service accounts are not allowed to watch.
    if (!(error instanceof Forbidden) && !idleTimeout.signal.aborted) throw error;
  } finally {
    cancel();
  }
  return 'closed';
}
