/**
 * A kubelet for pods of the container deployer that runs their containers as local processes: images are ignored,
 * commands are run, volumes are folders. Programs of ours run from the sources. Pods can access what their mounted
 * token allows.
 */
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { POD, type Pod } from '../../deployers/container/kinds.ts';
import { sleep, systemClock as clock } from '../../src/lib/clock.ts';
import { LOOK_MS, PodRun, type KubeletOptions } from './pod-run.ts';

export class Kubelet {
  /** Names of the pods that have run, once each. */
  readonly runs: string[] = [];
  /** The output of each container so far, by `pod/container`. */
  readonly outputs = new Map<string, string>();
  readonly #options: KubeletOptions;
  readonly #seen = new Set<string>();
  readonly #working = new Set<Promise<void>>();
  readonly #life = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(options: KubeletOptions) {
    this.#options = options;
    setMaxListeners(0, this.#life.signal); // one for each pod that runs
  }

  start(): void {
    this.#loop = this.#look();
  }

  async stop(): Promise<void> {
    this.#life.abort(new Error('the kubelet stops'));
    await this.#loop;
    await Promise.all(this.#working);
  }

  async #look(): Promise<void> {
    const { client, namespace } = this.#options;
    const { signal } = this.#life;
    while (!signal.aborted) {
      for await (const page of client.list(POD, { namespace })) {
        for (const pod of page.items) {
          const uid = pod.metadata.uid ?? '';
          if (this.#seen.has(uid) || pod.metadata.deletionTimestamp) continue;
          this.#seen.add(uid);
          const work = this.#run(pod).finally(() => this.#working.delete(work));
          this.#working.add(work);
        }
      }
      await sleep(clock, LOOK_MS, signal).catch(() => undefined);
    }
  }

  async #run(pod: Pod): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'espalier-pod-'));
    this.runs.push(pod.metadata.name);
    try {
      await new PodRun(pod, folder, this.#options, this.outputs, this.#life.signal).run();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
