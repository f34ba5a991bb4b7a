/** Rules for the sub-installations of one blueprint: names, and that imports and exports match. */
import type { ImportDefinition, InstallationTemplate } from '../api/blueprint.ts';
import { isRepeated } from '../api/validation/fields.ts';
import { targetSourceProblems } from '../api/validation/installation.ts';
import { closest } from '../lib/closest.ts';
import type { View } from '../lib/objects.ts';
import { SubInstallationsInvalid } from './errors.ts';
import type { Blueprint } from './model.ts';

const MAX_NAME_LENGTH = 52;
const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const UNSATISFIED = 'Not found: "import not satisfied"';

/** Suggestions in an error. Each compares words, and a message shows a few lines. */
const MAX_SUGGESTIONS = 3;

/** The missing object and its kind, with a suggestion. */
function unsatisfied(ref: string, kind: string, { parentImports, exported, bound, hints }: Offer): string {
  const type = parentImports.get(ref);
  const isSuggesting = type === undefined && hints.left-- > 0;
  const meant = isSuggesting ? closest(ref, [...parentImports.keys(), ...exported]) : undefined;
  const why =
    type !== undefined
      ? `"${ref}" is imported by the parent as ${type}, not as ${kind}`
      : bound.has(ref)
        ? `an import execution binds "${ref}", and only values declared under "imports" of the blueprint can be passed on`
        : `"${ref}" is neither an import of the parent nor a ${kind} export of a sibling`;
  return `${UNSATISFIED}: ${why}${meant !== undefined ? `; did you mean "${meant}"?` : ''}`;
}

/** Type of each declared import by name, including conditional ones. */
export function declaredImports({ imports = [] }: Blueprint): ReadonlyMap<string, string> {
  const declared = new Map<string, string>();
  const visit = (definitions: readonly View<ImportDefinition>[]): void => {
    for (const { name, type = '', imports: conditional = [] } of definitions) {
      declared.set(name, type);
      visit(conditional);
    }
  };
  visit(imports);
  return declared;
}

/**
 * @param parentImports see declaredImports
 * @param bound names to which import executions have given values
 * @throws SubInstallationsInvalid naming all violations
 */
