/** Rules about references to imports in templates and sub-installations: unknown and unused imports. */
import { ownField } from '../../lib/objects.ts';
import { declaredImports } from '../template-checks.ts';
import { ruleGroup, type Report } from './finding.ts';
import { parsedGoTemplate, usesIn } from './gouses.ts';
import type { FoundTemplate, Subject } from './subject.ts';
import { hintFor, mentions } from './words.ts';
import type { Path } from './yaml-text.ts';

const rules = {
  'import-unknown': {
    level: 'warning',
    about: 'a template reads an import that the blueprint does not declare and no import execution binds',
  },
  'import-unused': {
    level: 'warning',
    about: 'an import that no template, sub-installation or mapping reads',
  },
  'root-value-unknown': {
    level: 'warning',
    about: 'a template reads a root value that does not exist there',
  },
} as const;
type RuleName = keyof typeof rules;

export const referenceRules = ruleGroup<RuleName>(rules, (subject, report) => {
  const uses = subject.templates.map((template) => [template, usesOf(template)] as const);
  for (const [template, found] of uses) inspectUses(subject, report, template, found);
  inspectUnused(
    subject,
    report,
    uses.flatMap(([, found]) => found),
  );
});

interface TextUse {
  readonly path: readonly string[];
  readonly pos: number;
  readonly isAsking: boolean;
}

function usesOf({ executor, source }: FoundTemplate): readonly TextUse[] {
  if (!source) return [];
  const parsed = parsedGoTemplate(executor, source);
  return parsed
    ? usesIn(parsed)
    : executor.type === 'GoTemplate'
      ? [{ path: [], pos: 0, isAsking: true }]
      : textUses(source.text);
}

/**
 * `imports` as a root value, and the name behind it: also `@root.imports.name`, `this.imports.name` and `imports.[name]`
 * of Handlebars, and `.imports.name` of Spiff. In `other.imports`, it is a field of another value.
 */
const IMPORTS =
  /(?<=^|[^\w.-]|@root\.|\bthis\.|[^\w.)\]]\.)imports(?:\.([A-Za-z_][\w-]*)|\.\[([^\]]+)\])?(?![\w-])/g;

/**
 * For engines without a syntax tree: `imports.name` within braces or parentheses, else anything that contains
 * `imports`.
 */
function textUses(text: string): readonly TextUse[] {
  return [...text.matchAll(/\(\([\s\S]*?\)\)|\{\{[\s\S]*?\}\}/g)].flatMap((expression) => {
    // Strings within expressions are not references; blanks preserve the positions.
    const code = expression[0].replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => ' '.repeat(quoted.length));
    const isAsking = /\|\||\/\/|valid|defined|#if|#unless|#with|#each|default|lookup/.test(code);
    return [...code.matchAll(IMPORTS)].map((use) => {
      const name = use[1] ?? use[2];
      const path = name === undefined ? ['imports'] : ['imports', name];
      return { path, pos: expression.index + use.index, isAsking };
    });
  });
}

// ---------------------------------------------------------------- unknown imports

const COMMON = ['imports', 'cd', 'components', 'blueprint', 'blueprintDef', 'componentDescriptorDef'];
const MORE = {
  import: [],
  subinstallation: ['state'],
  deploy: ['state'],
  export: ['state', 'values', 'deployitems', 'dataobjects', 'targets'],
};

function inspectUses(
  subject: Subject,
  report: Report<RuleName>,
  { kind, source, executor }: FoundTemplate,
  uses: readonly TextUse[],
): void {
  const declared = [...declaredImports(subject.blueprint.info).keys()];
  const roots = [...COMMON, ...MORE[kind]];
  for (const { path, pos, isAsking } of uses) {
    const [root, name] = path;
    if (root === undefined || !source) continue;
    const [rootAt, nameAt] = placesOf(source.text, path, pos);
    if (executor.type === 'GoTemplate' && !roots.includes(root)) {
      const hint = hintFor(root, roots, `there are ${roots.join(', ')}`);
      report(
        'root-value-unknown',
        source.place(rootAt, root.length),
        `there is no "${root}" in ${kind} executions; ${hint}`,
      );
    }
    if (root !== 'imports' || name === undefined || declared.includes(name)) continue;
    if (isAsking || isBound(subject, name)) continue;
    const hint = hintFor(name, declared, 'declare it under "imports"');
    report(
      'import-unknown',
      source.place(nameAt, name.length),
      `the blueprint has no import "${name}"; ${hint}`,
    );
  }
}

/**
 * The positions of the first two names of a path.
 * @param pos a position in it: engines report the last name, or a key beside it
 */
function placesOf(
  text: string,
  [root = '', name = '']: readonly string[],
  pos: number,
): readonly [number, number] {
  const before = text.lastIndexOf(root, pos);
  const rootAt = before < 0 || text.slice(before, pos).includes('\n') ? pos : before;
  const behind = text.indexOf(name, rootAt + root.length);
  return [rootAt, behind < 0 ? pos : behind];
}

/**
 * The bindings of import executions are only known when they run; it is enough that the executions mention the name.
 */
const isBound = ({ templates }: Subject, name: string): boolean =>
  templates.some(
    ({ kind, source }) => kind === 'import' && source !== undefined && mentions(source.text, name),
  );

// ---------------------------------------------------------------- unused imports

function inspectUnused(subject: Subject, report: Report<RuleName>, uses: readonly TextUse[]): void {
  const isAllUsed = uses.some(({ path: [root, name] }) => root === 'imports' && name === undefined);
  // The references of a missing template are unknown.
  if (isAllUsed || subject.templates.some(({ source }) => source === undefined)) return;
  const read = new Set(uses.flatMap(({ path: [root, name] }) => (root === 'imports' ? [name] : [])));
  const others = otherTexts(subject, uses);
  for (const [name, path] of declarations(subject)) {
    if (name === '' || read.has(name) || others.some((text) => mentions(text, name))) continue;
    report('import-unused', subject.document.at([...path, 'name']), `nothing reads the import "${name}"`);
  }
}

/**
 * Where mentioning a name counts as use: imports of sub-installations, targets of items, exports that pass an import on
 * as `dataobjects.name`, and files that get all root values.
 */
function otherTexts(subject: Subject, uses: readonly TextUse[]): readonly string[] {
  const { children, templates, files, caller } = subject;
  const isPassedOn = uses.some(({ path }) => path.length === 0);
  return [
    ...children.map(({ template }) =>
      JSON.stringify([template.imports ?? {}, template.importDataMappings ?? {}]),
    ),
    ...templates.map(({ source }) => wordsOutside(source?.text ?? '')),
    ...(caller?.exportDataMappings ? [JSON.stringify(caller.exportDataMappings)] : []),
    ...(isPassedOn ? files.paths.map((path) => files.source(path)?.text ?? '') : []),
  ];
}

/** Lines of a template that mention targets and data objects. */
const wordsOutside = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /import\b|[rR]ef\b|target|dataobjects/.test(line))
    .join('\n');

function declarations({ raw }: Subject): readonly (readonly [name: string, path: Path])[] {
  const visit = (list: unknown, path: Path): readonly (readonly [string, Path])[] =>
    Array.isArray(list)
      ? list.flatMap((item, i) => {
          const here = [...path, i];
          const name = ownField(item, 'name');
          return [
            [typeof name === 'string' ? name : '', here] as const,
            ...visit(ownField(item, 'imports'), [...here, 'imports']),
          ];
        })
      : [];
  return visit(raw['imports'], ['imports']);
}
