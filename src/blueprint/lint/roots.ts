/** Rules about the root installations of one file, which the controllers see as siblings. */
import { exportedNames, importedNames } from '../../api/data-names.ts';
import { installationKind, type Installation } from '../../api/kinds/installation.ts';
import { refusalForJob } from '../../api/validation/index.ts';
import { isObject, type View } from '../../lib/objects.ts';
import { cycleText, findCycle, type Sibling } from '../dependencies.ts';
import type { Finding, RuleFacts } from './finding.ts';
import type { Place } from './source.ts';
import type { YamlText } from './yaml-text.ts';

export const rootRules = {
  'root-cycle': { level: 'error', about: 'root installations of one file that wait for each other' },
  'root-export-conflict': {
    level: 'error',
    about: 'two root installations of one file that export the same name, which another one imports',
  },
} as const satisfies Readonly<Record<string, RuleFacts>>;

interface Root extends Sibling {
  readonly document: YamlText;
}

/** @param objects all documents of the file. Objects of other kinds and invalid installations are ignored. */
export function inspectRoots(
  objects: readonly { readonly value: unknown; readonly document: YamlText }[],
): readonly Finding[] {
  const namespaces = new Map<string, Root[]>();
  for (const { value, document } of objects) {
    if (!isObject(value) || value['kind'] !== installationKind.kind) continue;
    if (refusalForJob('installations', value) !== undefined) continue;
    const { metadata, spec } = value as unknown as View<Installation>;
    const { namespace = '', name } = metadata;
    const roots = namespaces.get(namespace) ?? [];
    namespaces.set(namespace, roots);
    roots.push({ name, document, imports: spec.imports, exports: spec.exports });
  }
  return [...namespaces.values()].flatMap((roots) => [...cyclesOf(roots), ...conflictsOf(roots)]);
}

const finding = (rule: keyof typeof rootRules, place: Place, message: string): Finding => ({
  rule,
  level: rootRules[rule].level,
  place,
  message,
});

function cyclesOf(roots: readonly Root[]): readonly Finding[] {
  const cycle = findCycle(roots);
  const first = roots.find(({ name }) => name === cycle?.[0]);
  if (!cycle || !first) return [];
  const at = first.document.at(['spec', 'imports'], 'key');
  return [finding('root-cycle', at, `these installations wait for each other: ${cycleText(cycle)}`)];
}

function conflictsOf(roots: readonly Root[]): readonly Finding[] {
  const exporters = new Map<string, Root>();
  return roots.flatMap((root) =>
    [...exportedNames(root)].flatMap((id) => {
      const other = exporters.get(id);
      if (!other) exporters.set(id, root);
      const importer = roots.find((one) => one !== root && one !== other && importedNames(one).has(id));
      if (!other || other.name === root.name || !importer) return [];
      const at = root.document.at(['spec', 'exports'], 'key');
      const [, ...ref] = id.split('/');
      const message = `"${ref.join('/')}" is already exported by ${other.name}, so ${importer.name}, which imports it, would fail`;
      return [finding('root-export-conflict', at, message)];
    }),
  );
}