export function checkTemplates(
  templates: readonly InstallationTemplate[],
  parentImports: ReadonlyMap<string, string>,
  bound: ReadonlySet<string> = new Set(),
): void {
  const exported = {
    data: new Set(templates.flatMap((t) => (t.exports?.data ?? []).map(({ dataRef }) => dataRef))),
    target: new Set(templates.flatMap((t) => (t.exports?.targets ?? []).map(({ target = '' }) => target))),
  };
  const hints = { left: MAX_SUGGESTIONS };
  const problems = [
    ...templates.flatMap((template, i) => [
      ...nameProblems(template, i),
      ...dataImportProblems(template, i),
      ...targetImportProblems(template, i),
    ]),
    ...repeatedNames(templates),
    ...exportProblems(templates, parentImports),
    ...templates.flatMap((template, i) => [
      ...unsatisfiedData(template, i, { parentImports, exported: exported.data, bound, hints }),
      ...unsatisfiedTargets(template, i, { parentImports, exported: exported.target, bound, hints }),
    ]),
  ];
  if (problems.length === 0) return;
  throw new SubInstallationsInvalid(problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`);
}

const pathOf = ({ name }: InstallationTemplate, index: number): string =>
  name === '' ? `subinstallations[${index}]` : `subinstallations.${name}`;

function nameProblems(template: InstallationTemplate, index: number): readonly string[] {
  const { name, blueprint } = template;
  const path = pathOf(template, index);
  const problems: string[] = [];
  if (name === '') problems.push(`${path}.name: Required value: name must be defined`);
  else if (name.length > MAX_NAME_LENGTH) {
    problems.push(
      `${path}.name: Invalid value: "${name}": must be no more than ${MAX_NAME_LENGTH} characters`,
    );
  } else if (!DNS_LABEL.test(name)) {
    problems.push(
      `${path}.name: Invalid value: "${name}": a lowercase RFC 1123 label must consist of lower case alphanumeric ` +
        `characters or '-', and must start and end with an alphanumeric character`,
    );
  }
  if ((blueprint.ref ?? '') === '' && blueprint.filesystem === undefined) {
    problems.push(`${path}.blueprint: Required value: a blueprint must be defined`);
  }
  return problems;
}

function dataImportProblems(template: InstallationTemplate, index: number): readonly string[] {
  const names = new Set<string>();
  return (template.imports?.data ?? []).flatMap((entry, i) => {
    const path = `${pathOf(template, index)}.imports.data[${i}]`;
    const isRepeated = entry.name !== '' && names.has(entry.name);
    names.add(entry.name);
    return [
      ...(entry.name === '' ? [`${path}.name: Required value: name must not be empty`] : []),
      ...(isRepeated ? [`${path}: Duplicate value: "${entry.name}"`] : []),
      ...((entry.dataRef ?? '') === '' ? [`${path}.dataRef: Required value: dataRef must not be empty`] : []),
      ...('secretRef' in entry
        ? [`${path}.secretRef: Forbidden: secret references are not allowed in a installation template`]
        : []),
      ...('configMapRef' in entry
        ? [`${path}.configMapRef: Forbidden: configMap references are not allowed in a installation template`]
        : []),
    ];
  });
}

function targetImportProblems(template: InstallationTemplate, index: number): readonly string[] {
  const names = new Set((template.imports?.data ?? []).map(({ name }) => name));
  return (template.imports?.targets ?? []).flatMap((entry, i) => {
    const path = `${pathOf(template, index)}.imports.targets[${i}]`;
    const isRepeated = entry.name !== '' && names.has(entry.name);
    names.add(entry.name);
    return [
      ...(entry.name === '' ? [`${path}.name: Required value: name must not be empty`] : []),
      ...(isRepeated ? [`${path}: Duplicate value: "${entry.name}"`] : []),
      ...targetSourceProblems(entry, path),
    ];
  });
}

function repeatedNames(templates: readonly InstallationTemplate[]): readonly string[] {
  const names = templates.map(({ name }) => name).filter((name) => name !== '');
  const seen = new Set<string>();
  const repeated = new Set(names.filter((name) => isRepeated(seen, name)));
  return [...repeated].map(
    (name) => `subinstallations.${name}: Duplicate value: "duplicated subinstallation"`,
  );
}

function exportProblems(
  templates: readonly InstallationTemplate[],
  parentImports: ReadonlyMap<string, string>,
): readonly string[] {
  const first = new Map<string, string>();
  const check = (kind: 'data' | 'target', ref: string, path: string): readonly string[] => {
    if (parentImports.has(ref))
      return [
        `${path}: Forbidden: export is imported by its parent; rename the export, or import "${ref}" of the parent`,
      ];
    const other = first.get(`${kind}/${ref}`);
    if (other === undefined) first.set(`${kind}/${ref}`, path);
    return other === undefined
      ? []
      : [`${path}: Forbidden: ${kind} export '${ref}' is already exported by ${other}`];
  };
  return templates.flatMap((template, index) => {
    const path = `${pathOf(template, index)}.exports`;
    const { data = [], targets = [] } = template.exports ?? {};
    return [
      ...data.flatMap(({ name, dataRef }, i) =>
        check('data', dataRef, `${path}.data[${i}][${name}/${dataRef}]`),
      ),
      ...targets.flatMap(({ name, target = '' }, i) =>
        check('target', target, `${path}.targets[${i}][${name}/${target}]`),
      ),
    ];
  });
}

interface Offer {
  readonly parentImports: ReadonlyMap<string, string>;
  /** names that siblings export */
  readonly exported: ReadonlySet<string>;
  readonly bound: ReadonlySet<string>;
  /** Suggestions that are left. */
  readonly hints: { left: number };
}

function unsatisfiedData(template: InstallationTemplate, index: number, offer: Offer): readonly string[] {
  return (template.imports?.data ?? []).flatMap(({ name, dataRef = '' }, i) =>
    offer.parentImports.get(dataRef) === 'data' ||
    (dataRef !== '' && offer.exported.has(dataRef)) ||
    name === ''
      ? []
      : [`${pathOf(template, index)}.imports.data[${i}][${name}]: ${unsatisfied(dataRef, 'data', offer)}`],
  );
}

function unsatisfiedTargets(template: InstallationTemplate, index: number, offer: Offer): readonly string[] {
  const { parentImports, exported } = offer;
  const isOffered = (ref: string): boolean => {
    if (parentImports.get(ref) === 'target' || exported.has(ref)) return true;
    const parent = /^(.*)\[[^[\]]*\]$/.exec(ref)?.[1];
    const type = parent === undefined ? undefined : parentImports.get(parent);
    return type === 'targetList' || type === 'targetMap';
  };
  return (template.imports?.targets ?? []).flatMap((entry, i) => {
    const { target, targets, targetMap, targetListRef, targetMapRef } = entry;
    const refs = target ? [target] : (targets ?? Object.values(targetMap ?? {}));
    const absent = (
      [
        ...refs.filter((ref) => !isOffered(ref)).map((ref) => [ref, 'target'] as const),
        [targetListRef, 'targetList'],
        [targetMapRef, 'targetMap'],
      ] as const
    ).find(([ref, type]) => ref && (type === 'target' || parentImports.get(ref) !== type));
    if (!absent) return [];
    const [ref = '', type] = absent;
    return [
      `${pathOf(template, index)}.imports.targets[${i}][${entry.name}]: ${unsatisfied(ref, type, offer)}`,
    ];
  });
}
