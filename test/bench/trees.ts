/**
 * How fast trees are installed and deleted. Compare results of different machines only by their ratios: to creating
 * the same number of ConfigMaps, which no controller can beat, and of many trees to few.
 */
import type { Obj } from '../../src/runtime/types.ts';
import { NAMESPACE, shapeNames, type ShapeName } from './shapes.ts';
import type { Subject } from './subject.ts';

const WARM_UP = 33;
const FEW = 50;

export async function benchTrees(subject: Subject, many: number): Promise<void> {
  console.log(`\ntrees on the ${subject.name}`);
  await measure(subject, 'mock', WARM_UP);
  console.log('(warm-up; ignore)');
  for (const shape of shapeNames) {
    const few = await measure(subject, shape, FEW);
    const rate = await measure(subject, shape, many);
    console.log(
      `${shape.padEnd(6)} rate with ${many} trees, relative to ${FEW} trees: ${(rate.perSecond / few.perSecond).toFixed(2)}; ` +
        `by processor time: ${(few.cpuMs / rate.cpuMs).toFixed(2)}`,
    );
  }
  console.log(`memory of this process: ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB`);
}

interface Rate {
  readonly perSecond: number;
  /** Processor time of all processes for one tree. */
  readonly cpuMs: number;
}

async function measure(subject: Subject, shape: ShapeName, count: number): Promise<Rate> {
  const names = Array.from({ length: count }, (_, i) => `${shape}-${count}-${i}`);
  const bareMs = await createConfigMaps(subject, names);
  await subject.requests();
  const before = subject.cpuMs();
  const installMs = await subject.install(names, shape);
  const after = subject.cpuMs();
  const cpu = Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / count] as const);
  const { writes, reads } = await subject.requests();
  const deleteMs = await subject.uninstall(names);

  const perSecond = (ms: number): number => (count * 1000) / ms;
  const perTree = (requests: number): string => (requests / count).toFixed(1);
  console.log(
    `${shape.padEnd(6)} ×${count}: installed ${perSecond(installMs).toFixed(1)}/s, deleted ` +
      `${perSecond(deleteMs).toFixed(1)}/s; per tree ${perTree(writes - count)} writes, ${perTree(reads)} reads, processor time ${cpu.map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`).join(', ')}; ` +
      `time relative to creating as many ConfigMaps: ${(installMs / bareMs).toFixed(1)}`,
  );
  return { perSecond: perSecond(installMs), cpuMs: cpu.reduce((sum, [, ms]) => sum + ms, 0) };
}

async function createConfigMaps({ client }: Subject, names: readonly string[]): Promise<number> {
  const kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
  const bare = names.map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE },
  }));
  const start = performance.now();
  await Promise.all(bare.map((object: Obj) => client.send({ verb: 'create', kind, object })));
  return performance.now() - start;
}
