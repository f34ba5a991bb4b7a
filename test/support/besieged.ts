/**
 * A separate process that calls a hostile server and a good one: `node --import tsx besieged.ts HOSTILE GOOD HOW
 * TIMES`.
 * HOW is get, list or watch; TIMES is the number of parallel requests. Prints its measurements as one line of JSON.
 */
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { createResponses, type ResponseLimits } from '../../src/runtime/transport/responses.ts';
import type { Client, Kind } from '../../src/runtime/types.ts';
import { kubeconfigOf } from './hostile-server.ts';

/** The measurements of the process. */
export interface Siege {
  /** Results of the requests to the hostile server, in the order of their end; `ok` for a success. */
  readonly outcomes: readonly string[];
  /** Peak memory of the process minus its memory before. */
  readonly grownMiB: number;
  /** Longest processor time between two turns of the event loop; other load on the machine does not count. */
  readonly longestBlockMs: number;
  /** Duration of requests to the good server meanwhile. */
  readonly goodMs: readonly number[];
}

const MAPS: Kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const MIB = 2 ** 20;
const [hostileUrl = '', goodUrl = '', how = 'get', times = '1'] = process.argv.slice(2);
const { host, target } = createResponses();

const clientOf = async (server: string, responses: ResponseLimits): Promise<Client> =>
  createClient(
    await connect({
      kubeconfig: { text: kubeconfigOf(server) },
      userAgent: 'test',
      clock: systemClock,
      log: silentLogger,
      responses,
    }),
  );

async function ask(client: Client): Promise<string> {
  try {
    if (how === 'get') await client.get(MAPS, 'ns/a');
    else if (how === 'list') for await (const _ of client.list(MAPS, {}));
    else for await (const _ of client.watch(MAPS, {}, new AbortController().signal));
    return 'ok';
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

const good = await clientOf(goodUrl, host);
const hostile = await Promise.all([clientOf(hostileUrl, target), clientOf(hostileUrl, target)]);
await good.get(MAPS, 'ns/a');

const before = process.memoryUsage().rss;
let most = before;
let longestBlockMs = 0;
const spentMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
let last = spentMs();
const watchful = setInterval(() => {
  const now = spentMs();
  longestBlockMs = Math.max(longestBlockMs, now - last);
  last = now;
  most = Math.max(most, process.memoryUsage().rss);
}, 5);

let isOver = false;
const outcomes: string[] = [];
const siege = Promise.all(
  Array.from({ length: Number(times) }, async (_, i) => {
    outcomes.push(await ask(hostile[i % hostile.length] as Client));
  }),
).finally(() => (isOver = true));
const goodMs: number[] = [];
while (!isOver) {
  const began = performance.now();
  await good.get(MAPS, 'ns/a');
  goodMs.push(performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, 10));
}
await siege;
clearInterval(watchful);
const seen: Siege = { outcomes, grownMiB: (most - before) / MIB, longestBlockMs, goodMs };
process.stdout.write(`${JSON.stringify(seen)}\n`);
process.exit(0);
