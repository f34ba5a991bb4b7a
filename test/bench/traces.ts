/** The cost of traces: processor time of the controllers for the same trees, alternately without and with traces. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { embedded } from './servers.ts';
import { subjectOn } from './subject.ts';

const ROUNDS = 5;
const WARM_UP = 30;

/** Accepts everything, in another process. */
const COLLECTOR = `
  require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.end());
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

export async function benchTraces(trees: number): Promise<void> {
  console.log(`\ncost of traces: ${String(trees)} trees in each of ${String(ROUNDS)} rounds`);
  const collector = spawn(process.execPath, ['--eval', COLLECTOR], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(collector.stdout, 'data')) as [Buffer];
    const url = `http://127.0.0.1:${port.toString().trim()}`;
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const off = await cpuOfTree(trees, `off${String(round)}`);
      const on = await cpuOfTree(trees, `on${String(round)}`, url);
      ratios.push(on / off);
      console.log(
        `processor time per tree: without traces ${off.toFixed(1)} ms, with traces ${on.toFixed(1)} ms, ratio ${(on / off).toFixed(2)}`,
      );
    }
    const median = ratios.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
    console.log(`median of the ratios: ${median.toFixed(2)}`);
  } finally {
    collector.kill();
  }
}

/** Processor time of this process for one tree, in milliseconds, until all spans have been sent. */
async function cpuOfTree(count: number, prefix: string, collector?: string): Promise<number> {
  const subject = await subjectOn(await embedded(), collector);
  const names = (length: number, kind: string): string[] =>
    Array.from({ length }, (_, i) => `${prefix}-${kind}-${String(i)}`);
  await subject.install(names(WARM_UP, 'warm'), 'mock');
  const before = process.cpuUsage();
  await subject.install(names(count, 'tree'), 'mock');
  await subject.stop();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / count;
}
