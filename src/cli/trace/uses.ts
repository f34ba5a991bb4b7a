/** Which mappings, sub-installations and deploy items use an import. Pure. */
import { isObject } from '../../lib/objects.ts';
import { targetRefs, type Flow, type Inst, type Landscape } from './landscape.ts';
import { OMITTED, refersTo, StepBudget, type TraceStep } from './step.ts';

/** @param visited imports above this one, to end in cycles */
export function usesOf(
  self: Inst,
  name: string,
  flow: Flow,
  landscape: Landscape,
  visited: ReadonlySet<string> = new Set(),
  budget = new StepBudget(),
): readonly TraceStep[] {
  const key = `${self.metadata.name} ${name}`;
  if (visited.has(key)) return [];
  if (!budget.take()) return [OMITTED];
  const seen = new Set([...visited, key]);
  const path = landscape.pathOf(self);
  const mappings = Object.entries(self.spec.importDataMappings ?? {})
    .filter(([mapped, mapping]) => mapped !== name && refersTo(mapping, name))
    .map(([mapped]) => ({
      text: `mapping ${mapped} of installation ${path}`,
      steps: usesOf(self, mapped, 'data', landscape, seen, budget),
    }));
  const children = landscape.childrenOf(self).flatMap((child) =>
    importsFrom(child, name, flow).map((imported) => ({
      text: `import ${imported} of installation ${landscape.pathOf(child)}`,
      steps: usesOf(child, imported, flow, landscape, seen, budget),
    })),
  );
  return [...mappings, ...children, ...itemSteps(self, name, flow, landscape)];
}

/** Names of the imports of a sub-installation that refer to an import of its parent. */
function importsFrom({ spec }: Inst, name: string, flow: Flow): readonly string[] {
  if (flow === 'data')
    return (spec.imports?.data ?? []).filter(({ dataRef }) => dataRef === name).map((one) => one.name);
  return (spec.imports?.targets ?? []).filter((one) => targetRefs(one).includes(name)).map((one) => one.name);
}

function itemSteps(self: Inst, name: string, flow: Flow, landscape: Landscape): readonly TraceStep[] {
  const items = landscape.itemsOf(self);
  if (flow === 'target') {
    const targets = landscape.importedTargets(self, name);
    return items
      .filter(({ spec }) => targets.has(spec.target?.name ?? ''))
      .map((item) => ({ text: `target of deploy item ${landscape.itemPath(self, item)}`, steps: [] }));
  }
  const leaves = leavesOf(landscape.importedValue(self, name));
  return items.flatMap((item) => {
    const config = JSON.stringify(item.spec.config ?? null);
    const found = leaves.filter(([, leaf]) => config.includes(leaf)).map(([at]) => at);
    if (found.length === 0) return [];
    const what = found.includes('') ? 'the value' : shortList(found);
    return [
      {
        text: `deploy item ${landscape.itemPath(self, item)}, whose configuration contains ${what}`,
        steps: [],
      },
    ];
  });
}

/** Shorter values are in most configurations by chance. */
const MIN_LENGTH = 4;
const MAX_LISTED = 10;

/** The strings and numbers in a value, as in JSON without quotation marks, with their paths. */
function leavesOf(value: unknown, path = ''): readonly (readonly [path: string, text: string])[] {
  if (Array.isArray(value)) return value.flatMap((one, i) => leavesOf(one, `${path}[${String(i)}]`));
  if (isObject(value))
    return Object.entries(value).flatMap(([name, one]) =>
      leavesOf(one, path === '' ? name : `${path}.${name}`),
    );
  if (typeof value !== 'string' && typeof value !== 'number') return [];
  const text = typeof value === 'string' ? JSON.stringify(value).slice(1, -1) : String(value);
  return text.length < MIN_LENGTH ? [] : [[path, text]];
}

const shortList = (names: readonly string[]): string => {
  const more = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${String(more)} more fields` : ''}`;
};
