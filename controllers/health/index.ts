/** The health check: once a minute, writes to an LsHealthCheck whether the system's own deployments are healthy. */
import { messageOf } from '../../src/lib/message-of.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import { lsHealthCheckKind, type LsHealthCheck } from '../../src/api/kinds/lshealthcheck.ts';
import { sleep, timestamp, type Clock } from '../../src/lib/clock.ts';
import { mergeDiff } from '../../src/lib/merge.ts';
import type { Rng } from '../../src/lib/rng.ts';
import type { Logger } from '../../src/observability/log.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import { retryPolicies } from '../../src/runtime/queue/retry.ts';
import type { Client, Writer } from '../../src/runtime/types.ts';
import { evaluate, type CheckResult } from './decide.ts';
import { gatherDeployments } from './gather.ts';

/** The deployments to check, and the LsHealthCheck to write. */
export interface HealthSettings {
  readonly namespace: string;
  /** Name of the LsHealthCheck. */
  readonly name: string;
  readonly deployments: readonly string[];
}

export interface HealthPorts {
  readonly settings: HealthSettings;
  /** Whether this replica runs the check; called before each check. Default: it does. */
  readonly isOurs?: () => boolean;
  readonly client: Client;
  readonly write: Writer;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
}

const INTERVAL_MS = 60_000;
const EPOCH = '1970-01-01T00:00:00Z';

/** Repeats the check until it is stopped. Failed requests are logged and retried. */
export function startHealthCheck(ports: HealthPorts): { stop(): Promise<void> } {
  const life = new AbortController();
  const running = repeat(ports, life.signal);
  return {
    async stop() {
      life.abort(new Error('health check stopped'));
      await running;
    },
  };
}

async function repeat(ports: HealthPorts, signal: AbortSignal): Promise<void> {
  const { clock, rng, log, isOurs = () => true } = ports;
  let state: State = { isCleared: false, hasFailed: false };
  for (let failures = 0; !signal.aborted;) {
    try {
      if (isOurs()) state = await check(ports, state, signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      log.warn({ err: messageOf(error) }, 'health check failed');
    }
    const pause = failures === 0 ? INTERVAL_MS : (retryPolicies.growing.delay(failures, rng) ?? INTERVAL_MS);
    await sleep(clock, pause, signal).catch(() => undefined);
  }
}

interface State {
  /** Health checks with other names are deleted. */
  readonly isCleared: boolean;
  readonly hasFailed: boolean;
}

async function check(ports: HealthPorts, state: State, signal: AbortSignal): Promise<State> {
  const { client, settings } = ports;
  if (!state.isCleared) await removeOthers(ports, signal);
  const own = await ensure(ports, signal);
  const deployments = await gatherDeployments(client, settings.namespace, settings.deployments, signal);
  const result = evaluate(deployments, state.hasFailed);
  await writeReport(ports, own, result, signal);
  return { isCleared: true, hasFailed: result.hasFailed };
}

async function removeOthers({ client, write, settings }: HealthPorts, signal: AbortSignal): Promise<void> {
  const { namespace, name } = settings;
  for await (const page of client.list(lsHealthCheckKind, { namespace }, signal)) {
    for (const { metadata } of page.items) {
      if (metadata.name === name) continue;
      const key = `${namespace}/${metadata.name}`;
      await write({ verb: 'delete', kind: lsHealthCheckKind, key }, signal).catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      });
    }
  }
}

async function ensure({ client, write, settings }: HealthPorts, signal: AbortSignal): Promise<LsHealthCheck> {
  const { namespace, name } = settings;
  try {
    return await client.get(lsHealthCheckKind, `${namespace}/${name}`, signal);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  const object: LsHealthCheck = {
    apiVersion: API_VERSION,
    kind: lsHealthCheckKind.kind,
    metadata: { name, namespace },
    status: 'Init',
    description: 'ok',
    lastUpdateTime: EPOCH,
  };
  return write({ verb: 'create', kind: lsHealthCheckKind, object }, signal);
}

/** Every check updates the time, so a stopped health check is visible. */
async function writeReport(
  { write, clock }: HealthPorts,
  own: LsHealthCheck,
  { report }: CheckResult,
  signal: AbortSignal,
): Promise<void> {
  const body = mergeDiff(own, { ...own, ...report, lastUpdateTime: timestamp(clock) });
  if (!body) return;
  await write({ verb: 'merge', kind: lsHealthCheckKind, key: keyOf(own), body }, signal);
}
