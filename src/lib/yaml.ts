/**
 * YAML as Kubernetes reads and writes it (sigs.k8s.io/yaml, go-yaml 2): `on` is true, `0777` is 511, a date is a
 * string, the last of equal keys wins, keys become strings. Messages are go-yaml's, with correct line numbers.
 *
 * Integers that a double cannot represent are never rounded silently. By default such a document is rejected; a
 * caller that supports `bigint` passes `integers: 'exact'`, one that needs upstream's doubles `'rounded'`.
 */
import { YamlDecoder, type YamlOptions } from './yaml-decode.ts';
import { GIVEN_YAML, PRETTY_YAML, YamlEmitter } from './yaml-emit.ts';
import { YamlError } from './yaml-error.ts';
import { YamlParser, type YamlNode } from './yaml-parse.ts';
import type { YamlScanOptions } from './yaml-scan.ts';

export { YamlError, type YamlNode };

const CONTROL = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

/** Whether the text has characters that are invalid in YAML. */
export const hasControlCharacters = (text: string): boolean => CONTROL.test(text);

function checkCharacters(text: string): void {
  const at = (text.startsWith('\ufeff') ? text.slice(1) : text).search(CONTROL);
  if (at < 0) return;
  const line = text.slice(0, at).split('\n').length;
  throw new YamlError(`yaml: line ${String(line)}: control characters are not allowed`, line);
}

/**
 * The first document of a YAML text, as JSON; null if it is empty. Further documents are ignored.
 * @throws YamlError
 */
export function parseYaml(text: string, options: YamlOptions = {}): unknown {
  checkCharacters(text);
  const node = new YamlParser(text).document();
  return node ? new YamlDecoder(options).decode(node) : null;
}

/** A document as JSON. @throws YamlError */
export const decodeYaml = (node: YamlNode): unknown => new YamlDecoder({}).decode(node);

/** The JSON name of a key in a document. @throws YamlError if JSON cannot represent it */
export const yamlKey = (key: YamlNode): string => new YamlDecoder({}).key(key);

/** All documents of a YAML stream. @throws YamlError */
export const parseYamlAll = (text: string, options: YamlOptions = {}): unknown[] =>
  parseYamlNodes(text).map((node) => new YamlDecoder(options).decode(node));

/** All documents of a YAML stream as trees, for callers with their own rules for scalars. @throws YamlError */
export const parseYamlNodes = (text: string, options: YamlScanOptions = {}): YamlNode[] => [
  ...yamlNodes(text, options),
];

/** The same one by one: documents before an error are returned first. @throws YamlError */
export function* yamlNodes(text: string, options: YamlScanOptions = {}): Generator<YamlNode, void> {
  checkCharacters(text);
  const parser = new YamlParser(text, options);
  for (let node = parser.document(); node; node = parser.document()) yield node;
}

/**
 * A JSON value as YAML, with a final line break: keys sorted, lists not indented below their key, long strings
 * folded.
 * @throws TypeError for functions and symbols
 */
export const toYaml = (value: unknown): string => new YamlEmitter().emit(value);

/** The same in the layout of go-yaml 3: lists indented below their key, long strings in one line. */
export const toYamlPretty = (value: unknown): string => new YamlEmitter(PRETTY_YAML).emit(value);

/** A JSON value as a person writes it: keys in their order, long strings in one line. */
export const toYamlAsGiven = (value: unknown): string => new YamlEmitter(GIVEN_YAML).emit(value);
