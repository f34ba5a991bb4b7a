/** Takes secret values out of texts that leave the process: statuses, events, logs. */

/** Shorter values would tear ordinary sentences apart, and are none that a secret may rest on. */
const MIN_LENGTH = 4;
/** From here on a value is found inside words, too. */
const MIN_INNER_LENGTH = 8;
/** Words of longer texts, such as tokens in a kubeconfig. */
const MIN_WORD_LENGTH = 10;
const MASK = '[...]';

export type Mask = (text: string) => string;

/**
 * A function that replaces all leaves of these values, the words of long texts, and what they are in base64.
 * @param values JSON
 */
export function maskOf(values: readonly unknown[]): Mask {
  let leaves: ReadonlySet<string> | undefined;
  return (text) => {
    leaves ??= leavesOf(values);
    const shown = [...leaves].filter((leaf) => text.includes(leaf)).sort((a, b) => b.length - a.length);
    return shown.length === 0 ? text : text.replace(new RegExp(shown.map(asPattern).join('|'), 'g'), MASK);
  };
}

function leavesOf(values: readonly unknown[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const value of values) collect(value, found);
  return found;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

const asPattern = (text: string): string =>
  text.length >= MIN_INNER_LENGTH ? escaped(text) : `(?<![\\w-])${escaped(text)}(?![\\w-])`;

function collect(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) collect(item, found);
  else if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) collect(item, found);
  } else if (typeof value === 'string') collectText(value, found);
  else if (typeof value === 'number' || typeof value === 'bigint') add(String(value), found);
}

function collectText(text: string, found: Set<string>): void {
  const trimmed = text.trim();
  add(trimmed, found);
  if (trimmed.length >= MIN_LENGTH) add(Buffer.from(text).toString('base64'), found);
  // Messages show texts as Go and JSON write them.
  add(JSON.stringify(trimmed).slice(1, -1), found);
  if (!/\s/.test(trimmed)) return;
  // Keys of documents inside, such as `current-context:`, are no secrets.
  for (const word of trimmed.split(/[\s"',{}[\]]+/)) {
    if (word.length >= MIN_WORD_LENGTH && !word.endsWith(':')) add(word, found);
  }
}

function add(text: string, found: Set<string>): void {
  if (text.length >= MIN_LENGTH) found.add(text);
}

/** Masks an error with all its causes, stacks included: logs show them. */
export function maskError<E>(error: E, mask: Mask): E {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    at.message = mask(at.message);
    const { stack } = at;
    if (stack !== undefined) {
      Object.defineProperty(at, 'stack', { value: mask(stack), configurable: true, writable: true });
    }
  }
  return error;
}
