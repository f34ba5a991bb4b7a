/** Ctrl-C and SIGTERM: the first stops the process in order, the second ends it at once. */

const FAILED = 1;
const signals = ['SIGINT', 'SIGTERM'] as const;

export interface Interruption {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal;
  /** Stops listening; signals have their default effect again. */
  release(): void;
}

/**
 * Listens until released; the second signal ends the process with exit code 1.
 * @param onSecond replaces this
 */
export function onInterrupt(
  onFirst: () => void = () => undefined,
  onSecond: () => void = () => process.exit(FAILED),
): Interruption {
  const controller = new AbortController();
  const handler = (): void => {
    if (controller.signal.aborted) {
      onSecond();
      return;
    }
    controller.abort(new Error('interrupted'));
    onFirst();
  };
  for (const signal of signals) process.on(signal, handler);
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) process.off(signal, handler);
    },
  };
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
  });
