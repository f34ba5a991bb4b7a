/** Evaluates foreign Spiff documents with the original and with our engine, without bindings. */
import { readFileSync } from 'node:fs';
import { byCodePoint } from '../../../src/lib/gojson.ts';
import { isObject } from '../../../src/lib/objects.ts';
import { textOfYaml } from '../../../src/lib/yaml-bytes.ts';
import type { Answer, Oracle } from '../../go-oracle/oracle.ts';
import { evaluateDocument } from '../../go-oracle/spiff/documents.ts';
import { rowOf, type NamedFile, type Outcome, type Row } from './table.ts';

/** The original does not keep the order of fields. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => byCodePoint(a, b));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

/** The fields of the result. */
function outcomeOf({ output, error }: Answer): Outcome {
  if (error !== undefined) return { error };
  const result: unknown = sorted(JSON.parse(output ?? 'null'));
  const fields = isObject(result) ? Object.entries(result) : [['the result', result] as const];
  return { parts: new Map(fields.map(([key, value]) => [key, JSON.stringify(value, null, 1)])) };
}

export function compareSpiffFiles(ask: Oracle, files: readonly NamedFile[], done: (row: Row) => void): void {
  const documents = files.map(({ path }) => textOfYaml(readFileSync(path)));
  const answers = ask(documents.map((document) => ({ document, bindings: {} })));
  for (const [i, { name }] of files.entries()) {
    const [document = '', answer = {}] = [documents[i], answers[i]];
    done(rowOf(name, outcomeOf(answer), outcomeOf(evaluateDocument(document, {}))));
  }
}
