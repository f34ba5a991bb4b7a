/**
 * Rules about the sub-installations of a blueprint: their names, their blueprints, and the sources of their imports.
 */
import { parseComponentUri } from '../../components/relative-reference.ts';
import { ComponentProblem } from '../../components/errors.ts';
import { isDns1123Label } from '../../lib/names.ts';
import { exportedNames, importedNames } from '../../api/data-names.ts';
import { cycleText, findCycle } from '../dependencies.ts';
import { SubInstallationsInvalid } from '../errors.ts';
import { checkTemplates, declaredImports } from '../template-checks.ts';
import { ruleGroup, type Report } from './finding.ts';
import type { Child, Subject } from './subject.ts';
import { hintFor } from './words.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'child-name': {
    level: 'error',
    about: 'a sub-installation without a name, or with an invalid name',
  },
  'child-duplicate': { level: 'error', about: 'two sub-installations with the same name' },
  'child-blueprint': {
    level: 'error',
    about: 'a sub-installation without a blueprint, or with a reference to a missing one',
  },
  'child-reference': {
    level: 'error',
    about:
      'a sub-installation imports from a secret or config map: only data and targets of the parent are available',
  },
  'child-import-unsatisfied': {
    level: 'error',
    about: 'a sub-installation imports what neither the parent imports nor a sibling exports',
  },
  'child-export-conflict': {
    level: 'error',
    about: 'a sub-installation exports under a name that a sibling or an import of the parent already uses',
  },
  'child-cycle': { level: 'error', about: 'sub-installations with cyclic dependencies' },
  'child-invalid': {
    level: 'error',
    about: 'any other mistake that prevents the creation of sub-installations',
  },
} as const;
type RuleName = keyof typeof rules;
type Say = Report<RuleName>;

export const subInstallationRules = ruleGroup<RuleName>(rules, (subject, report) => {
  let isClean = true;
  const say: Say = (...finding) => {
    isClean = false;
    report(...finding);
  };
  for (const { index, why } of subject.unreadable) {
    const message = why.replace(/^unable to get .* templates: /, '');
    say('child-invalid', subject.document.at(['subinstallations', index]), message);
  }
  const seen = new Set<string>();
  for (const child of subject.children) {
    inspectName(child, say, seen);
    inspectBlueprint(subject, child, say);
    inspectForms(child, say);
  }
  inspectExports(subject, say);
  if (knowsAllChildren(subject)) {
    inspectImports(subject, say);
    if (isClean) inspectTheRest(subject, say);
  }
  inspectCycle(subject, say);
});

/** Whether these are all children: rendered ones, and those that cannot be read, may export anything. */
export const knowsAllChildren = ({ templates, children, blueprint: { info } }: Subject): boolean =>
  templates.every(({ kind }) => kind !== 'subinstallation') &&
  children.length === (info.subinstallations ?? []).length;

const MAX_NAME_LENGTH = 52;

function inspectName({ document, template: { name } }: Child, say: Say, seen: Set<string>): void {
  const at = document.at(['name']);
  if (name === '') say('child-name', document.at([]), 'the sub-installation has no name');
  else if (name.length > MAX_NAME_LENGTH) {
    say('child-name', at, `the name "${name}" is longer than ${MAX_NAME_LENGTH} characters`);
  } else if (isDns1123Label(name).length > 0) {
    say(
      'child-name',
      at,
      `"${name}" is not a valid name: use only a-z, 0-9 and "-", and begin and end with a letter or digit`,
    );
  } else if (seen.has(name)) {
    say('child-duplicate', at, `there is another sub-installation with the name "${name}"`);
  }
  seen.add(name);
}

function inspectBlueprint({ caller }: Subject, { document, template }: Child, say: Say): void {
  const { ref = '', filesystem } = template.blueprint;
  if (ref === '' && filesystem === undefined) {
    const message = `the sub-installation "${template.name}" has no blueprint: give it a ref or a filesystem`;
    say('child-blueprint', document.at(['blueprint'], 'key'), message);
  }
  if (ref === '') return;
  if (caller?.hasComponent === false) {
    const message = `${ref} is in a component, but ${caller.name} has none`;
    say('child-blueprint', document.at(['blueprint', 'ref']), message);
  }
  try {
    parseComponentUri(ref);
  } catch (error) {
    if (!(error instanceof ComponentProblem)) throw error;
    const message = `${error.message}; write it like cd://resources/my-blueprint`;
    say('child-blueprint', document.at(['blueprint', 'ref']), message);
  }
}

const TARGET_FORMS = ['target', 'targets', 'targetListRef', 'targetMap', 'targetMapRef'] as const;

