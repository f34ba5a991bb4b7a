/** Where the value of an import is from: through imports, mappings and exports to the objects of users. Pure. */
import { objectName } from '../../dataflow/scope.ts';
import { targetRefs, type Flow, type Inst, type Landscape } from './landscape.ts';
import { OMITTED, refersTo, someStep, StepBudget, type TraceStep } from './step.ts';

interface TracedImport {
  readonly flow: Flow;
  readonly steps: readonly TraceStep[];
}

/** Names of all imports of an installation, including those that mappings compute. */
export const importNames = ({ spec }: Inst): readonly string[] => [
  ...(spec.imports?.data ?? []).map(({ name }) => name),
  ...(spec.imports?.targets ?? []).map(({ name }) => name),
  ...Object.keys(spec.importDataMappings ?? {}),
];

/** @returns undefined if the installation has no such import */
export function sourcesOf(self: Inst, name: string, from: Landscape | Walk): TracedImport | undefined {
  const { spec } = self;
  const { landscape, visited, budget } = 'budget' in from ? from : startAt(from);
  const walk: Walk = { landscape, budget, visited: new Set([...visited, `${self.metadata.name} ${name}`]) };
  // A mapping of the same name replaces the imported value.
  const mapping = spec.importDataMappings?.[name];
  if (mapping !== undefined) return { flow: 'data', steps: [mappingStep(self, name, mapping, walk)] };
  const data = spec.imports?.data?.find((one) => one.name === name);
  if (data) return { flow: 'data', steps: [dataStep(self, data, walk)] };
  const target = spec.imports?.targets?.find((one) => one.name === name);
  if (target)
    return {
      flow: 'target',
      steps: targetRefs(target).map((ref) => scopeStep('target', ref, landscape.parentOf(self), walk)),
    };
  return undefined;
}

interface Walk {
  readonly landscape: Landscape;
  /** Imports and exports above this one, to end in cycles. */
  readonly visited: ReadonlySet<string>;
  readonly budget: StepBudget;
}

const startAt = (landscape: Landscape): Walk => ({ landscape, visited: new Set(), budget: new StepBudget() });

function mappingStep(self: Inst, name: string, mapping: unknown, walk: Walk): TraceStep {
  const path = walk.landscape.pathOf(self);
  const imports = [...(self.spec.imports?.data ?? []), ...(self.spec.imports?.targets ?? [])];
  const all = imports.map((one) => ({ name: one.name, steps: unmappedSteps(self, one.name, walk) }));
  const used = all.filter((one) => refersTo(mapping, one.name));
  // A mapping may refer to an import in other ways than by its name as a word.
  const mayBeSecret = all.some(({ steps }) => someStep(steps, (step) => step.isSecret === true));
  return {
    text: `mapping ${name} of installation ${path}`,
    ...(mayBeSecret && { isSecret: true as const }),
    steps: used.map(({ name: input, steps }) => ({
      text: `import ${input} of installation ${path}`,
      steps,
    })),
  };
}

/** A mapping sees the imported values, not the results of other mappings. */
function unmappedSteps(self: Inst, name: string, walk: Walk): readonly TraceStep[] {
  const { importDataMappings: _, ...spec } = self.spec;
  return sourcesOf({ ...self, spec }, name, walk)?.steps ?? [];
}

type DataImport = NonNullable<NonNullable<Inst['spec']['imports']>['data']>[number];

function dataStep(self: Inst, { dataRef, secretRef, configMapRef }: DataImport, walk: Walk): TraceStep {
  const { landscape } = walk;
  const keyed = ({ name, key }: { readonly name: string; readonly key?: string | undefined }): string =>
    `${landscape.namespace}/${name}${key === undefined ? '' : `, key ${key}`}`;
  if (secretRef) return { text: `Secret ${keyed(secretRef)}`, isSecret: true, steps: [] };
  if (configMapRef) return { text: `ConfigMap ${keyed(configMapRef)}`, steps: [] };
  return scopeStep('data', dataRef ?? '', landscape.parentOf(self), walk);
}

