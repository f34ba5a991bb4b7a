/**
 * Loaded into the program under attack: prints how long its main thread gave nothing else a turn, whenever that was long, and
 * how much processor time it used meanwhile. On a busy machine only the latter says something about the program.
 */
import { readFileSync } from 'node:fs';

const EVERY_MS = 10;
const WORTH_PRINTING_MS = 50;

const cpuMs = () => {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
};

let before = performance.now();
let cpuBefore = cpuMs();
setInterval(() => {
  const now = performance.now();
  const cpu = cpuMs();
  const silentMs = now - before - EVERY_MS;
  if (silentMs > WORTH_PRINTING_MS) {
    process.stderr.write(`silence ${silentMs.toFixed(0)} ${(cpu - cpuBefore).toFixed(0)}\n`);
  }
  before = now;
  cpuBefore = cpu;
}, EVERY_MS).unref();
