/** Machine-readable output: objects as YAML documents for `kubectl apply -f -`, and values as indented JSON. */
import { exactJson } from '../../lib/exact-json.ts';
import { toYaml } from '../../lib/yaml.ts';

export const printYaml = (documents: readonly unknown[]): string =>
  documents.map((document) => toYaml(document).trimEnd()).join('\n---\n');

/** Integers keep all their digits. */
export const printJson = (value: unknown): string => exactJson(value, 2);
