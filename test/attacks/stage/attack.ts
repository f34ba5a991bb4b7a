/** Attacks as tests: each runs while the canary measures; its effect on the canary is printed and checked. */
import { skip } from '../../support/skip.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { cutMiddle } from '../../../src/lib/cut.ts';
import type { LastError } from '../../../src/api/shared.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { awakeMs } from './awake.ts';
import { percentile } from './measure.ts';
import { Stage, until } from './stage.ts';

/** The limits for every attack. */
export const CANARY_P95_MS = 5_000;
export const HEALTHZ_MS = 2_000;

const WATCH_AT_LEAST_MS = 3_000;
const AFTER_RESTART_MS = 4_000;
const POLL_MS = 250;
const MIB = 2 ** 20;

interface Ended extends Obj {
  readonly status?: {
    readonly phase?: string;
    readonly jobID?: string;
    readonly jobIDFinished?: string;
    readonly lastError?: Pick<LastError, 'message'>;
  };
}

/** The environment of an attack. */
export interface Scene {
  readonly client: Client;
  /** A separate namespace. */
  readonly namespace: string;
  readonly stage: Stage;
  create<T extends Obj>(kind: Kind<T>, object: T): Promise<T>;
}

/** An object of the attacker, and its expected end. */
export interface Victim {
  readonly kind: Kind;
  readonly name: string;
  /** Default: Failed */
  readonly phase?: RegExp;
  /** The message has to contain these: the limit, and the key that raises it if there is one. */
  readonly says: readonly RegExp[];
}

export interface Attack {
  readonly title: string;
  /** Setup that is not measured. */
  prepare?(scene: Scene): Promise<void>;
  /** Starts the attack. @returns the objects that have to end */
  launch(scene: Scene): Promise<readonly Victim[]>;
  /** More checks after the objects have ended. @returns text for the report */
  after?(scene: Scene): Promise<string>;
  /** Stops everything the attack has started outside of the product. */
  cleanUp?(): Promise<void>;
  /** Maximum time until the objects end; default 30 s. */
  readonly patienceMs?: number;
}

export interface Group {
  readonly title: string;
  /** As in the file for `espalier install --config`. */
  readonly configuration?: object;
  readonly attacks: readonly Attack[];
}

interface Settled extends Victim {
  readonly key: string;
  readonly version: string;
}

/** Runs attacks on one process, one after the other; a damaged process is replaced. Afterwards it is restarted. */
export function attacks({ title, configuration, attacks: list }: Group): void {
  describe(title, function () {
    // Every wait below has its own timeout with a better message.
    this.timeout(0);
    let stage: Stage | undefined;
    let settled: Settled[] = [];
    let number = 0;

    const open = async (): Promise<Stage> => (stage ??= await Stage.open(configuration));
    const close = async (): Promise<void> => {
      settled = [];
      const old = stage;
      stage = undefined;
      await old?.close();
    };
    after(close);

    for (const attack of list) {
      it(attack.title, async () => {
        const scene = await sceneOn(await open(), `attacker-${String(++number)}`);
        try {
          settled.push(...(await carriedOut(attack, scene)));
        } catch (error) {
          // Damage to the process must not affect the attacks that follow.
          await close();
          throw error;
        } finally {
          await attack.cleanUp?.();
        }
      });
    }

    it('does not harm the next process, which does not write to the objects', async function () {
      if (!stage || settled.length === 0)
        return skip(this, 'there are no objects left: the attacks have failed, or leave nothing behind');
      await restarted(stage, settled);
    });
  });
}

async function sceneOn(stage: Stage, namespace: string): Promise<Scene> {
  await stage.namespace(namespace);
  const { client } = stage;
  return {
    client,
    namespace,
    stage,
    create: (kind, object) =>
      client.send({
        verb: 'create',
        kind,
        object: { ...object, metadata: { ...object.metadata, namespace } },
      }),
  };
}

