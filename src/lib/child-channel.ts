/** The child's side of the channel to its parent process; see `child-program.ts`. */
import { writeFileSync } from 'node:fs';

/** The JSON argument of this process; undefined if there is none. */
export function givenArgument(): unknown {
  const [, , text] = process.argv;
  return text === undefined ? undefined : JSON.parse(text);
}

/** Sends a message to the parent process. */
export function sendToParent(message: object): void {
  process.send?.(message);
}

/** Passes on the messages of the parent process, and ends when the parent ends. */
export function listenToParent(onMessage: (message: unknown) => void): void {
  process.on('message', onMessage);
  process.on('disconnect', () => process.exit());
  // A terminal sends these signals to all processes, but the parent decides when this one ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  withoutMemoryInDumps();
}

/** Excludes memory from core dumps, because it may contain secrets. */
function withoutMemoryInDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // This file exists on Linux only.
  }
}
