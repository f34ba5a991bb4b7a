/** Effects on others during an attack: how long their jobs take, and how long the probe waits. */
import { setTimeout as pause } from 'node:timers/promises';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { mockItem, RECONCILE, root } from '../../support/landscape.ts';
import { awakeMs } from './awake.ts';

/** Waiting times in milliseconds in which this process was awake. A wait that has not ended yet counts with its duration so far. */
export class Waits {
  readonly #ended: { readonly at: number; readonly ms: number }[] = [];
  #since: number | undefined;

  begin(): void {
    this.#since ??= awakeMs();
  }

  end(): void {
    const at = awakeMs();
    if (this.#since !== undefined) this.#ended.push({ at, ms: at - this.#since });
    this.#since = undefined;
  }

  /** Those that ended after `start`, and the current one, each without what it has waited before `start`; sorted. */
  after(start: number): readonly number[] {
    const running = this.#since === undefined ? [] : [awakeMs() - Math.max(this.#since, start)];
    const ended = this.#ended.filter(({ at }) => at >= start).map(({ at, ms }) => Math.min(ms, at - start));
    // The current one counts only if it has waited longer than those that ended.
    return [...ended, ...running.filter((ms) => ms > 1000 || ended.length === 0)].sort((a, b) => a - b);
  }

  endedAfter(start: number): number {
    return this.#ended.filter(({ at }) => at >= start).length;
  }
}

/** The value that the given share of all does not exceed; 0 if there are none. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;

const NAMESPACE = 'canary';
const KEY = `${NAMESPACE}/canary`;
const POLL_MS = 40;
const BETWEEN_JOBS_MS = 100;

/** A small installation in a separate namespace, whose job is repeated without pause. */
export class Canary {
  readonly waits = new Waits();
  /** Jobs that did not end in Succeeded. */
  readonly failures: string[] = [];
  readonly #client: Client;
  #isOver = false;
  #loop: Promise<void> = Promise.resolve();

  constructor(client: Client) {
    this.#client = client;
  }

  static readonly namespace = NAMESPACE;

  /** Resolves after its first job. */
  async start(): Promise<void> {
    const object = root('canary', { items: [mockItem('sings')] });
    const inNamespace = { ...object, metadata: { ...object.metadata, namespace: NAMESPACE } };
    await this.#client.send({ verb: 'create', kind: installationKind, object: inNamespace });
    await this.#untilEnd(undefined);
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.waits.begin();
      try {
        const { status } = await this.#client.get(installationKind, KEY);
        const body = { metadata: { annotations: RECONCILE } };
        await this.#client.send({ verb: 'merge', kind: installationKind, key: KEY, body });
        const phase = await this.#untilEnd(status?.jobID);
        if (phase !== undefined && phase !== 'Succeeded') this.failures.push(`a job ended ${phase}`);
        if (phase !== undefined) this.waits.end();
      } catch (error) {
        this.failures.push(String(error));
        await pause(BETWEEN_JOBS_MS);
      }
      await pause(BETWEEN_JOBS_MS);
    }
  }

  /** The phase at the end of the job after this one; undefined if the canary was stopped. */
  async #untilEnd(before: string | undefined): Promise<string | undefined> {
    while (!this.#isOver) {
      const { status } = await this.#client.get<Installation>(installationKind, KEY);
      const { jobID, jobIDFinished, phase } = status ?? {};
      if (jobID !== undefined && jobID !== before && jobID === jobIDFinished) return phase;
      await pause(POLL_MS);
    }
    return undefined;
  }
}

const PROBE_EVERY_MS = 250;
/** Longer than any limit in the tests: a probe that takes as long is a failure anyway. */
const PROBE_PATIENCE_MS = 20_000;

/** Calls `/healthz` without pause. */
export class Probe {
  readonly waits = new Waits();
  readonly #url: string;
  readonly #over = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  /** Resolves when the process is ready. @param endOf reason why it never will be */
  async start(endOf: () => string | undefined): Promise<void> {
    while ((await this.#status('/readyz')) !== 200) {
      const end = endOf();
      if (end !== undefined) throw new Error(end);
      await pause(PROBE_EVERY_MS);
    }
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      this.waits.begin();
      if ((await this.#status('/healthz')) === 200) this.waits.end();
      await pause(PROBE_EVERY_MS, undefined, { signal: this.#over.signal }).catch(() => undefined);
    }
  }

  async #status(path: string): Promise<number> {
    try {
      const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(PROBE_PATIENCE_MS)]);
      const answer = await fetch(this.#url + path, { signal });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  }
}
