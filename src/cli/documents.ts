/** Objects as YAML documents, ready for `kubectl apply -f -`. */
import { toYaml } from '../lib/yaml.ts';

export const printYaml = (documents: readonly unknown[]): string =>
  documents.map((document) => toYaml(document).trimEnd()).join('\n---\n');
