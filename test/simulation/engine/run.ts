/**
 * One seed from start to end: actions under faults; rest; after all faults are removed the result must be what the
 * user wants; after everything is deleted the cluster must be empty.
 */
import { annotations } from '../../../src/api/labels.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { drawFaults } from '../../../src/testing/network/faults.ts';
import { Violation } from '../../../src/testing/violation.ts';
import { remains } from '../invariants/rest.ts';
import { differences } from '../invariants/wanted.ts';
import { drawRoots } from '../landscape/generate.ts';
import { NOBODYS_TYPE, SCRIPT_TYPE } from '../landscape/render.ts';
import { User } from '../landscape/user.ts';
import type { Chance } from '../../../src/testing/engine/chance.ts';
import { Simulation } from './simulation.ts';

export interface Outcome {
  readonly seed: number;
  readonly failure: Error | undefined;
  readonly steps: number;
  /** Virtual milliseconds. */
  readonly ms: number;
  /** Version of the server at the end, and number of lines in the trace: equal for two runs of a seed. */
  readonly fingerprint: string;
  lastSteps(count: number): string[];
}

export interface RunOptions {
  readonly wrapClient?: (client: Client, chance: Chance) => Client;
  readonly wrapLeases?: (client: Client) => Client;
  /** The number of processes that share the work; default: one, which does all of it. */
  readonly replicas?: number;
  /** Called with every line of the trace. */
  readonly onLine?: (line: string) => void;
}

export async function runSeed(seed: number, options: RunOptions = {}): Promise<Outcome> {
  const { wrapClient, wrapLeases, replicas } = options;
  const simulation = new Simulation({
    seed,
    ...(wrapClient && { wrapClient }),
    ...(wrapLeases && { wrapLeases }),
    ...(replicas !== undefined && { replicas }),
  });
  const { scheduler, server } = simulation;
  scheduler.trace.listener = options.onLine;
  let failure: Error | undefined;
  try {
    await live(simulation);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  return {
    seed,
    failure,
    steps: scheduler.taken,
    ms: scheduler.clock.now(),
    fingerprint: `${server.version}/${scheduler.trace.count}/${scheduler.clock.now()}`,
    lastSteps: (count) => scheduler.trace.last(count),
  };
}

async function live(simulation: Simulation): Promise<void> {
  const { server, scheduler, outside } = simulation;
  const say = (text: string): void => scheduler.trace.note(() => `---- ${text}`);
  const chance = simulation.chance('story');
  const user = new User(drawRoots(simulation.chance('landscape')), {
    server,
    scheduler,
    chance: simulation.chance('user'),
  });

  say('turmoil');
  simulation.trouble(drawFaults(simulation.chance('fault rates')));
  simulation.boot();
  user.begin();
  const ms = chance.pick([5_000, 20_000, 60_000]);
  user.act(chance.between(0, 14), ms);
  await simulation.for(ms);
  say('end of faults');
  await simulation.rest();
  if (chance.happens(0.3)) await simulation.hold();

  say('everything is healed');
  outside.isHealed = true;
  simulation.serve([SCRIPT_TYPE, NOBODYS_TYPE]);
  user.heal();
  for (const root of user.roots) {
    if (user.isGoing(root))
      user.annotate(root.name, {
        [annotations.deleteIgnoreSuccessors]: 'true',
        [annotations.operation]: 'reconcile',
      });
  }
  await simulation.rest();
  // A second round, as for a user who notices that an import was created too late for the first.
  for (const round of [1, 2]) {
    say(`round ${round}`);
    user.insist(round === 1 ? chance.shuffled(user.roots) : user.roots);
    await simulation.rest();
    const different = differences(user.roots, user.data, simulation);
    if (different.length === 0) break;
    say(`different: ${different.join('; ')}`);
    if (round === 2)
      throw new Violation('a repaired landscape reaches the desired state', different.join('\n'));
  }
  if (chance.happens(0.3)) await simulation.hold();

  say('everything is deleted');
  for (const root of chance.shuffled(user.roots)) user.deleteRoot(root);
  await simulation.rest();
  const left = [
    ...remains(server),
    ...[...outside.installed].map(([uid, value]) => `${uid} installed ${value}`),
  ];
  if (left.length > 0) throw new Violation('a deletion leaves nothing', left.join('\n'));
}
