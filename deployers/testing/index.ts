/**
 * The conformance suite for deployers in any language: it acts as the core on a cluster that the deployer uses, and
 * checks what the deployer writes.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { deployItemKind } from '../../src/api/kinds/deployitem.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Closing } from '../../src/lib/closing.ts';
import { systemRng } from '../../src/lib/rng.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { createCaches } from '../../src/runtime/cache/cache.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { checks, type Check } from './checks.ts';
import { Stage } from './stage.ts';
import type { Subject } from './subject.ts';

export { startTestCluster, type TestCluster } from './cluster.ts';
export { ContractBroken } from './stage.ts';
export { readSubject, SubjectError, type Subject } from './subject.ts';

/** The result of a check; for `skipped` it contains the reason. */
export type Verdict = 'passed' | 'failed' | 'skipped';

/** One rule of the protocol, and whether the deployer follows it. */
export interface CheckResult {
  readonly name: string;
  /** The rule, such as `ends a job with phase, job id and time in one write`. */
  readonly sentence: string;
  readonly verdict: Verdict;
  /** What was seen instead, or why it was skipped. */
  readonly why?: string;
  /** Milliseconds. */
  readonly took: number;
}

/** The cluster for the test, and its time limits. */
export interface ConformanceOptions {
  /** Text of the kubeconfig of a cluster with Landscaper's kinds, on which the deployer runs. */
  readonly kubeconfig: string;
  /** Time limit for each action of the deployer in milliseconds; default 20,000. */
  readonly patienceMs?: number;
  /** Names of checks; default all. */
  readonly only?: readonly string[];
  /** Aborts all checks, and deletes the namespace. */
  readonly signal?: AbortSignal;
  /** The deployer's program and its arguments, which can be asked for plans; default: no checks of plans. */
  readonly command?: readonly string[];
  /** Called when a check has ended. */
  readonly onResult?: (result: CheckResult) => void;
}

const PATIENCE_MS = 20_000;

/**
 * Tests a deployer. All checks run at the same time in a namespace that is deleted afterwards.
 * @returns one result per check, in the order of the suite
 * @throws the errors of src/runtime/errors.ts when the cluster cannot be used; the signal's reason
 */
export async function checkDeployer(
  subject: Subject,
  { kubeconfig, patienceMs = PATIENCE_MS, only, signal: given, command, onResult }: ConformanceOptions,
): Promise<readonly CheckResult[]> {
  const signal = given && AbortSignal.any([given]);
  if (signal) setMaxListeners(0, signal); // Every check adds a listener.
  const clock = systemClock;
  const log = silentLogger;
  const closing = new Closing();
  try {
    const connection = await connect({
      kubeconfig: { text: kubeconfig },
      userAgent: 'deployer-conformance',
      clock,
      log,
    });
    const client = createClient(connection);
    closing.add(() => client.close());
    const caches = createCaches({ client, clock, rng: systemRng, log });
    const items = caches.of(deployItemKind);
    const namespace = `conformance-${randomBytes(4).toString('hex')}`;
    const stage = new Stage(subject, namespace, {
      client,
      items,
      clock,
      kubeconfig,
      patienceMs,
      command,
      ...(signal && { signal }),
    });
    await caches.start(signal ? AbortSignal.any([signal, closing.signal]) : closing.signal);
    signal?.throwIfAborted();
    await stage.open();
    closing.add(() => stage.close());
    const chosen = checks.filter(({ name }) => !only || only.includes(name));
    const results = await Promise.all(
      chosen.map(async (check) => {
        const why = reasonToSkip(check, subject, command);
        const result = await (why === undefined ? carriedOut(check, stage) : skipped(check, why));
        if (!signal?.aborted) onResult?.(result);
        return result;
      }),
    );
    signal?.throwIfAborted();
    return results;
  } finally {
    await closing.close();
  }
}

async function carriedOut(check: Check, stage: Stage): Promise<CheckResult> {
  const { name, sentence } = check;
  const startedAt = performance.now();
  const took = (): number => Math.round(performance.now() - startedAt);
  try {
    await check.run(stage);
    return { name, sentence, verdict: 'passed', took: took() };
  } catch (error) {
    return { name, sentence, verdict: 'failed', why: (error as Error).message, took: took() };
  }
}

const skipped = ({ name, sentence }: Check, why: string): CheckResult => ({
  name,
  sentence,
  verdict: 'skipped',
  why,
  took: 0,
});

function reasonToSkip(
  { name, needs = [], needsCommand }: Check,
  subject: Subject,
  command: readonly string[] = [],
): string | undefined {
  const missing = needs.filter((need) => subject[need] === undefined);
  if (missing.length > 0) return `the description of the deployer has no ${missing.join(' and no ')}`;
  if (needsCommand && command.length === 0) return 'no command given that computes plans';
  return subject.without?.[name];
}
