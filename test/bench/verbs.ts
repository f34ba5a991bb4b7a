/**
 * How long each verb takes on the embedded API server and on a kube-apiserver, one after the other. Both servers run in
 * separate processes.
 */
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import type { Client } from '../../src/runtime/types.ts';
import { embedded, real, type Server } from './servers.ts';
import { NAMESPACE, root } from './shapes.ts';

const OBJECTS = 500;
const ROUNDS = 5;
const AT_ONCE = 16;

interface Verb {
  /** Requests in a round; default one for each object. */
  readonly count?: number;
  send(client: Client, name: string, round: number): Promise<unknown>;
}

const kind = installationKind;
const keyOf = (name: string): string => `${NAMESPACE}/${name}`;

/** In this order: each works on the objects that the ones before have left. */
const verbs: Readonly<Record<string, Verb>> = {
  create: { send: (client, name) => client.send({ verb: 'create', kind, object: idle(name) }) },
  get: { send: (client, name) => client.get(kind, keyOf(name)) },
  'merge patch': {
    send: (client, name, round) =>
      client.send({
        verb: 'merge',
        kind,
        key: keyOf(name),
        body: { metadata: { annotations: { r: `${round}` } } },
      }),
  },
  'merge patch of status': {
    send: (client, name, round) => {
      const status = { phase: 'Progressing', observedGeneration: round + 1 };
      return client.send({ verb: 'merge', sub: 'status', kind, key: keyOf(name), body: { status } });
    },
  },
  apply: {
    send: (client, name, round) => {
      const object = idle(name, { round: String(round) });
      return client.send({ verb: 'apply', kind, object, manager: 'bench', force: true });
    },
  },
  [`list of ${OBJECTS}`]: {
    count: 20,
    async send(client) {
      for await (const page of client.list(kind, { namespace: NAMESPACE }))
        if (page.items.length === 0) break;
    },
  },
  delete: { send: (client, name) => client.send({ verb: 'delete', kind, key: keyOf(name) }) },
};

/** An installation without the annotation that starts a job. */
function idle(name: string, labels: Readonly<Record<string, string>> = {}): Installation {
  return { ...root(name, 'mock'), metadata: { name, namespace: NAMESPACE, labels } };
}

export async function benchVerbs(): Promise<void> {
  console.log(
    `\ntime per request on both servers, ${AT_ONCE} requests at a time; median of ${ROUNDS} rounds with ${OBJECTS} objects`,
  );
  const [ours, theirs] = [await measured(embedded), await measured(real)];
  for (const verb of Object.keys(verbs)) {
    const [a, b] = [ours[verb] ?? NaN, theirs[verb] ?? NaN];
    console.log(
      `${verb.padEnd(22)} embedded ${a.toFixed(2)} ms, kube-apiserver ${b.toFixed(2)} ms; ratio ${(a / b).toFixed(2)}`,
    );
  }
}

/** Milliseconds per request of each verb: the duration of a round divided by its number of requests. */
async function measured(start: () => Promise<Server>): Promise<Readonly<Record<string, number>>> {
  const server = await start();
  const connection = { kubeconfig: { text: server.kubeconfig }, userAgent: 'bench', maxSockets: AT_ONCE };
  const client = createClient(await connect({ ...connection, clock, log }));
  try {
    await ensureCrds(client, clock, log);
    const rounds: Record<string, number>[] = [];
    // Round 0 warms up the server.
    for (let round = 0; round <= ROUNDS; round++) {
      const one = await measureRound(client, round);
      if (round > 0) rounds.push(one);
    }
    return Object.fromEntries(
      Object.keys(verbs).map((verb) => [verb, median(rounds.map((each) => each[verb] ?? NaN))]),
    );
  } finally {
    await client.close();
    await server.stop();
  }
}

async function measureRound(client: Client, round: number): Promise<Record<string, number>> {
  const names = Array.from({ length: OBJECTS }, (_, i) => `verbs-${i}`);
  const times: Record<string, number> = {};
  for (const [verb, { send, count = OBJECTS }] of Object.entries(verbs)) {
    let next = 0;
    const start = performance.now();
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (next < count) await send(client, names[next++] as string, round);
      }),
    );
    times[verb] = (performance.now() - start) / count;
  }
  return times;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
