/** What a tree costs as a namespace fills: processor time by process, rate and memory for each thousand of mock trees. */
import type { Subject } from './subject.ts';

const WARM_UP = 200;
const STEP = 1_000;
/** Created at once; more would measure the queue of the client. */
const BATCH = 200;

export async function benchGrowth(subject: Subject, trees: number): Promise<void> {
  console.log(`\none namespace fills, on the ${subject.name}`);
  await install(subject, 'warm', WARM_UP);
  let first: number | undefined;
  for (let done = STEP; done <= trees; done += STEP) {
    const before = subject.cpuMs();
    const ms = await install(subject, `tree-${done}`, STEP);
    const after = subject.cpuMs();
    const cpu = Object.entries(after).map(
      ([name, end]) => [name, (end - (before[name] ?? 0)) / STEP] as const,
    );
    const [, ours = 0] = cpu[0] ?? [];
    first ??= ours;
    console.log(
      `${done} trees: ${((STEP * 1000) / ms).toFixed(1)}/s; processor time per tree ${cpu
        .map(([name, each]) => `${name} ${each.toFixed(1)} ms`)
        .join(
          ', ',
        )}; controllers ${(ours / first).toFixed(2)} of the first thousand; resident memory ${memory()}`,
    );
  }
}

async function install(subject: Subject, prefix: string, count: number): Promise<number> {
  let ms = 0;
  for (let at = 0; at < count; at += BATCH) {
    const names = Array.from({ length: Math.min(BATCH, count - at) }, (_, i) => `${prefix}-${at + i}`);
    ms += await subject.install(names, 'mock');
  }
  return ms;
}

const memory = (): string => {
  const { rss, heapUsed } = process.memoryUsage();
  return `${Math.round(rss / 2 ** 20)} MiB, heap ${Math.round(heapUsed / 2 ** 20)} MiB`;
};
