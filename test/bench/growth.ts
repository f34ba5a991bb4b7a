/** The cost of a tree while a cluster fills: processor time by process, rate and memory for each 1,000 mock trees. */
import { NAMESPACE } from './shapes.ts';
import type { Subject } from './subject.ts';

const WARM_UP = 200;
const STEP = 1_000;
/** Created at once; more would measure the queue of the client. */
const BATCH = 200;

export async function benchGrowth(subject: Subject, trees: number, namespaces: number): Promise<void> {
  console.log(
    `\n${trees} trees in ${namespaces === 1 ? 'one namespace' : `${namespaces} namespaces`} on the ${subject.name}`,
  );
  const places = namespaces === 1 ? [NAMESPACE] : Array.from({ length: namespaces }, (_, i) => `growth-${i}`);
  if (namespaces > 1) await subject.createNamespaces(places);
  await install(subject, places, { prefix: 'warm', from: 0, count: WARM_UP });
  let first: number | undefined;
  for (let done = STEP; done <= trees; done += STEP) {
    const before = subject.cpuMs();
    const ms = await install(subject, places, { prefix: `tree-${done}`, from: done, count: STEP });
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
        )}; controllers: ratio to the first ${STEP} trees ${(ours / first).toFixed(2)}; resident memory ${memory()}`,
    );
  }
}

interface Batch {
  readonly prefix: string;
  /** Number of trees before. */
  readonly from: number;
  readonly count: number;
}

/** Installs the trees, in turn in each of the namespaces. */
async function install(
  subject: Subject,
  namespaces: readonly string[],
  { prefix, from, count }: Batch,
): Promise<number> {
  let ms = 0;
  for (let at = 0; at < count; at += BATCH) {
    const keys = Array.from(
      { length: Math.min(BATCH, count - at) },
      (_, i) => `${namespaces[(from + at + i) % namespaces.length] ?? NAMESPACE}/${prefix}-${at + i}`,
    );
    ms += await subject.install(keys, 'mock');
  }
  return ms;
}

const memory = (): string => {
  const { rss, heapUsed } = process.memoryUsage();
  return `${Math.round(rss / 2 ** 20)} MiB, heap ${Math.round(heapUsed / 2 ** 20)} MiB`;
};
