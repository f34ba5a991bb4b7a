/**
 * Limits the number of values in a JSON text. `JSON.parse` cannot be interrupted: a string of a few MiB with millions
 * of values makes V8 end the whole process when the heap is full, even in a worker thread with its own limit.
 */

import { structureExcess, type StructureExcess } from './json-scan.ts';

const MAX_JSON_VALUES = 1_000_000;
const MAX_JSON_DEPTH = 10_000;

export class JsonTooLarge extends Error {
  override readonly name = 'JsonTooLarge';
}

/** @throws JsonTooLarge, SyntaxError */
export function parseBoundedJson(text: string): unknown {
  checkJsonBounds(text);
  return JSON.parse(text) as unknown;
}

/** Linear, and free for texts that are too short to exceed the limits. @throws JsonTooLarge */
export function checkJsonBounds(text: string): void {
  if (text.length <= MAX_JSON_DEPTH) return;
  const limits = { maxDepth: MAX_JSON_DEPTH, maxElements: MAX_JSON_VALUES - 1 };
  const excess = structureExcess(Buffer.from(text), limits);
  if (excess !== undefined) throw new JsonTooLarge(SENTENCES[excess]);
}

const SENTENCES: Readonly<Record<StructureExcess, string>> = {
  depth: `the JSON is nested more than ${String(MAX_JSON_DEPTH)} deep, a fixed limit`,
  elements: `the JSON holds more than ${String(MAX_JSON_VALUES)} values, a fixed limit`,
};
