/** The servers of benchmarks, each in processes of its own: the embedded API server, and kube-apiserver with etcd. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEnvtest } from '../support/envtest.ts';

/** A request in the audit log of a server; kube-apiserver and ours write the same format. */
export interface Request {
  readonly stage: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
  /** Sizes of a write and of its answer, which contains the stored object; only from the embedded API server. */
  readonly bodyBytes?: number;
  readonly answerBytes?: number;
}

export interface Server {
  readonly name: string;
  readonly kubeconfig: string;
  /** Ids by name. */
  readonly processes: Readonly<Record<string, number>>;
  /** Whether the audit log contains the sizes of writes. */
  readonly sizesInAudit: boolean;
  /** Requests since the last call. */
  audit(): Promise<readonly Request[]>;
  stop(): Promise<void>;
}

export async function embedded(): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'embedded-process.ts'), {
    execArgv: process.execArgv,
    serialization: 'advanced',
  });
  const ended = once(child, 'exit');
  const [{ kubeconfig }] = (await once(child, 'message')) as [{ kubeconfig: string }];
  return {
    name: 'embedded API server',
    kubeconfig,
    processes: { 'embedded API server': child.pid as number },
    sizesInAudit: true,
    async audit() {
      child.send('audit');
      const [events] = (await once(child, 'message')) as [readonly Request[]];
      return events;
    },
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}

/** @throws EnvtestUnavailable when there is no kube-apiserver and no way to build one */
export async function real(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
  const file = join(folder, 'audit.log');
  const { kubeconfig, processes, stop } = await startEnvtest({ auditLog: file });
  let read = 0;
  return {
    name: 'kube-apiserver',
    kubeconfig,
    processes,
    sizesInAudit: false,
    audit() {
      const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
      const fresh = lines.slice(read).map((line) => JSON.parse(line) as Request);
      read = lines.length;
      return Promise.resolve(fresh);
    },
    async stop() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
