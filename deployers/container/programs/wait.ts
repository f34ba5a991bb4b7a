/**
 * The wait container: after the image has ended, it saves the state, also if the image failed or was stopped. If
 * the image succeeded, it publishes the exports.
 */
import { basename, dirname, join } from 'node:path';
import { sleep } from '../../../src/lib/clock.ts';
import { goJson } from '../../../src/lib/gojson.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { AlreadyExists } from '../../../src/runtime/errors.ts';
import { joinKey } from '../../../src/runtime/keys.ts';
import { secretTaken } from '../../sdk/export-owner.ts';
import { isSame } from '../reserve-names.ts';
import { annotations, CONTAINER_GROUP, keys } from '../contract.ts';
import { SECRET, type Pod, type Secret } from '../kinds.ts';
import { itemOf, labelsOf, namesOf } from '../names.ts';
import type { Environment } from './environment.ts';
import {
  endOfMain,
  exitCodeAfterEnd,
  signalOrEnd,
  timeForMain,
  WaitProblem,
  type WaitPorts,
} from './main-end.ts';
import { withRetries } from './retries.ts';
import { stablePath, UnexpectedFileType, openWithoutFollowing } from './safe-open.ts';
import { saveState } from './state.ts';

/** @throws WaitProblem, FolderProblem, and the errors of requests */
export async function runWait(environment: Environment, ports: WaitPorts): Promise<void> {
  const { pod, isSidecar } = environment;
  ports.log.info({ pod: pod.name }, 'waiting for the main container');
  if (isSidecar) {
    await runSidecar(environment, ports);
    return;
  }
  const exitCode = await endOfMain(environment, ports);
  await save(environment, ports);
  if (exitCode === undefined) throw new WaitProblem('pod terminated while the main container was running');
  await conclude(exitCode, environment, ports);
}

/**
 * Time for the termination signal to arrive, which follows the end of the main container. It never does if it was sent
 * before this program was ready.
 */
const SIGNAL_MS = 3_000;

/**
 * Kubelets stop a native sidecar after the main container has ended, so the state is saved first, and then the exit
 * code is determined. A sidecar that ended before it is stopped would be restarted.
 */
async function runSidecar(environment: Environment, ports: WaitPorts): Promise<void> {
  const { clock, signal } = ports;
  try {
    const early = saveEarly(environment, ports);
    const seen = await signalOrEnd(environment, ports, early.onPod);
    await early.release();
    await save(environment, ports);
    const exitCode = seen ?? (await exitCodeAfterEnd(environment, ports));
    if (exitCode === undefined)
      throw new WaitProblem(
        'pod terminated early: the exit code of the main container is unknown, so nothing is exported',
      );
    await conclude(exitCode, environment, ports);
  } finally {
    await sleep(clock, SIGNAL_MS, signal).catch(() => undefined);
  }
}

/**
 * If the pod is deleted and the main container does not end, it is killed at the end of the grace period, and then
 * no time is left: so its state is saved as it is a while before.
 */
function saveEarly(
  environment: Environment,
  ports: WaitPorts,
): { readonly onPod: (pod: Pod) => void; readonly release: () => Promise<void> } {
  const { clock, log } = ports;
  let cancel: (() => void) | undefined;
  let saving: Promise<void> | undefined;
  return {
    onPod: (pod) => {
      if (pod.metadata.deletionTimestamp === undefined) return;
      cancel ??= clock.at(clock.now() + timeForMain(pod), () => {
        saving = save(environment, ports).catch((error: unknown) => {
          log.warn({ err: error }, 'cannot save the state while the main container is running');
        });
      });
    },
    release: async () => {
      cancel?.();
      await saving;
    },
  };
}

async function save({ item, pod, state }: Environment, ports: WaitPorts): Promise<void> {
  const pieces = await saveState({ ...ports, item, namespace: pod.namespace }, state);
  ports.log.info({ pieces }, pieces === 0 ? 'no state to save' : 'state saved');
}

async function conclude(exitCode: number, environment: Environment, ports: WaitPorts): Promise<void> {
  // Upstream's message with its typo: programs may search for it.
  if (exitCode !== 0) throw new WaitProblem(`main container exists with ${String(exitCode)}`);
  await exportValues(environment, ports);
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