async function carriedOut(attack: Attack, scene: Scene): Promise<readonly Settled[]> {
  await attack.prepare?.(scene);
  // Failures of the canary before the attack do not count.
  await aJobHasEnded(scene.stage, awakeMs());
  const watch = watching(scene.stage);
  const settled: Settled[] = [];
  const words: string[] = [];
  let failure: Error | undefined;
  try {
    const victims = await attack.launch(scene);
    const deadline = watch.start + (attack.patienceMs ?? 30_000);
    for (const victim of victims) {
      const { object, message } = await ended(scene, victim, deadline - performance.now());
      const line = `${victim.kind.kind} ${victim.name} after ${seconds(performance.now() - watch.start)}: ${message}`;
      // Of many similar objects the first and the last are enough.
      if (victims.length <= 3 || victim === victims[0] || victim === victims.at(-1)) words.push(line);
      settled.push({ ...victim, ...keyOf(object) });
    }
    if (attack.after) words.push(await attack.after(scene));
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  await pause(Math.max(0, watch.start + WATCH_AT_LEAST_MS - performance.now()));
  await aJobHasEnded(scene.stage, watch.awakeStart);
  const problems = watch.finish(words);
  if (failure && scene.stage.controllers.program.end === undefined) throw failure;
  expect(problems.join('; '), 'what the others noticed').to.equal('');
  return settled;
}

/** Whether the canary is too slow is judged later; this only gives it time to report. @param start of `awakeMs` */
const aJobHasEnded = (stage: Stage, start: number): Promise<unknown> =>
  until(
    'a job of the canary has ended',
    () => stage.controllers.program.end ?? (stage.canary.waits.endedAfter(start) > 0 ? true : undefined),
    { patienceMs: 2 * CANARY_P95_MS },
  ).catch(() => undefined);

/** Waits for the end of an object, and returns its message. */
async function ended(
  { client, namespace, stage }: Scene,
  { kind, name, phase = /^Failed$/, says }: Victim,
  patienceMs: number,
): Promise<{ object: Ended; message: string }> {
  let last = 'nothing';
  const object = await until(
    `${kind.kind} ${name} has ended`,
    async () => {
      const { end } = stage.controllers.program;
      if (end !== undefined) throw new Error(`the process ${end}`);
      const found = await client.get<Ended>(kind, `${namespace}/${name}`);
      const { status } = found;
      last = `${status?.phase ?? 'no phase'}, ${status?.lastError?.message ?? 'no message'}`;
      return status?.jobID !== undefined && status.jobID === status.jobIDFinished ? found : undefined;
    },
    { patienceMs, everyMs: POLL_MS },
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}; it is ${last.slice(0, 300)}`, { cause: error });
  });
  const message = object.status?.lastError?.message ?? '';
  expect(object.status?.phase, `${name}: ${last}`).to.match(phase);
  const unsaid = says.filter((pattern) => !pattern.test(message));
  if (unsaid.length > 0)
    throw new Error(`${name} does not say ${unsaid.join(', ')}: ${cutMiddle(message, 2_000)}`);
  return { object, message: cutMiddle(message.replaceAll('\n', ' '), 400) };
}

const keyOf = ({ metadata }: Obj): Pick<Settled, 'key' | 'version'> => ({
  key: `${metadata.namespace ?? ''}/${metadata.name}`,
  version: metadata.resourceVersion ?? '',
});

/** The waiting times from now on. */
function watching(stage: Stage) {
  const { controllers, canary, probe } = stage;
  const start = performance.now();
  const awakeStart = awakeMs();
  const failuresBefore = canary.failures.length;
  controllers.memory.takePeak();
  return {
    start,
    awakeStart,
    /** Prints the measurements. @returns those that exceed their limit */
    finish(words: readonly string[]): readonly string[] {
      const jobs = canary.waits.after(awakeStart);
      const p95 = percentile(jobs, 0.95);
      const slowest = probe.waits.after(awakeStart).at(-1) ?? 0;
      const peak = controllers.memory.takePeak();
      const failures = canary.failures.slice(failuresBefore);
      const { end } = controllers.program;
      const { bytes, held } = controllers.memory;
      const silence = controllers.program.longestSilence(start);
      print(
        `canary: ${String(canary.waits.endedAfter(awakeStart))} jobs, p50 ${seconds(percentile(jobs, 0.5))}, p95 ${seconds(p95)}, ` +
          `max ${seconds(jobs.at(-1) ?? 0)}; healthz at worst ${seconds(slowest)}; ` +
          `main thread silent for at most ${String(silence.ms)} ms (${String(silence.cpuMs)} ms of CPU); ` +
          `memory at most ${String(Math.round(peak / MIB))} MiB of ${String(bytes / MIB)} (${held})`,
      );
      words.forEach(print);
      return [
        ...(end === undefined ? [] : [`the process ${end}`]),
        ...(peak > bytes ? [`it took ${String(Math.round(peak / MIB))} MiB`] : []),
        ...(canary.waits.endedAfter(awakeStart) === 0 ? ['no job of the canary ended'] : []),
        ...(p95 > CANARY_P95_MS ? [`the canary took ${seconds(p95)} at p95`] : []),
        ...(slowest > HEALTHZ_MS ? [`/healthz took ${seconds(slowest)}`] : []),
        ...(failures.length > 0 ? [`the canary failed: ${failures[0] ?? ''}`] : []),
      ];
    },
  };
}

async function restarted(stage: Stage, settled: readonly Settled[]): Promise<void> {
  await stage.restart();
  const watch = watching(stage);
  await pause(AFTER_RESTART_MS);
  await aJobHasEnded(stage, watch.start);
  const changed: string[] = [];
  for (const { kind, key, version } of settled) {
    const { metadata } = await stage.client.get(kind, key);
    if (metadata.resourceVersion !== version) changed.push(`${kind.kind} ${key}`);
  }
  const problems = watch.finish([]);
  expect(problems.join('; '), 'what the others noticed').to.equal('');
  expect(changed, 'objects that were written again').to.deep.equal([]);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const print = (line: string): void => {
  console.log(`      ${line}`);
};
