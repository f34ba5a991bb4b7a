/** A child program's side of what connects it to the process that started it; see `child-program.ts`. */
import { writeFileSync } from 'node:fs';

/** The JSON argument of this process; undefined if there is none. */
export function givenArgument(): unknown {
  const [, , text] = process.argv;
  return text === undefined ? undefined : JSON.parse(text);
}

/** Sends a message to the process that started this one. */
export function sendToParent(message: object): void {
  process.send?.(message);
}

/** Hands on the messages of the process that started this one, and lives as long as it does. */
export function listenToParent(onMessage: (message: unknown) => void): void {
  process.on('message', onMessage);
  process.on('disconnect', () => process.exit());
  // A terminal sends these to all processes, but the parent decides when this one ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  withoutMemoryInDumps();
}

/** Where the system keeps dumps of processes that V8 aborts, they hold nothing of the secrets that were being worked on. */
function withoutMemoryInDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Other systems than Linux have no such file.
  }
}
