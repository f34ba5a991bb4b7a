/** Finds the imports of an installation: which objects to look up, and their values. */
import type { DataObject } from '../api/kinds/dataobject.ts';
import type { DataImport as DataImportSpec, Installation, TargetImport } from '../api/kinds/installation.ts';
import type { Target } from '../api/kinds/target.ts';
import { dataSourceTypes, labels } from '../api/labels.ts';
import { emptyImportSet, type DataImport, type ImportSet } from '../blueprint/import-set.ts';
import {
  keyedImport,
  measuredData,
  inexactIntegerMessage,
  type KeyedReference,
  type KeyedSource,
  type MeasuredImport,
} from './dataimport.ts';
import { ImportBudget, tooManyImports } from './import-limits.ts';
import { closest } from '../lib/closest.ts';
import { exactJson } from '../lib/exact-json.ts';
import type { View } from '../lib/objects.ts';
import { objectName, parentContext } from './scope.ts';

/** Names of the objects that an installation imports from, all in its namespace; without duplicates. */
interface NeededObjects {
  readonly dataObjects: readonly string[];
  readonly targets: readonly string[];
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
  /** Targets that are found by labels: the elements of a list or map that the parent imports. */
  readonly targetSelectors: readonly TargetSelector[];
}

/** Selects the copies of a parent's target list or map import that belong to the current job. */
interface TargetSelector {
  /** name of the import */
  readonly import: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the objects that were read; undefined if an object does not exist. */
export interface ImportLookups {
  dataObject(name: string): View<DataObject> | undefined;
  target(name: string): View<Target> | undefined;
  secret(name: string): KeyedSource | undefined;
  configMap(name: string): KeyedSource | undefined;
  targetsBySelector(selector: TargetSelector): readonly View<Target>[];
  /** The imports from secrets and config maps, if they have been read. Default: reads them in this thread. */
  keyed?(name: string): MeasuredImport | string | undefined;
  /** Names that a root can import, for suggestions; none by default. */
  rootNames?(kind: 'data' | 'target'): Iterable<string>;
}

interface MissingImport {
  readonly import: string;
  /** in upstream's words */
  readonly message: string;
  /** Only of the first: the name that was probably meant, as the end of a sentence. Others would cost a comparison each. */
  readonly hint?: string;
}

export interface FoundImports {
  readonly imports: ImportSet;
  /** In upstream's order: data, then targets. */
  readonly missing: readonly MissingImport[];
}

/** @param parent name of the parent installation, undefined for a root */
export function neededObjects(installation: View<Installation>, parent: string | undefined): NeededObjects {
  const context = parentContext(parent);
  const { data = [], targets = [] } = installation.spec.imports ?? {};
  const named = (refs: readonly (string | undefined)[]): readonly string[] =>
    unique(refs.filter((ref) => ref !== undefined && ref !== '') as string[]);
  return {
    dataObjects: named(data.map((i) => i.dataRef)).map((ref) => objectName(context, ref)),
    targets: unique(targets.flatMap(targetRefs).map((ref) => objectName(context, ref))),
    secrets: named(data.map((i) => i.secretRef?.name)),
    configMaps: named(data.map((i) => i.configMapRef?.name)),
    targetSelectors: targets.flatMap((i) => selectorFor(i, installation, context) ?? []),
  };
}

/** All imports as missing, for a common reason. @param message the reason */
export function refusedImports({ spec }: View<Installation>, message: string): FoundImports {
  const [first] = [...(spec.imports?.data ?? []), ...(spec.imports?.targets ?? [])];
  return { imports: emptyImportSet, missing: [{ import: first?.name ?? '', message }] };
}

/**
 * Finds all imports. Missing objects are listed in the result, not thrown. If the imports exceed a limit, they are
 * not read.
 */
export function findImports(
  installation: View<Installation>,
  parent: string | undefined,
  lookups: ImportLookups,
): FoundImports {
  const tooMany = tooManyImports(installation);
  if (tooMany !== undefined) return refusedImports(installation, tooMany);
  const context = parentContext(parent);
  const namespace = installation.metadata.namespace ?? '';
  const missing: MissingImport[] = [];
  const data = new Map<string, DataImport>();
  const budget = new ImportBudget();
  for (const spec of installation.spec.imports?.data ?? []) {
    const found = findData(spec, context, namespace, lookups);
    if (typeof found === 'string') {
      missing.push({
        import: spec.name,
        message: found,
        ...(missing.length === 0 && hintFor('data', [spec.dataRef], context, lookups)),
      });
      continue;
    }
    const { bytes, ...value } = found;
    const tooLarge = budget.take(bytes);
    if (tooLarge !== undefined) return refusedImports(installation, tooLarge);
    data.set(spec.name, value);
  }
  const finder = new TargetFinder(installation, context, lookups);
  for (const spec of installation.spec.imports?.targets ?? []) {
    const message = finder.add(spec);
    if (message === undefined) continue;
    missing.push({
      import: spec.name,
      message,
      ...(missing.length === 0 && hintFor('target', targetRefs(spec), context, lookups)),
    });
  }
  const { targets, targetLists, targetMaps } = finder;
  const tooLarge = finder.sizes((bytes) => budget.take(bytes));
  if (tooLarge !== undefined) return refusedImports(installation, tooLarge);
  return { imports: { data, targets, targetLists, targetMaps }, missing };
}

/** What a data import reads of a secret or config map; undefined for other imports. */
export function keyedReference(
  { secretRef, configMapRef }: View<DataImportSpec>,
  namespace: string,
): KeyedReference | undefined {
  if (secretRef) return { kind: 'secret', namespace, name: secretRef.name, key: secretRef.key };
  return configMapRef && { kind: 'configmap', namespace, name: configMapRef.name, key: configMapRef.key };
}

/** The value, or a message that says why there is none. */
function findData(
  spec: View<DataImportSpec>,
  context: string,
  namespace: string,
  lookups: ImportLookups,
): MeasuredImport | string {
  const ref = keyedReference(spec, namespace);
  if (ref) {
    const source = ref.kind === 'secret' ? lookups.secret(ref.name) : lookups.configMap(ref.name);
    return lookups.keyed?.(spec.name) ?? keyedImport(ref, source);
  }
  if (spec.dataRef === undefined || spec.dataRef === '') {
    return `import ${spec.name}: exactly one of dataRef, secretRef and configMapRef must be set`;
  }
  const name = objectName(context, spec.dataRef);
  const object = lookups.dataObject(name);
  if (!object) {
    const readable = name === spec.dataRef ? name : `${name} (${context}/${spec.dataRef})`;
    return `unable to fetch data object ${readable}: dataobjects.landscaper.gardener.cloud "${name}" not found`;
  }
  return inexactIntegerMessage('data object', object, { data: object.data }) ?? measuredData(object);
}

/** Names that are compared; more would take noticeable time. */
const MAX_COMPARED = 1000;

/** For a root. The names of other imports are those of the blueprint of the parent, which has checked them. */
function hintFor(
  kind: 'data' | 'target',
  refs: readonly (string | undefined)[],
  context: string,
  lookups: ImportLookups,
): { readonly hint?: string } {
  if (context !== '') return {};
  const isThere = (ref: string): boolean =>
    (kind === 'data' ? lookups.dataObject(ref) : lookups.target(ref)) !== undefined;
  const absent = refs.find((ref) => ref !== undefined && ref !== '' && !isThere(ref));
  if (absent === undefined) return {};
  const known: string[] = [];
  for (const name of lookups.rootNames?.(kind) ?? []) if (known.push(name) === MAX_COMPARED) break;
  const meant = closest(absent, known);
  return meant === undefined ? {} : { hint: `; did you mean "${meant}"?` };
}

/** Collects target imports of all forms. */
class TargetFinder {
  readonly targets = new Map<string, View<Target>>();
  readonly targetLists = new Map<string, readonly View<Target>[]>();
  readonly targetMaps = new Map<string, Readonly<Record<string, View<Target>>>>();
  readonly #installation: View<Installation>;
  readonly #context: string;
  readonly #lookups: ImportLookups;

