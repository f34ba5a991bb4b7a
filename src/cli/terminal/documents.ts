/** Machine-readable output: objects as YAML documents for `kubectl apply -f -`, and values as indented JSON. */
import { exactJson } from '../../lib/exact-json.ts';
import { toYaml } from '../../lib/yaml.ts';

/** Formats for programs. */
export type MachineFormat = 'yaml' | 'json';

export const printYaml = (documents: readonly unknown[]): string =>
  documents.map((document) => toYaml(document).trimEnd()).join('\n---\n');

/** Integers keep all their digits. */
export const printJson = (value: unknown): string => exactJson(value, 2);

/** One value, without a line break at the end. */
export const printValue = (value: unknown, format: MachineFormat): string =>
  format === 'json' ? printJson(value) : printYaml([value]);

/** Objects for kubectl: YAML documents, or one List. Without a line break at the end. */
export const printObjects = (items: readonly unknown[], format: MachineFormat): string =>
  format === 'json' ? printJson({ apiVersion: 'v1', kind: 'List', items }) : printYaml(items);
