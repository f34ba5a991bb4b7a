/**
 * How much longer tests wait on busy machines: ESPALIER_TEST_PATIENCE, a factor, 1 by default. Tests see what happens at
 * once, so that only failures take longer. hack/mocha-patience.ts does the same for mocha's time limits.
 */
const factor = Number(process.env['ESPALIER_TEST_PATIENCE'] ?? 1);
if (!(factor >= 1)) throw new Error('ESPALIER_TEST_PATIENCE must be a number of at least 1');

/** @param ms after how many milliseconds something counts as missing on a quiet machine */
export const patience = (ms: number): number => ms * factor;

/** The option of a command that must not time out: longer than it takes on any machine that runs tests. */
export const timeoutOption = (ms = 60_000): readonly string[] => ['--timeout', `${patience(ms)}ms`];