  constructor(installation: View<Installation>, context: string, lookups: ImportLookups) {
    this.#installation = installation;
    this.#context = context;
    this.#lookups = lookups;
  }

  /** @returns a message if an object is missing */
  add(spec: View<TargetImport>): string | undefined {
    const absent = targetRefs(spec).find((ref) => !this.#lookups.target(objectName(this.#context, ref)));
    if (absent !== undefined) return missingTarget(this.#context, absent);
    for (const ref of targetRefs(spec)) {
      const target = this.#get(ref);
      const refusal = inexactIntegerMessage('target', target, { spec: target.spec });
      if (refusal !== undefined) return refusal;
    }
    if (spec.target !== undefined && spec.target !== '') {
      this.targets.set(spec.name, this.#get(spec.target));
    } else if (spec.targets) {
      this.targetLists.set(
        spec.name,
        spec.targets.map((ref) => this.#get(ref)),
      );
    } else if (spec.targetMap) {
      const entries = Object.entries(spec.targetMap).map(([key, ref]) => [key, this.#get(ref)] as const);
      this.targetMaps.set(spec.name, Object.fromEntries(entries));
    } else if (spec.targetListRef !== undefined && spec.targetListRef !== '') {
      this.targetLists.set(spec.name, this.#elements(spec).sort(byLabel(labels.dataIndex)));
    } else if (spec.targetMapRef !== undefined && spec.targetMapRef !== '') {
      const key = (t: View<Target>): string => t.metadata.labels?.[labels.dataTargetMapKey] ?? '';
      const elements = this.#elements(spec).filter((t) => key(t) !== '');
      this.targetMaps.set(spec.name, Object.fromEntries(elements.map((t) => [key(t), t])));
    } else {
      return `import ${spec.name}: exactly one of target, targets, targetMap, targetListRef and targetMapRef must be set`;
    }
    return undefined;
  }

  /** Passes the sizes of all targets, as JSON, to `take`. @returns the first message of `take` */
  sizes(take: (bytes: number) => string | undefined): string | undefined {
    const known = new Map<View<Target>, number>();
    const all = [
      this.targets.values(),
      ...this.targetLists.values(),
      ...[...this.targetMaps.values()].map((map) => Object.values(map)),
    ];
    for (const list of all) {
      for (const target of list) {
        const bytes = known.get(target) ?? exactJson(target).length;
        known.set(target, bytes);
        const refusal = take(bytes);
        if (refusal !== undefined) return refusal;
      }
    }
    return undefined;
  }

  #get(ref: string): View<Target> {
    const name = objectName(this.#context, ref);
    const target = this.#lookups.target(name);
    if (!target) throw new Error(`target ${name} was deleted while it was being read`);
    return target;
  }

  #elements(spec: View<TargetImport>): View<Target>[] {
    const selector = selectorFor(spec, this.#installation, this.#context);
    return selector ? [...this.#lookups.targetsBySelector(selector)] : [];
  }
}

/** Upstream's sentence, followed by the readable name if the object name is a hash. */
function missingTarget(context: string, ref: string): string {
  const name = objectName(context, ref);
  return `targets.landscaper.gardener.cloud "${name}" not found${name === ref ? '' : ` (${context}/${ref})`}`;
}

const targetRefs = (spec: View<TargetImport>): readonly string[] => {
  if (spec.target !== undefined && spec.target !== '') return [spec.target];
  return spec.targets ?? Object.values(spec.targetMap ?? {});
};

/** undefined unless the import references a list or map of the parent; for a root, there is none. */
function selectorFor(
  spec: View<TargetImport>,
  installation: View<Installation>,
  context: string,
): TargetSelector | undefined {
  if ((spec.target ?? '') !== '' || spec.targets || spec.targetMap || context === '') return undefined;
  const key = spec.targetListRef || spec.targetMapRef;
  if (key === undefined || key === '') return undefined;
  return {
    import: spec.name,
    labels: {
      [labels.dataContext]: context,
      [labels.dataKey]: key,
      [labels.dataSourceType]: dataSourceTypes.import,
      [labels.dataJobId]: installation.status?.jobID ?? '',
    },
  };
}

/** In the order of the parent's list. Upstream orders by object name, which is arbitrary. */
const byLabel =
  (label: string) =>
  (a: View<Target>, b: View<Target>): number =>
    Number(a.metadata.labels?.[label] ?? 0) - Number(b.metadata.labels?.[label] ?? 0);

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];
