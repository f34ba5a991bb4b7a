/** Failures name what differs, not how many elements do; only their closing lines, which are all that CI keeps, are cut. */
import { createRequire } from 'node:module';
import { config } from 'chai';

const required = createRequire(import.meta.url)('chai') as { readonly config: typeof config };
// mocha loads tests with require, where chai is another instance.
for (const each of [config, required.config]) each.truncateThreshold = 0;

const LONGEST = 3000;

/** The first line of an error's message, for a list of failures. */
export function closingLine(error: unknown): string {
  const message = String((error as { readonly message?: unknown } | undefined)?.message ?? error);
  const [line = ''] = message.split('\n', 1);
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
