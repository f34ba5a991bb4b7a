/** The CustomResourceDefinitions of this version, read from the generated files of the package. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseYaml } from '../lib/yaml.ts';

interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
    };
    readonly scope: 'Namespaced' | 'Cluster';
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: Readonly<Record<string, unknown>> };
      readonly [field: string]: unknown;
    }[];
  };
}

/**
 * All definitions, sorted by name. Every call returns new objects.
 * @throws Error if the package does not contain the folder `charts/espalier/crds`
 */
export function loadCrds(): CustomResourceDefinition[] {
  const folder = crdFolder();
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => parseYaml(readFileSync(join(folder, file), 'utf8')) as CustomResourceDefinition);
}

/** That of the chart, next to package.json; its distance differs between sources and compiled files. */
function crdFolder(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const candidate = join(folder, 'charts/espalier/crds');
    if (existsSync(join(folder, 'package.json')) && existsSync(candidate)) return candidate;
    if (folder === dirname(folder))
      throw new Error(`no folder charts/espalier/crds above ${import.meta.dirname}`);
  }
}
