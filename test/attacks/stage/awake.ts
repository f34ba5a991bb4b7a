/**
 * The time in which this process was awake, in milliseconds. A wait measured with it leaves out pauses of the tests
 * themselves: while they write megabytes, or while other processes have the processors, no answer can be noticed.
 */
const STEP_MS = 20;
/** Counted for a step at most; a longer one was a pause. */
const MAX_STEP_MS = 3 * STEP_MS;

let counted = 0;
let last = performance.now();

function advance(): number {
  const now = performance.now();
  counted += Math.min(now - last, MAX_STEP_MS);
  last = now;
  return counted;
}
setInterval(advance, STEP_MS).unref();

export const awakeMs = advance;
