/** Upstream's schemas of the built-in kinds, read once from the file that hack/update-kinds generates. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { JsonSchema } from '../schema/types.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type NamedSchema = JsonSchema & {
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
};

interface KindsData {
  /** Keyed by name: `io.k8s.api.core.v1.Pod`. */
  readonly schemas: Readonly<Record<string, NamedSchema>>;
  /** The schema name of a kind. */
  nameOf(group: string, version: string, kind: string): string | undefined;
}

const FILE = new URL('../data/openapi.json.gz', import.meta.url);
export const REF = '#/components/schemas/';

let loaded: KindsData | undefined;

/** The data; the first call takes about 20 ms. @throws Error if the file does not exist */
export const kindsData = (): KindsData => (loaded ??= load());

function load(): KindsData {
  const { schemas } = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as {
    schemas: Record<string, NamedSchema>;
  };
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas)) {
    for (const { group, version, kind } of schema['x-kubernetes-group-version-kind'] ?? []) {
      names.set(`${group}/${version}/${kind}`, name);
    }
  }
  return { schemas, nameOf: (group, version, kind) => names.get(`${group}/${version}/${kind}`) };
}
