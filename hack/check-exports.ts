/**
 * Finds exports that no other file imports. A symbol that is used only in its own file should not be exported, so
 * that a reader knows where it is used. Exports of the public entry points in package.json are excluded.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const PRODUCT = /^(src|controllers|deployers|hack|web)\/.*\.tsx?$/;

/** Exported because the compiler has to name them in the declarations of other files. */
const MENTIONED: readonly string[] = ['src/api/shared.ts ApiKind', 'src/templating/helm/work.ts ChartValues'];

interface Module {
  /** Exported names with their lines. */
  readonly exported: ReadonlyMap<string, number>;
  /** Imports from other files: file and name; '*' for all names. */
  readonly taken: readonly { readonly from: string; readonly name: string }[];
}

function publicEntries(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { readonly 'espalier-source'?: string }>;
  };
  return Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry['espalier-source'] ? [entry['espalier-source'].slice(2)] : [],
  );
}

function read(path: string): Module {
  const source = ts.createSourceFile(
    path,
    readFileSync(join(root, path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const exported = new Map<string, number>();
  const taken: { from: string; name: string }[] = [];
  const fileOf = (specifier: ts.Node): string | undefined =>
    ts.isStringLiteralLike(specifier) && specifier.text.startsWith('.')
      ? resolve('/', dirname(path), specifier.text).slice(1)
      : undefined;
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) takeImport(node, fileOf(node.moduleSpecifier), taken);
    else if (ts.isExportDeclaration(node)) {
      const from = node.moduleSpecifier && fileOf(node.moduleSpecifier);
      for (const name of namesOf(node.exportClause))
        if (from !== undefined) taken.push({ from, name });
        else if (!node.moduleSpecifier) exported.set(name, lineOf(source, node));
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const from = node.arguments[0] && fileOf(node.arguments[0]);
      if (from !== undefined) taken.push({ from, name: '*' });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const from = fileOf(node.argument.literal);
      if (from !== undefined) taken.push({ from, name: '*' });
    }
    for (const name of declaredBy(node)) exported.set(name, lineOf(source, node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { exported, taken };
}

function takeImport(
  { importClause }: ts.ImportDeclaration,
  from: string | undefined,
  taken: { from: string; name: string }[],
): void {
  if (from === undefined || !importClause) return;
  if (importClause.name) taken.push({ from, name: 'default' });
  for (const name of namesOf(importClause.namedBindings)) taken.push({ from, name });
}

/** Original names: `a` for `{ a as b }`. */
function namesOf(clause: ts.NamedImportBindings | ts.NamedExportBindings | undefined): readonly string[] {
  if (!clause || ts.isNamespaceImport(clause) || ts.isNamespaceExport(clause)) return ['*'];
  return (clause.elements as ts.NodeArray<ts.ImportSpecifier | ts.ExportSpecifier>).map(
    ({ name, propertyName }) => (propertyName ?? name).text,
  );
}

function declaredBy(node: ts.Node): readonly string[] {
  if (!ts.canHaveModifiers(node)) return [];
  const modifiers = ts.getModifiers(node) ?? [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)) return ['default'];
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.flatMap(({ name }) => bound(name));
  const { name } = node as ts.NamedDeclaration;
  return name && ts.isIdentifier(name) ? [name.text] : [];
}

const bound = (name: ts.BindingName): readonly string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : bound(element.name)));

const lineOf = (source: ts.SourceFile, node: ts.Node): number =>
  source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.(tsx?|mjs)$/.test(path) && existsSync(join(root, path)));

const modules = new Map(listed.map((path) => [path, read(path)]));
const used = new Set(
  [...modules.values()].flatMap(({ taken }) => taken.map(({ from, name }) => `${from} ${name}`)),
);
for (const name of MENTIONED) used.add(name);
for (const entry of publicEntries()) used.add(`${entry} *`);

const dead = [...modules]
  .filter(([path]) => PRODUCT.test(path))
  .flatMap(([path, { exported }]) =>
    used.has(`${path} *`)
      ? []
      : [...exported]
          .filter(([name]) => !used.has(`${path} ${name}`))
          .map(
            ([name, line]) => `${path}:${String(line)}: ${name} is exported, but no other file imports it`,
          ),
  );
for (const line of dead) process.stdout.write(`${line}\n`);
process.exitCode = dead.length > 0 ? 1 : 0;
