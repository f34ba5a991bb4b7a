/** The recorded outcomes of a real server: full objects as they are, the others as differences from these. */
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { equalJson, isObject } from '../../../../src/apiserver/types.ts';
import type { Json } from '../subject.ts';
import type { Outcome, Outcomes } from './outcomes.ts';

const FILE = new URL('./recorded.json.gz', import.meta.url);

/** A path and its value; without one, the member is absent. */
export type Difference = readonly [path: string, value?: unknown];

/** `[base, …differences]`, or an object, or a word. */
type Entry = Outcome;
type File = Record<string, Record<string, Entry>>;

export function readRecorded(): Record<string, Outcomes> {
  const file = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as File;
  return Object.fromEntries(
    Object.entries(file).map(([group, entries]) => {
      const outcomes: Record<string, Outcome> = {};
      for (const [name, entry] of Object.entries(entries))
        outcomes[name] = Array.isArray(entry) ? patched(outcomes[entry[0] as string], entry.slice(1)) : entry;
      return [group, outcomes];
    }),
  );
}

export function writeRecorded(groups: Readonly<Record<string, Outcomes>>): void {
  const file: File = {};
  for (const [group, outcomes] of Object.entries(groups)) {
    const entries: Record<string, Entry> = (file[group] = {});
    let base = '';
    for (const [name, outcome] of Object.entries(outcomes)) {
      const isBase = base === '' || !name.includes(' ');
      if (isObject(outcome) && isBase) base = name;
      entries[name] =
        isObject(outcome) && base !== name ? [base, ...differences(outcomes[base], outcome)] : outcome;
    }
  }
  writeFileSync(FILE, gzipSync(`${JSON.stringify(file)}\n`, { level: 9 }));
}

/** What is different in `to`; members of lists are not compared. */
export function differences(from: unknown, to: unknown, path = ''): Difference[] {
  if (equalJson(from, to)) return [];
  if (!isObject(from) || !isObject(to)) return [to === undefined ? [path] : [path, to]];
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].flatMap((key) =>
    differences(from[key], to[key], path === '' ? key : `${path}\n${key}`),
  );
}

function patched(base: Json, changes: readonly Difference[]): Json {
  const object = structuredClone(base);
  for (const [path, value] of changes) {
    const keys = path.split('\n');
    const last = keys.pop() ?? '';
    const parent = keys.reduce((at, key) => (at[key] ??= {}), object);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return object;
}
