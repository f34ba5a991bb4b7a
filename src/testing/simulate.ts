/** Runs an operator many times under random faults and interleavings, which a seed determines. */
import { drawFaults } from './network/faults.ts';
import { SimulatedCluster } from './cluster/simulated-cluster.ts';
import { describeObject } from './cluster/local-cluster.ts';
import type { BuiltInLaw, Scenario } from './scenario.ts';
import { Violation } from './violation.ts';

/** Which runs. */
export interface SimulateOptions {
  /** Number of seeds; default 30. */
  readonly seeds?: number;
  /** The first one; default 1. */
  readonly from?: number;
  /** Only this one, to replay a failure. */
  readonly seed?: number;
  /** Called with every step, such as requests, faults and timers. */
  readonly onLine?: (line: string) => void;
}

/** A run failed. The message contains the violation, the last steps, and how to replay them. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
  readonly seed: number;
  /** The broken law; undefined if `act` or `check` threw an error. */
  readonly law: string | undefined;

  constructor(seed: number, cause: Error, steps: readonly string[]) {
    const law = cause instanceof Violation ? cause.law : undefined;
    const sentence = law === undefined ? 'failed' : `broke "${law}"`;
    const trace = steps.map((line) => `  ${line}`).join('\n');
    super(
      `seed ${String(seed)} ${sentence}: ${cause.message}\nthe last steps:\n${trace}\nreplay it with { seed: ${String(seed)} }`,
      { cause },
    );
    this.seed = seed;
    this.law = law;
  }
}

const SEEDS = 30;
const LAST_STEPS = 40;
/** Renewals of Leases would hide the steps before them. */
const isWork = (line: string): boolean => !/\bLease\b/.test(line);
/** Longer than most periodic work of operators. */
const HOLD_MS = 6 * 60_000;

/**
 * Runs a scenario once for each seed. The same seed gives the same run.
 * @param scenario called for each seed, so that fakes of services start empty
 * @returns the number of steps of all runs
 * @throws SimulationFailure for the first seed that fails
 */
export async function simulate(scenario: () => Scenario, options: SimulateOptions = {}): Promise<number> {
  const { from = 1, seeds = SEEDS, seed: only, onLine } = options;
  const first = only ?? from;
  const last = only ?? from + seeds - 1;
  let steps = 0;
  for (let seed = first; seed <= last; seed++) steps += await runSeed(scenario(), seed, onLine);
  return steps;
}

async function runSeed(
  scenario: Scenario,
  seed: number,
  onLine: ((line: string) => void) | undefined,
): Promise<number> {
  const cluster = await SimulatedCluster.start(scenario, seed, scenario.laws);
  const { scheduler } = cluster;
  scheduler.trace.listener = onLine;
  try {
    await live(cluster, scenario);
    return scheduler.taken;
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error));
    throw new SimulationFailure(seed, cause, scheduler.trace.last(LAST_STEPS, isWork));
  } finally {
    await cluster.close();
  }
}

async function live(cluster: SimulatedCluster, scenario: Scenario): Promise<void> {
  const { scheduler } = cluster;
  const say = (text: string): void => scheduler.trace.note(() => `---- ${text}`);
  const chance = cluster.chance('story');
  const holds = (law: BuiltInLaw): boolean => scenario.without?.[law] === undefined;

  say('faults');
  cluster.trouble(drawFaults(cluster.chance('fault rates')));
  cluster.boot();
  await scenario.act(cluster);
  await cluster.advance(chance.pick([0, 5_000, 20_000, 60_000]));
  say('end of faults');
  await cluster.settle();
  await scenario.check(cluster);
  await (holds('every write changes something') ? useful : run)(cluster, () => rest(cluster, { say, holds }));
  if (!holds('a deletion leaves nothing')) return;
  say('all primaries are deleted, with faults');
  cluster.trouble(drawFaults(cluster.chance('fault rates of the deletion')));
  await deletePrimaries(cluster);
  await cluster.advance(chance.pick([0, 5_000, 20_000]));
  say('end of faults');
  await cluster.settle();
  const left = [...primariesOf(cluster), ...cluster.createdBy('operator')]
    .map(({ object }) => object)
    .filter((object) => !(scenario.keeps?.(object) ?? false));
  if (left.length > 0) throw new Violation('a deletion leaves nothing', left.map(describeObject).join('\n'));
}

const run = (_cluster: SimulatedCluster, work: () => Promise<void>): Promise<void> => work();

interface Story {
  readonly say: (text: string) => void;
  readonly holds: (law: BuiltInLaw) => boolean;
}

/** The operator has nothing to do, before and after a restart. */
async function rest(cluster: SimulatedCluster, { say, holds }: Story): Promise<void> {
  if (holds('a settled operator writes nothing')) {
    say('time passes');
    await unchanged(cluster, 'a settled operator writes nothing', () => cluster.advance(HOLD_MS));
  }
  if (holds('a restart writes nothing')) {
    say('a restart');
    await unchanged(cluster, 'a restart writes nothing', async () => {
      cluster.crashAll();
      await cluster.settle();
    });
  }
}

async function unchanged(
  cluster: SimulatedCluster,
  law: BuiltInLaw,
  work: () => Promise<void>,
): Promise<void> {
  const { changes } = cluster;
  const from = cluster.writes.length;
  await work();
  if (cluster.changes !== changes) throw new Violation(law, cluster.writes.slice(from).join('\n'));
}

/** Without faults, so that no write is a repetition of one whose answer was lost. */
async function useful(cluster: SimulatedCluster, work: () => Promise<void>): Promise<void> {
  const from = cluster.idleWrites.length;
  await work();
  const idle = cluster.idleWrites.slice(from);
  if (idle.length > 0) throw new Violation('every write changes something', idle.join('\n'));
}

/** Primaries that the user created. */
const primariesOf = (cluster: SimulatedCluster) =>
  cluster
    .createdBy('user')
    .filter(({ kind }) =>
      cluster.primaries.some((each) => each.group === kind.group && each.kind === kind.kind),
    );

async function deletePrimaries(cluster: SimulatedCluster): Promise<void> {
  for (const { kind, object } of cluster.random.shuffled(primariesOf(cluster))) {
    const { namespace, name } = object.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    await cluster.client.send({ verb: 'delete', kind, key });
    await cluster.advance(cluster.random.between(0, 2_000));
  }
}
