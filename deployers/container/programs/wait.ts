/**
 * The wait container: after the image has ended, it saves the state, also if the image failed or was stopped. If
 * the image succeeded, it publishes the exports.
 */
import { basename, dirname, join } from 'node:path';
import { sleep, type Clock } from '../../../src/lib/clock.ts';
import { goJson } from '../../../src/lib/gojson.ts';
import { ownField } from '../../../src/lib/objects.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import type { Rng } from '../../../src/lib/rng.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { AlreadyExists, Forbidden, NotFound } from '../../../src/runtime/errors.ts';
import { joinKey } from '../../../src/runtime/keys.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { secretTaken } from '../../sdk/export-owner.ts';
import { isSame } from '../reserve-names.ts';
import { annotations, CONTAINER_GROUP, containers, keys } from '../contract.ts';
import { POD, SECRET, type Pod, type Secret } from '../kinds.ts';
import { itemOf, labelsOf, namesOf } from '../names.ts';
import type { Environment } from './environment.ts';
import { withRetries } from './retries.ts';
import { stablePath, UnexpectedFileType, openWithoutFollowing } from './safe-open.ts';
import { saveState } from './state.ts';

interface WaitPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** The pod is being terminated; all its containers receive the signal at the same time. */
  readonly signal?: AbortSignal;
}

/** The image failed, or its export is invalid. */
class WaitProblem extends Error {
  override readonly name = 'WaitProblem';
}

/** @throws WaitProblem, FolderProblem, and the errors of requests */
export async function runWait(environment: Environment, ports: WaitPorts): Promise<void> {
  const { item, pod, state } = environment;
  const { log } = ports;
  log.info({ pod: pod.name }, 'waiting for the main container');
  const ending = terminationSignal(environment, ports);
  const exitCode = await waitForMainContainer(environment, ports, ending.signal).finally(ending.release);
  log.info({ exitCode }, exitCode === undefined ? 'no time left' : 'main container exited');
  const pieces = await saveState({ ...ports, item, namespace: pod.namespace }, state);
  log.info({ pieces }, pieces === 0 ? 'no state to save' : 'state saved');
  if (exitCode === undefined) throw new WaitProblem('pod terminated while the main container was running');
  // Upstream's message with its typo: programs may search for it.
  if (exitCode !== 0) throw new WaitProblem(`main container exists with ${String(exitCode)}`);
  await exportValues(environment, ports);
}

// ---------------------------------------------------------------- waiting

/** Time until the pod is read again if a watch receives no events. */
const WATCH_SECONDS = 30;
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 30_000;
const FACTOR = 1.25;

/** Grace period of a pod that is not deleted itself, for example on a node without memory. */
const USUAL_GRACE_SECONDS = 30;
/** Share of the grace period for the main container; the rest is for saving its state. */
const SHARE = 2 / 3;

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
    cancel = clock.at(since + graceSeconds * 1000 * SHARE, () => {
      ending.abort(new Error('pod terminating'));
    });
  };
  const terminated = async (): Promise<void> => {
    log.info({ pod: pod.name }, 'pod terminating; waiting for the main container to exit');
    const now = clock.now();
    endAt(now, USUAL_GRACE_SECONDS);
    const { metadata } = await client.get(POD, joinKey(pod.namespace, pod.name), ending.signal);
    const grace = ownField(metadata, 'deletionGracePeriodSeconds');
    if (typeof grace === 'number') endAt(now, grace);
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

/** @returns the exit code; undefined if the signal aborts first */
async function waitForMainContainer(
  environment: Environment,
  { client, clock, log }: WaitPorts,
  signal: AbortSignal,
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

// ---------------------------------------------------------------- exports

async function exportValues(environment: Environment, ports: WaitPorts): Promise<void> {
  const { exports, item, pod } = environment;
  const { client, log } = ports;
  const text = await readText(exports);
  if (text === undefined) {
    log.info({}, 'no exports written');
    return;
  }
  const object: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: namesOf(item).export,
      namespace: pod.namespace,
      labels: labelsOf(item, CONTAINER_GROUP),
      annotations: { [annotations.item]: `${item.namespace}/${item.name}` },
    },
    data: { [keys.data]: asJson(text, exports).toString('base64') },
  };
  await withRetries(ports, async () => {
    try {
      await client.send({ verb: 'create', kind: SECRET, object });
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      const { data } = object;
      const key = joinKey(pod.namespace, object.metadata.name);
      const there = await client.get(SECRET, key);
      const owner = itemOf(there);
      if (!owner || !isSame(owner, item)) throw new WaitProblem(secretTaken(key, item));
      const { uid } = there.metadata;
      await client.send({ verb: 'merge', kind: SECRET, key, body: { metadata: { uid }, data } });
    }
  });
  log.info({}, 'exports written');
}

/** Larger than a secret, to allow for comments in a YAML file. */
const MAX_FILE_BYTES = 2 ** 24;
const MAX_SECRET_BYTES = 2 ** 20;

/** @throws WaitProblem if it is not a file or too large */
async function readText(file: string): Promise<string | undefined> {
  try {
    const folder = await openWithoutFollowing(dirname(file), 'directory');
    try {
      const handle = await openWithoutFollowing(
        join(stablePath(folder, dirname(file)), basename(file)),
        'file',
      );
      try {
        const { size } = await handle.stat();
        if (size > MAX_FILE_BYTES) throw tooBig(file, size);
        return await handle.readFile('utf8');
      } finally {
        await handle.close();
      }
    } finally {
      await folder.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof UnexpectedFileType)) throw error;
    const what = error.isLink ? 'a symbolic link' : 'not a file in a folder';
    throw new WaitProblem(`the export ${file} is ${what}; only files can be exported`, { cause: error });
  }
}

const tooBig = (file: string, bytes: number): WaitProblem =>
  new WaitProblem(
    `the export ${file} has ${String(bytes)} bytes; it is stored in a secret, which can contain at most ${String(MAX_SECRET_BYTES)} bytes`,
  );

/** The message of a parser would show the content. @throws WaitProblem */
function asJson(text: string, file: string): Buffer {
  let json: Buffer;
  try {
    json = Buffer.from(goJson(parseYaml(text, { integers: 'exact' })));
  } catch {
    throw new WaitProblem(`the export in ${file} is not valid JSON or YAML`);
  }
  if (json.length > MAX_SECRET_BYTES) throw tooBig(file, json.length);
  return json;
}