/** A name in the scope of a parent: an export of one of its sub-installations, or an import of the parent. */
function scopeStep(flow: Flow, ref: string, parent: Inst | undefined, walk: Walk): TraceStep {
  const { landscape, visited, budget } = walk;
  if (!budget.take()) return OMITTED;
  for (const exporter of landscape.childrenOf(parent)) {
    const exported = exportOf(flow, ref, exporter);
    if (exported !== undefined) return exportStep(exported, ref, exporter, walk);
  }
  if (!parent) return objectStep(flow, objectName('', ref), landscape);
  const path = landscape.pathOf(parent);
  if (visited.has(`${parent.metadata.name} ${ref}`))
    return { text: `import ${ref} of installation ${path}, see above`, steps: [] };
  const found = sourcesOf(parent, ref, walk);
  return {
    text: `import ${ref} of installation ${path}${found ? '' : ', which does not exist'}`,
    ...(!found && { isMissing: true }),
    steps: found?.steps ?? [],
  };
}

function objectStep(flow: Flow, name: string, landscape: Landscape): TraceStep {
  const kind = flow === 'data' ? 'DataObject' : 'Target';
  const found = flow === 'data' ? landscape.dataObject(name) : landscape.target(name);
  const text = `${kind} ${landscape.namespace}/${name}`;
  return found ? { text, steps: [] } : { text: `${text}, which does not exist`, isMissing: true, steps: [] };
}

// ---------------------------------------------------------------- exports

/** The name of the export that publishes a name in the scope of the parent. */
const exportOf = (flow: Flow, ref: string, { spec }: Inst): string | undefined =>
  flow === 'data'
    ? spec.exports?.data?.find(({ dataRef }) => dataRef === ref)?.name
    : spec.exports?.targets?.find(({ target }) => target === ref)?.name;

function exportStep(name: string, ref: string, exporter: Inst, walk: Walk): TraceStep {
  const { landscape, visited, budget } = walk;
  if (!budget.take()) return OMITTED;
  const as = name === ref ? '' : `, published as ${ref}`;
  const text = `export ${name} of installation ${landscape.pathOf(exporter)}${as}`;
  const key = `${exporter.metadata.name} export ${name}`;
  if (visited.has(key)) return { text: `${text}, see above`, isSecret: true, steps: [] };
  const below = { ...walk, visited: new Set([...visited, key]) };
  const isMapped = exporter.spec.exportDataMappings?.[name] !== undefined;
  const computed = computedFrom(exporter, below);
  // Templates of exports see imports from Secrets, and what deploy items export.
  const isSecret = true;
  if (!isMapped) return { text, isSecret, steps: computed };
  const mapping = `export mapping ${name} of installation ${landscape.pathOf(exporter)}`;
  return { text, isSecret, steps: [{ text: mapping, steps: computed }] };
}

/** What the export executions of an installation see. */
function computedFrom(exporter: Inst, walk: Walk): readonly TraceStep[] {
  const { landscape } = walk;
  const items = landscape.itemsOf(exporter).filter(({ status }) => status?.exportRef !== undefined);
  const exports = landscape
    .childrenOf(exporter)
    .flatMap((child) => [
      ...(child.spec.exports?.data ?? []).map(({ name, dataRef }) => exportStep(name, dataRef, child, walk)),
      ...(child.spec.exports?.targets ?? []).map(({ name, target }) =>
        exportStep(name, target ?? name, child, walk),
      ),
    ]);
  const seen: readonly TraceStep[] = [
    ...items.map((item) => ({
      text: `exports of deploy item ${landscape.itemPath(exporter, item)}`,
      steps: [],
    })),
    ...exports,
  ];
  return [
    {
      text: `templates of the blueprint of installation ${landscape.pathOf(exporter)}, which see its imports${seen.length === 0 ? '' : ' and:'}`,
      steps: seen,
    },
  ];
}