function inspectForms({ document, template: { imports } }: Child, say: Say): void {
  for (const [i, entry] of (imports?.data ?? []).entries()) {
    for (const form of ['secretRef', 'configMapRef']) {
      if (!(form in entry)) continue;
      const message = `${form} is only for root installations; import it there, and use dataRef here`;
      say('child-reference', document.at(['imports', 'data', i, form], 'key'), message);
    }
    if (!entry.dataRef && !('secretRef' in entry) && !('configMapRef' in entry)) {
      const message = `the import "${entry.name}" has no source: give it a dataRef`;
      say('child-import-unsatisfied', document.at(['imports', 'data', i]), message);
    }
  }
  for (const [i, entry] of (imports?.targets ?? []).entries()) {
    const forms = TARGET_FORMS.filter((form) => entry[form] !== undefined && entry[form] !== '');
    if (forms.length === 1) continue;
    const message = `the import "${entry.name}" needs exactly one of ${TARGET_FORMS.join(', ')}; it has ${forms.join(' and ') || 'none'}`;
    say('child-import-unsatisfied', document.at(['imports', 'targets', i]), message);
  }
}

// ---------------------------------------------------------------- imports and exports

function inspectExports({ children, blueprint }: Subject, say: Say): void {
  const declared = declaredImports(blueprint.info);
  const taken = new Map<string, string>();
  for (const { document, template } of children) {
    const { data = [], targets = [] } = template.exports ?? {};
    const all = [
      ...data.map(({ dataRef }, i) => ({
        kind: 'data',
        ref: dataRef,
        path: ['exports', 'data', i, 'dataRef'],
      })),
      ...targets.map(({ target = '' }, i) => ({
        kind: 'target',
        ref: target,
        path: ['exports', 'targets', i, 'target'],
      })),
    ];
    for (const { kind, ref, path } of all) {
      const other = taken.get(`${kind}/${ref}`);
      if (declared.has(ref)) {
        const message = `"${ref}" is an import of the parent, so ${template.name} cannot export under that name`;
        say('child-export-conflict', document.at(path), message);
      } else if (other !== undefined) {
        say('child-export-conflict', document.at(path), `"${ref}" is already exported by ${other}`);
      } else taken.set(`${kind}/${ref}`, template.name);
    }
  }
}

function inspectImports({ children, blueprint }: Subject, say: Say): void {
  const parent = declaredImports(blueprint.info);
  const exported = new Set(children.flatMap(({ template }) => [...exportedNames(template)]));
  const offer = (kind: 'data' | 'target'): readonly string[] => [
    ...[...parent].flatMap(([name, type]) => ((type === 'data') === (kind === 'data') ? [name] : [])),
    ...[...exported].flatMap((id) => (id.startsWith(`${kind}/`) ? [id.slice(kind.length + 1)] : [])),
  ];
  const [data, targets] = [offer('data'), offer('target')];
  const check = (child: Child, ref: string, known: readonly string[], path: Path): void => {
    const name = known === targets ? ref.replace(/\[[^[\]]*\]$/, '') : ref;
    if (ref.startsWith('#') || known.includes(name)) return;
    const isOther = (known === data ? targets : data).includes(name);
    const otherwise = isOther
      ? `it is ${known === data ? 'a target' : 'data'}`
      : 'neither does the parent import it, nor does a sibling export it';
    const why = hintFor(name, isOther ? [] : known, otherwise);
    say('child-import-unsatisfied', child.document.at(path), `there is no "${ref}" to import: ${why}`);
  };
  for (const child of children) {
    for (const [i, { dataRef }] of (child.template.imports?.data ?? []).entries()) {
      if (dataRef) check(child, dataRef, data, ['imports', 'data', i, 'dataRef']);
    }
    for (const [i, entry] of (child.template.imports?.targets ?? []).entries()) {
      const at: Path = ['imports', 'targets', i];
      if (entry.target) check(child, entry.target, targets, [...at, 'target']);
      for (const [n, ref] of (entry.targets ?? []).entries())
        check(child, ref, targets, [...at, 'targets', n]);
      for (const [key, ref] of Object.entries(entry.targetMap ?? {})) {
        check(child, ref, targets, [...at, 'targetMap', key]);
      }
    }
  }
}

function inspectCycle({ children }: Subject, say: Say): void {
  const cycle = findCycle(children.map(({ template }) => template));
  if (!cycle) return;
  const [name, next] = cycle;
  const child = children.find(({ template }) => template.name === name);
  const given = exportedNames(children.find(({ template }) => template.name === next)?.template ?? {});
  if (!child) return;
  const ref = [...importedNames(child.template)].find((id) => given.has(id))?.replace(/^\w+\//, '');
  const i = (child.template.imports?.data ?? []).findIndex(({ dataRef }) => dataRef === ref);
  const at =
    i >= 0 ? child.document.at(['imports', 'data', i, 'dataRef']) : child.document.at(['imports'], 'key');
  say('child-cycle', at, `these wait for each other: ${cycleText(cycle)}`);
}

/** The controllers' own check decides. */
function inspectTheRest({ children, blueprint, document }: Subject, say: Say): void {
  try {
    checkTemplates(
      children.map(({ template }) => template) as Parameters<typeof checkTemplates>[0],
      declaredImports(blueprint.info),
    );
  } catch (error) {
    if (!(error instanceof SubInstallationsInvalid)) throw error;
    say('child-invalid', document.at(['subinstallations'], 'key'), error.message);
  }
}
