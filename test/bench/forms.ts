/**
 * The cost of the same status write in different forms on a kube-apiserver: processor time of the server, of etcd and of
 * this process. Run it before you change the form of a write.
 */
import { executionKind, type Execution } from '../../src/api/kinds/execution.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { silentLogger as log } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect, type Connection, type HttpRequest } from '../../src/runtime/transport/http.ts';
import type { Client } from '../../src/runtime/types.ts';
import { cpuMsOf } from './cpu.ts';
import { real } from './servers.ts';
import { NAMESPACE } from './shapes.ts';

const OBJECTS = 1000;
const ROUNDS = 5;
const AT_ONCE = 16;
const COLLECTION = `/apis/${executionKind.group}/${executionKind.version}/namespaces/${NAMESPACE}/${executionKind.plural}`;

type Body = (live: Execution, status: object) => Pick<HttpRequest, 'method' | 'body' | 'contentType'>;
interface Form {
  readonly body: Body;
  readonly query: string;
  readonly accept?: string;
}

const merge = (body: object): ReturnType<Body> => ({
  method: 'PATCH',
  contentType: 'application/merge-patch+json',
  body: JSON.stringify(body),
});
const update = (body: object): ReturnType<Body> => ({ method: 'PUT', body: JSON.stringify(body) });

const bodies: Readonly<Record<string, Body>> = {
  'merge patch': ({ metadata: { resourceVersion } }, status) =>
    merge({ metadata: { resourceVersion }, status }),
  'merge patch without version': (_, status) => merge({ status }),
  'update, whole object': (live, status) => update({ ...live, status: { ...live.status, ...status } }),
  'update, status only': ({ apiVersion, kind, metadata, ...live }, status) => {
    const { name, namespace, resourceVersion } = metadata;
    const identity = { name, namespace, resourceVersion };
    return update({ apiVersion, kind, metadata: identity, status: { ...live.status, ...status } });
  },
};
const options: Readonly<Record<string, Omit<Form, 'body'>>> = {
  '': { query: '' },
  ', fields not validated': { query: '&fieldValidation=Ignore' },
  ', metadata as response': {
    query: '',
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  },
};
const forms: Readonly<Record<string, Form>> = Object.fromEntries(
  Object.entries(bodies).flatMap(([name, body]) =>
    Object.entries(options).map(([option, rest]) => [name + option, { body, ...rest }] as const),
  ),
);

export async function benchForms(): Promise<void> {
  console.log(`\nprocessor time of one status write in different forms, on a kube-apiserver`);
  const server = await real();
  const connection = await connect({
    kubeconfig: { text: server.kubeconfig },
    userAgent: 'bench',
    maxSockets: AT_ONCE,
    clock,
    log,
  });
  const client = createClient(connection);
  try {
    await ensureCrds(client, clock, log);
    const objects = await filled(client);
    const results: Record<string, Cost[]> = {};
    let change = 0;
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [name, form] of Object.entries(forms)) {
        const cost = await measured(connection, form, objects, ++change, server.processes);
        if (round > 0) (results[name] ??= []).push(cost);
      }
    }
    const base = medianOf(results['merge patch'] ?? []);
    for (const [name, costs] of Object.entries(results)) {
      const { servers, own } = medianOf(costs);
      console.log(
        `${name.padEnd(58)} servers ${servers.toFixed(2)} ms (ratio ${(servers / base.servers).toFixed(2)}), ` +
          `client ${own.toFixed(2)} ms`,
      );
    }
  } finally {
    await client.close();
    await server.stop();
  }
}

interface Cost {
  readonly servers: number;
  readonly own: number;
}

const medianOf = (costs: readonly Cost[]): Cost => {
  const middle = (of: (cost: Cost) => number): number =>
    costs.map(of).sort((a, b) => a - b)[costs.length >> 1] ?? NaN;
  return { servers: middle(({ servers }) => servers), own: middle(({ own }) => own) };
};

async function filled(client: Client): Promise<Execution[]> {
  const objects: Execution[] = [];
  for (let i = 0; i < OBJECTS; i++) {
    const object: Execution = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Execution',
      metadata: {
        name: `forms-${i}`,
        namespace: NAMESPACE,
        finalizers: ['finalizer.landscaper.gardener.cloud'],
      },
      spec: {
        context: 'default',
        deployItems: [
          {
            name: 'app',
            type: 'landscaper.gardener.cloud/mock',
            config: {
              apiVersion: 'mock.deployer.landscaper.gardener.cloud/v1alpha1',
              kind: 'ProviderConfiguration',
              phase: 'Succeeded',
              export: { message: 'hello' },
            },
          },
        ],
      },
    };
    await client.send({ verb: 'create', kind: executionKind, object });
    const status = { phase: 'Init', jobID: 'a', observedGeneration: 1, conditions: [] };
    objects.push(
      await client.send({
        verb: 'merge',
        sub: 'status',
        kind: executionKind,
        key: `${NAMESPACE}/forms-${i}`,
        body: { status },
      }),
    );
  }
  return objects;
}

async function measured(
  connection: Connection,
  { body, query, accept }: Form,
  objects: Execution[],
  change: number,
  processes: Readonly<Record<string, number>>,
): Promise<Cost> {
  const cpu = (): number => Object.values(processes).reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const [servers, own] = [cpu(), process.cpuUsage()];
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < objects.length) {
        const i = next++;
        const live = objects[i] as Execution;
        const status = { phase: change % 2 ? 'Progressing' : 'Succeeded', jobID: `job-${change}` };
        const { name } = live.metadata;
        const answer = (await connection.request({
          ...body(live, status),
          path: `${COLLECTION}/${name}/status?fieldManager=espalier${query}`,
          ref: { verb: 'patch', kind: executionKind.kind, name },
          lane: 'write',
          isIdempotent: false,
          ...(accept !== undefined && { accept }),
        })) as Execution;
        const { resourceVersion } = answer.metadata;
        objects[i] = { ...live, metadata: { ...live.metadata, ...(resourceVersion && { resourceVersion }) } };
      }
    }),
  );
  const used = process.cpuUsage(own);
  return {
    servers: (cpu() - servers) / objects.length,
    own: (used.user + used.system) / 1000 / objects.length,
  };
}
