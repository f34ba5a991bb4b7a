/** Keeps what a user gave as values out of messages: they may be secret. */

const SHORTEST = 4;

/** The text without any of these values. */
export function masked(text: string, values: unknown, shown: readonly string[]): string {
  const secrets = [...textsIn(values)].filter((value) => value.length >= SHORTEST && !shown.includes(value));
  return secrets
    .sort((a, b) => b.length - a.length)
    .reduce((masking, secret) => masking.replaceAll(secret, '[...]'), text);
}

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) yield* textsIn(inner);
  }
}
