/** Keeps secrets out of what is printed: every text that is, or holds, a secret value shows `***` in its place. */
import { isObject } from '../../lib/objects.ts';
import { parseYaml, YamlError } from '../../lib/yaml.ts';

export const MASK = '***';
/** Shorter texts are masked only where they are the whole value: they may stand in any word. */
const MIN_PART = 4;

export interface Mask {
  text(text: string): string;
  /** All texts and numbers in a value; the names of fields stay. */
  value(value: unknown): unknown;
}

export const noMask: Mask = { text: (text) => text, value: (value) => value };

export interface Secrets {
  /** Values of any shape: every text and number in them is secret, also as base64 or within a YAML text. */
  readonly values: readonly unknown[];
  /** Configurations of targets: names and addresses in a kubeconfig are no secrets. */
  readonly targets: readonly unknown[];
}

export function maskOf(secrets: Secrets): Mask {
  const whole = new Set<string>();
  for (const secret of secrets.values) collect(secret, { found: whole, open: [] }, 0);
  for (const config of secrets.targets) collect(config, { found: whole, open: OPEN }, 0);
  // The longest first: a secret may be part of another one.
  const parts = [...whole].filter((text) => text.length >= MIN_PART).sort((a, b) => b.length - a.length);
  const text = (plain: string): string =>
    whole.has(plain) ? MASK : parts.reduce((at, part) => at.replaceAll(part, MASK), plain);
  const value = (plain: unknown): unknown => {
    if (typeof plain === 'string') return text(plain);
    if (typeof plain === 'number' || typeof plain === 'bigint')
      return whole.has(String(plain)) ? MASK : plain;
    if (Array.isArray(plain)) return plain.map(value);
    if (!isObject(plain)) return plain;
    return Object.fromEntries(Object.entries(plain).map(([key, item]) => [key, value(item)]));
  };
  return { text, value };
}

const MAX_DEPTH = 20;

/** Fields of a kubeconfig that everybody may see, and that would be found everywhere. */
const OPEN = ['apiVersion', 'kind', 'name', 'current-context', 'cluster', 'user', 'namespace', 'server'];

interface Collection {
  readonly found: Set<string>;
  /** Names of fields whose texts are no secrets. */
  readonly open: readonly string[];
}

function collect(secret: unknown, into: Collection, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof secret === 'number' || typeof secret === 'bigint') into.found.add(String(secret));
  else if (typeof secret === 'string') collectText(secret, into, depth);
  else if (Array.isArray(secret)) for (const item of secret) collect(item, into, depth + 1);
  else if (isObject(secret)) {
    for (const [key, item] of Object.entries(secret)) {
      if (typeof item !== 'string' || !into.open.includes(key)) collect(item, into, depth + 1);
    }
  }
}

function collectText(text: string, into: Collection, depth: number): void {
  if (text === '') return;
  const { found } = into;
  for (const form of [
    text,
    text.trimEnd(),
    Buffer.from(text).toString('base64'),
    JSON.stringify(text).slice(1, -1),
  ]) {
    found.add(form);
  }
  const inner = structureIn(text);
  if (inner !== undefined) {
    collect(inner, into, depth + 1);
    return;
  }
  // Keys and certificates have several lines, which templates indent.
  for (const line of text.split('\n').map((one) => one.trim())) if (line.length >= MIN_LINE) found.add(line);
}

const MIN_LINE = 16;

/** A kubeconfig is YAML in a text, and templates take it apart. */
function structureIn(text: string): unknown {
  if (!/[:{[]/.test(text)) return undefined;
  try {
    const value = parseYaml(text);
    return isObject(value) || Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}
