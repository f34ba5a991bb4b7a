/** API servers filled with a number of objects: the embedded one in a separate process, and a kube-apiserver. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { CustomResourceDefinition, Namespace } from '../../../src/runtime/core-kinds.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import { startEnvtest } from '../../support/envtest.ts';
import { benchKind, objectOf, type BenchObject } from './objects.ts';
import type { BenchServer } from './scene.ts';

/** The number of objects that are sent to the server at a time. */
const AT_ONCE = 48;
const SPACES = 50;

export async function populatedEmbedded(count: number): Promise<BenchServer> {
  const child = fork(join(import.meta.dirname, '../embedded-process.ts'), {
    execArgv: process.execArgv,
    serialization: 'advanced',
  });
  const [{ kubeconfig }] = (await once(child, 'message')) as [{ kubeconfig: string }];
  return populated(kubeconfig, count, () => {
    child.disconnect();
  });
}

/** @throws EnvtestUnavailable when there is no kube-apiserver and no way to build one */
export async function populatedReal(count: number): Promise<BenchServer> {
  const server = await startEnvtest();
  return populated(server.kubeconfig, count, () => void server.stop());
}

async function populated(kubeconfig: string, count: number, stop: () => void): Promise<BenchServer> {
  const client = createClient(
    await connect({
      kubeconfig: { text: kubeconfig },
      userAgent: 'bench-setup',
      clock,
      log,
      maxSockets: AT_ONCE,
    }),
  );
  await create(client, CustomResourceDefinition, definition);
  for (let i = 0; i < SPACES; i++) {
    const metadata = { name: `space-${String(i)}` };
    await create(client, Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  }
  await served(client);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) await create(client, benchKind, createdFrom(objectOf(i)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return {
    kubeconfig,
    edit(name) {
      const key = `space-${String(Number(name.replace('object-', '')) % SPACES)}/${name}`;
      void client.send({ verb: 'merge', kind: benchKind, key, body: { spec: { edited: true } } });
    },
    stopFaults: () => undefined,
    stop() {
      void client.close().then(stop);
    },
  };
}

const create = <T extends Obj>(client: Client, kind: Kind<T>, object: T): Promise<T> =>
  client.send({ verb: 'create', kind, object });

/** Removes fields that the server would reject from a user. */
function createdFrom({ metadata, ...rest }: BenchObject): BenchObject {
  const { name, namespace, labels, annotations } = metadata;
  return { ...rest, metadata: { name, namespace, labels, annotations } } as unknown as BenchObject;
}

/** A CRD is served some time after it was created. */
async function served(client: Client): Promise<void> {
  for (;;) {
    try {
      for await (const _ of client.list(benchKind, { namespace: 'space-0' })) return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** Without a status subresource, so that objects can be created in their final state. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition' as const,
  metadata: { name: `${benchKind.plural}.${benchKind.group}` },
  spec: {
    group: benchKind.group,
    scope: 'Namespaced',
    names: { kind: benchKind.kind, plural: benchKind.plural },
    versions: [
      {
        name: benchKind.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
