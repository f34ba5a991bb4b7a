/** One product on one server, with the load: what each step costs. */
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMsOf } from '../cpu.ts';
import type { Server } from '../servers.ts';
import { tally, type Tally } from '../tally.ts';
import { openLoad, type Load } from './load.ts';
import { startProduct, type Counts, type Product, type ProductOptions } from './product.ts';

/** What a step cost in all. */
export interface Cost {
  readonly ms: number;
  /** Processor time by process: `controllers`, and those of the server. */
  readonly cpuMs: Readonly<Record<string, number>>;
  readonly requests: Tally;
  /** Size of the bodies of all writes. */
  readonly bodyBytes: number;
  readonly counts?: Counts;
}

export interface Run {
  readonly product: Product;
  readonly load: Load;
  /** Does a step of the load, waits until nothing more comes of it, and says what it cost. */
  step(work: (load: Load) => Promise<number>): Promise<Cost>;
}

/**
 * kube-apiserver writes its log with a delay, and the controllers their events; after this time all counted requests
 * are in the log.
 */
const AUDIT_DELAY_MS = 1_000;

/** Starts a product on the server, and stops it after `use`. @throws if it ends before */
export async function withProduct<T>(
  server: Server,
  options: Omit<ProductOptions, 'kubeconfig'>,
  use: (run: Run) => Promise<T>,
): Promise<T> {
  const product = await startProduct({ ...options, kubeconfig: server.kubeconfig });
  try {
    const load = await openLoad(server.kubeconfig);
    try {
      return await use(runOf(server, product, load));
    } finally {
      await load.close();
    }
  } finally {
    await product.stop();
  }
}

function runOf(server: Server, product: Product, load: Load): Run {
  const cpuMs = (): Record<string, number> => ({
    controllers: product.cpuMs(),
    ...Object.fromEntries(Object.entries(server.processes).map(([name, pid]) => [name, cpuMsOf(pid)])),
  });
  return {
    product,
    load,
    async step(work) {
      const count = await startCounting(server, load);
      await product.counts();
      const before = cpuMs();
      const ms = await Promise.race([work(load), product.failure]);
      await pause(AUDIT_DELAY_MS);
      const after = cpuMs();
      const counts = await product.counts();
      const used = Object.entries(after).map(([name, end]) => [name, end - (before[name] ?? 0)] as const);
      return { ms, cpuMs: Object.fromEntries(used), ...(await count()), ...(counts && { counts }) };
    },
  };
}

/** @returns a function that counts what was written since */
async function startCounting(
  server: Server,
  load: Load,
): Promise<() => Promise<Pick<Cost, 'requests' | 'bodyBytes'>>> {
  await server.audit();
  const inMetrics = server.sizesInAudit ? undefined : (await bytesInMetrics(load)) - load.bodyBytes;
  return async () => {
    const requests = tally(await server.audit());
    const bodyBytes =
      inMetrics === undefined
        ? requests.bodyBytes
        : (await bytesInMetrics(load)) - load.bodyBytes - inMetrics;
    return { requests, bodyBytes };
  };
}

const SIZES =
  /^apiserver_request_body_size_bytes_sum\{group="[^"]*",resource="([^"]*)",verb="(?:create|update|patch)"\} (\S+)$/gim;

/** Size of the bodies of all creates, updates and patches since the start of a kube-apiserver. */
async function bytesInMetrics({ client }: Load): Promise<number> {
  const text = (await client.raw('GET', '/metrics')) as string;
  return [...text.matchAll(SIZES)]
    .filter(([, resource]) => resource !== 'leases') // the server's own
    .reduce((sum, [, , bytes]) => sum + Number(bytes), 0);
}
