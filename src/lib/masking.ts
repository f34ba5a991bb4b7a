/** Masks secret values in texts that leave the process: statuses, events, logs, output of commands. */
import { isObject, ownField } from './objects.ts';
import { trimmedEnd } from './trim.ts';
import { MIN_SEARCHED as MIN_LENGTH, StringSearch } from './string-search.ts';
import { YamlBudget } from './yaml-budget.ts';
import { parseYamlAll, YamlError } from './yaml.ts';

/** Values of at least this length are also masked inside words. */
const MIN_INNER_LENGTH = 8;
/** Minimum length of words and lines of longer texts, such as keys and certificates, which templates indent. */
const MIN_PART_LENGTH = 10;
/** Fields of a kubeconfig that are not secret and occur everywhere. */
const OPEN = ['apiVersion', 'kind', 'name', 'current-context', 'cluster', 'user', 'namespace', 'server'];

export type Mask = (text: string) => string;

/**
 * A function that replaces all leaves of these values: also those of YAML in strings, the words of other long
 * strings, and their base64.
 * @param values JSON
 * @param shown the replacement
 */
export function maskOf(values: readonly unknown[], shown = '[...]'): Mask {
  let search: StringSearch | undefined;
  return (text) => {
    search ??= new StringSearch(leavesOf(values));
    return covered(text, search, shown);
  };
}

/** The strings that a mask for this value searches. @param value JSON */
export const valuesIn = (value: unknown): ReadonlySet<string> => leavesOf([value]);

/** Limit for documents in strings, with their aliases; the words and lines of others are masked. */
const MAX_DOCUMENT_BYTES = 8 << 20;

interface Leaves {
  readonly found: Set<string>;
  /** For the documents of all strings together. */
  readonly budget: YamlBudget;
}

function leavesOf(values: readonly unknown[]): ReadonlySet<string> {
  const leaves: Leaves = { found: new Set(), budget: new YamlBudget(MAX_DOCUMENT_BYTES) };
  for (const value of values) collect(value, leaves);
  return leaves.found;
}

/**
 * The text with `shown` instead of each value; overlapping values are replaced as one. Does not use a regular
 * expression: one with megabytes of values takes minutes, ends the process, or is rejected with a message that
 * contains it.
 */
function covered(text: string, search: StringSearch, shown: string): string {
  let result = '';
  let end = 0;
  let at = 0;
  const mayBeHidden = (value: string): boolean =>
    value.length >= MIN_INNER_LENGTH || standsAlone(text, at, at + value.length);
  for (; at < text.length; at++) {
    const found = search.at(text, at, mayBeHidden);
    if (found === undefined) continue;
    if (at >= end) result += text.slice(end, at) + shown;
    end = Math.max(end, at + found.length);
  }
  return result + text.slice(end);
}

const WORD = /[\w-]/;

const standsAlone = (text: string, start: number, end: number): boolean =>
  !WORD.test(text.charAt(start - 1)) && !WORD.test(text.charAt(end));

/** @param open names of fields with public values */
function collect(value: unknown, leaves: Leaves, open: readonly string[] = []): void {
  if (Array.isArray(value)) for (const item of value) collect(item, leaves, open);
  else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (typeof item !== 'string' || !open.includes(key)) collect(item, leaves, open);
    }
  } else if (typeof value === 'string') collectText(value, leaves);
  else if (typeof value === 'number' || typeof value === 'bigint') add(String(value), leaves.found);
}

function collectText(text: string, leaves: Leaves): void {
  const { found } = leaves;
  const trimmed = text.trim();
  if (trimmed.length < MIN_LENGTH) return;
  add(text, found);
  add(trimmed, found);
  add(Buffer.from(text).toString('base64'), found);
  // Messages contain texts as Go and JSON quote them.
  add(JSON.stringify(trimmed).slice(1, -1), found);
  const documents = documentsIn(text, leaves.budget);
  for (const one of documents) collect(one, leaves, ownField(one, 'kind') === 'Config' ? OPEN : []);
  if (documents.length > 0 || !/\s/.test(trimmed)) return;
  for (const part of [...trimmed.split('\n').map((line) => line.trim()), ...trimmed.split(/[\s"',{}[\]]+/)]) {
    // Keys of unreadable documents, such as `current-context:`, are public.
    if (part.length >= MIN_PART_LENGTH && !part.endsWith(':')) add(part, found);
  }
}

/** A kubeconfig is YAML in a string, and templates can parse it. */
function documentsIn(text: string, budget: YamlBudget): readonly unknown[] {
  if (!/[:{[]/.test(text)) return [];
  try {
    return parseYamlAll(text, { integers: 'exact', budget }).filter(
      (one) => isObject(one) || Array.isArray(one),
    );
  } catch (error) {
    if (error instanceof YamlError) return [];
    throw error;
  }
}

function add(text: string, found: Set<string>): void {
  if (text.length >= MIN_LENGTH) found.add(text);
}

/** Maximum length of a message; status fields and events have limits, too. */
const MAX_MESSAGE_BYTES = 8192;

/** Length of the kept end without such lines. */
const END_BYTES = 2048;

/**
 * Shortens the middle of a message that is too long for a status. Two short last lines with the remedy and the origin
 * stay; otherwise the end stays, which has the innermost cause. Called after masking, because a mask does not
 * recognise a part of a secret.
 */
export function shorten(message: string): string {
  if (Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return message;
  const [lastLines = endOf(message)] = /(?:\n.{0,200}){1,2}$/.exec(message) ?? [];
  const end = `…${lastLines}`;
  const start = Buffer.from(message).subarray(0, MAX_MESSAGE_BYTES - Buffer.byteLength(end));
  return trimmedEnd(start.toString('utf8'), '\ufffd') + end;
}

const endOf = (message: string): string =>
  Buffer.from(message)
    .subarray(-END_BYTES)
    .toString('utf8')
    .replace(/^\ufffd+/, '');

/** Masks an error with all its causes, including stacks, because logs contain them. Too long texts are shortened. */
export function maskError<E>(error: E, mask: Mask): E {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const { message, stack } = at;
    const shown = shorten(mask(message));
    at.message = shown;
    if (stack !== undefined) {
      const value = mask(stack.replace(message, () => shown));
      Object.defineProperty(at, 'stack', { value, configurable: true, writable: true });
    }
  }
  return error;
}
