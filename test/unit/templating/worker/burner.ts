/** The work of workers in tests: it uses processor time, memory, or neither. */
import { mkdirSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { ownCpuClock } from '../../../../src/templating/worker/cpu-time.ts';
import { serve } from '../../../../src/templating/worker/serve.ts';

export type Burning =
  | { readonly kind: 'echo'; readonly value: unknown }
  /** Uses this much processor time. */
  | { readonly kind: 'burn'; readonly ms: number }
  /** Does not get any processor time, as on a busy machine. */
  | { readonly kind: 'rest'; readonly ms: number }
  | { readonly kind: 'eat' }
  /** Creates one value that is larger than its heap. */
  | { readonly kind: 'gorge' }
  /** Is killed, as by a system without free memory. */
  | { readonly kind: 'die' }
  | { readonly kind: 'environment' }
  /** Sends itself a signal. */
  | { readonly kind: 'signal'; readonly signal: 'SIGINT' }
  /** Returns the size of its heap in MiB. */
  | { readonly kind: 'heap' };

/** Data of the workers. */
export interface BurnerData {
  /** A folder that does not exist: only the worker that creates it ever becomes ready. */
  readonly onlyFirst: string;
}

const cpuMs = ownCpuClock();

function mayServe({ onlyFirst }: Partial<BurnerData>): boolean {
  try {
    if (onlyFirst !== undefined) mkdirSync(onlyFirst);
    return true;
  } catch {
    return false;
  }
}

const options: Parameters<typeof serve>[0] = {
  cpuMs,
  answer: (work) => {
    const burning = work as Burning;
    switch (burning.kind) {
      case 'echo':
        return burning.value;
      case 'burn': {
        const end = cpuMs() + burning.ms;
        while (cpuMs() < end);
        return 'burnt';
      }
      case 'rest':
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, burning.ms);
        return 'rested';
      case 'die':
        return process.kill(process.pid, 'SIGKILL');
      case 'environment':
        return Object.keys(process.env);
      case 'signal':
        process.kill(process.pid, burning.signal);
        return 'sent';
      case 'heap':
        return getHeapStatistics().heap_size_limit / 2 ** 20;
      case 'gorge':
        return Array.from({ length: 2 ** 25 }, (_, i) => i + 0.5).length;
      case 'eat': {
        const eaten: number[][] = [];
        for (;;) eaten.push(Array.from({ length: 10_000 }, (_, i) => i + 0.5));
      }
    }
  },
};

if (mayServe(JSON.parse(process.argv[2] ?? '{}') as Partial<BurnerData>)) serve(options);
else process.on('message', () => undefined);
