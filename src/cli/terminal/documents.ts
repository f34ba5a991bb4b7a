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

/** Kubernetes objects for kubectl: YAML documents, one List, or names. Without a line break at the end. */
export function printObjects(items: readonly unknown[], format: MachineFormat | 'name'): string {
  if (format === 'name') return items.map((item) => nameLine(item as NamedObject)).join('\n');
  return format === 'json' ? printJson({ apiVersion: 'v1', kind: 'List', items }) : printYaml(items);
}

interface NamedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** `installation.landscaper.gardener.cloud/web`, as `kubectl -o name` prints it. */
export function nameLine({ apiVersion, kind, metadata }: NamedObject): string {
  const [group, version] = apiVersion.split('/');
  const type = version === undefined ? kind : `${kind}.${group ?? ''}`;
  return `${type.toLowerCase()}/${metadata.name}`;
}
