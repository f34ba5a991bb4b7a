/** Counts work on strings: what would take time in proportion to strings that tenants choose. */

const COUNTED = ['startsWith', 'includes', 'indexOf'] as const;

/** How often strings are searched for another one meanwhile. */
export function comparisonsDuring(run: () => void): number {
  const strings = String.prototype as unknown as Record<string, (...of: unknown[]) => unknown>;
  let comparisons = 0;
  const originals = COUNTED.map((name) => [name, strings[name]!] as const);
  for (const [name, original] of originals) {
    strings[name] = function (this: string, ...of) {
      comparisons++;
      return original.apply(this, of);
    };
  }
  try {
    run();
  } finally {
    for (const [name, original] of originals) strings[name] = original;
  }
  return comparisons;
}
