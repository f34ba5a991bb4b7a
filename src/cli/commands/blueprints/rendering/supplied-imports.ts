/**
 * The imports file: values by import name, converted to the objects that an installation would find in the cluster.
 */
import type { ImportDefinition } from '../../../../api/blueprint.ts';
import type { Installation } from '../../../../api/kinds/installation.ts';
import type { Target } from '../../../../api/kinds/target.ts';
import { API_VERSION } from '../../../../api/labels.ts';
import type { DataImport, ImportSet } from '../../../../blueprint/import-set.ts';
import type { Blueprint } from '../../../../blueprint/model.ts';
import { hintFor } from '../../../../lib/closest.ts';
import { goJson } from '../../../../lib/gojson.ts';
import { isObject, ownField, type View } from '../../../../lib/objects.ts';

/** The file is invalid; one line for each error. */
export class ImportsUnusable extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ImportsUnusable';
    this.problems = problems;
  }
}

type Kind = 'data' | 'target' | 'targetList' | 'targetMap';

/**
 * @param file the parsed imports file; like in landscaper-cli, the values may be below `imports`
 * @param installation defines the imports, if it has any; otherwise the blueprint does
 * @throws ImportsUnusable
 */
export function suppliedImports(file: unknown, info: Blueprint, installation: View<Installation>): ImportSet {
  const values = valuesIn(file, info);
  const kinds = kindsOf(info, installation);
  const problems = [...unknownNames(values, kinds), ...missingImports(values, info, installation)];
  const namespace = installation.metadata.namespace ?? '';
  const set = {
    data: new Map<string, DataImport>(),
    targets: new Map<string, View<Target>>(),
    targetLists: new Map<string, readonly View<Target>[]>(),
    targetMaps: new Map<string, Readonly<Record<string, View<Target>>>>(),
  };
  const isSecret = (name: string): boolean =>
    installation.spec.imports?.data?.some((one) => one.name === name && one.secretRef) ?? false;
  const target = (name: string, value: unknown): Target => {
    const made = targetFrom(name, namespace, value);
    if (typeof made !== 'string') return made;
    problems.push(made);
    return emptyTarget(name, namespace);
  };
  for (const [name, value] of Object.entries(values)) {
    switch (kinds.get(name)) {
      case 'target':
        set.targets.set(name, target(name, value));
        break;
      case 'targetList':
        if (Array.isArray(value))
          set.targetLists.set(
            name,
            value.map((one, i) => target(`${name}-${i}`, one)),
          );
        else problems.push(`${name}: expected a list of targets`);
        break;
      case 'targetMap': {
        if (!isObject(value)) problems.push(`${name}: expected a map of targets`);
        const entries = Object.entries(isObject(value) ? value : {});
        set.targetMaps.set(
          name,
          Object.fromEntries(entries.map(([key, one]) => [key, target(`${name}-${key}`, one)])),
        );
        break;
      }
      case 'data':
        set.data.set(name, { value, version: '', isSecret: isSecret(name) });
        break;
      case undefined:
    }
  }
  if (problems.length > 0) throw new ImportsUnusable(problems);
  return set;
}

function valuesIn(file: unknown, info: Blueprint): Readonly<Record<string, unknown>> {
  if (file === null || file === undefined) return {};
  if (!isObject(file)) throw new ImportsUnusable(['the imports must be a map from names to values']);
  const inner = ownField(file, 'imports');
  const isWrapped = isObject(inner) && Object.keys(file).length === 1;
  return isWrapped && !(info.imports ?? []).some(({ name }) => name === 'imports') ? inner : file;
}

function kindsOf(info: Blueprint, { spec }: View<Installation>): ReadonlyMap<string, Kind> {
  const kinds = new Map<string, Kind>();
  const { data, targets } = spec.imports ?? {};
  for (const { name } of data ?? []) kinds.set(name, 'data');
  for (const entry of targets ?? []) {
    const isList = entry.targets !== undefined || entry.targetListRef !== undefined;
    const isMap = entry.targetMap !== undefined || entry.targetMapRef !== undefined;
    kinds.set(entry.name, isList ? 'targetList' : isMap ? 'targetMap' : 'target');
  }
  if (data || targets) return kinds;
  for (const { name, type } of allDefinitions(info.imports ?? [])) kinds.set(name, (type ?? 'data') as Kind);
  return kinds;
}

const allDefinitions = (list: readonly View<ImportDefinition>[]): readonly View<ImportDefinition>[] =>
  list.flatMap((one) => [one, ...allDefinitions(one.imports ?? [])]);

function unknownNames(values: object, kinds: ReadonlyMap<string, Kind>): string[] {
  const known = [...kinds.keys()];
  const all = `there are ${known.join(', ') || 'none'}`;
  return Object.keys(values)
    .filter((name) => !kinds.has(name))
    .map((name) => `${name}: there is no such import; ${hintFor(name, known, all)}`);
}

function missingImports(values: object, info: Blueprint, { spec }: View<Installation>): string[] {
  const has = (name: string): boolean =>
    Object.hasOwn(values, name) || Object.hasOwn(spec.importDataMappings ?? {}, name);
  const missing: string[] = [];
  const visit = (definitions: readonly View<ImportDefinition>[]): void => {
    for (const one of definitions) {
      const isThere = has(one.name) || (one.default?.value ?? undefined) !== undefined;
      if (!has(one.name) && (one.required ?? true))
        missing.push(`${one.name}: missing; it is ${wanted(one)}`);
      else if (isThere) visit(one.imports ?? []);
    }
  };
  visit(info.imports ?? []);
  return missing;
}

const wanted = ({ type = 'data', schema, targetType = '' }: View<ImportDefinition>): string =>
  type === 'data' ? `data with the schema ${goJson(schema ?? {})}` : `a ${type} of the type ${targetType}`;

/** A Target object, either complete or only its spec. */
function targetFrom(name: string, namespace: string, value: unknown): Target | string {
  const spec = ownField(value, 'spec') ?? value;
  const type = ownField(spec, 'type');
  if (!isObject(spec) || typeof type !== 'string') {
    return `${name}: expected a Target object, with spec.type and spec.config`;
  }
  const own = ownField(value, 'metadata');
  const metadata = { name, namespace, ...(isObject(own) ? own : {}) };
  return { apiVersion: API_VERSION, kind: 'Target', metadata, spec: { ...spec, type } };
}

const emptyTarget = (name: string, namespace: string): Target => ({
  apiVersion: API_VERSION,
  kind: 'Target',
  metadata: { name, namespace },
  spec: { type: '' },
});
