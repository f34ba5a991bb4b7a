/** The switches of the mutants in a process of tests, and the end of a process that a mutant keeps from ending. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';

const root = join(import.meta.dirname, '../..');
const MOST = 20_000;
/** A loop that meets the mutant more often does not end. */
const MOST_HITS = 1_000_000;
/** The event loop stands still for so much processor time: a loop that does not end. */
const BLOCKED_CPU_MS = 8000;

class EndlessLoop extends Error {}

let active = 0;
let hits = 0;
const seen = new Uint8Array(MOST);
const isOn = (id: number): boolean => {
  seen[id] = 1;
  if (id !== active) return false;
  if (++hits > MOST_HITS) throw new EndlessLoop(`mutant ${String(id)} runs in an endless loop`);
  return true;
};
Object.assign(globalThis, { __mutant: isOn });

/** Runs something with one mutant; 0 for none. */
export async function withMutant<T>(id: number, run: () => Promise<T>): Promise<T> {
  active = id;
  hits = 0;
  try {
    return await run();
  } finally {
    active = 0;
  }
}

/** @returns the mutants seen since the last call */
export function takeSeen(): number[] {
  const ids: number[] = [];
  for (let id = seen.indexOf(1); id >= 0; id = seen.indexOf(1, id + 1)) ids.push(id);
  seen.fill(0);
  return ids;
}

/** How often the mutant that is on was met since it was switched on. */
export const hitsOfActive = (): number => hits;

/** Templates of the chart are data: reading one gives the text with the mutant. */
export function mutateReads(): void {
  const templates = new Map(
    JSON.parse(fs.readFileSync(join(root, '.cache/mutate/templates.json'), 'utf8')) as [
      string,
      [number, string][],
    ][],
  );
  const original = fs.readFileSync;
  const read = (path: fs.PathOrFileDescriptor, ...rest: unknown[]): string | Buffer => {
    const mutants = typeof path === 'string' ? templates.get(relative(root, path)) : undefined;
    const mutated = mutants?.find(([id]) => isOn(id))?.[1];
    if (mutated === undefined) return Reflect.apply(original, fs, [path, ...rest]) as string | Buffer;
    return rest.length > 0 ? mutated : Buffer.from(mutated);
  };
  Object.assign(fs, { readFileSync: read });
  syncBuiltinESMExports();
}

/** Ends the process when its main thread computes without end. @returns what the main thread calls to show that it is alive */
export function watchMainThread(): () => void {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { workerData } = require('node:worker_threads');
    let last = -1, since = process.cpuUsage();
    setInterval(() => {
      const now = Atomics.load(workerData, 0);
      if (now !== last) { last = now; since = process.cpuUsage(); return; }
      const { user, system } = process.cpuUsage(since);
      if ((user + system) / 1000 > ${String(BLOCKED_CPU_MS)}) process.kill(process.pid, 'SIGKILL');
    }, 500);`;
  const watchdog = new Worker(code, { eval: true, workerData: beats, execArgv: [] });
  watchdog.unref();
  return () => Atomics.add(beats, 0, 1);
}
