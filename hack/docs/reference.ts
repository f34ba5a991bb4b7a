/**
 * Generates docs/reference: a page for each entry point of the package, with declaration and docstring of every
 * export. An export without a docstring is an error, and so is an export with a type that cannot be imported.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { format } from 'prettier';
import ts from 'typescript';
import { declarationOf, toldOf, type Told } from './declarations.ts';
import { hiddenTypes, originalOf, type Importable } from './named-types.ts';

/** Exports that must be fixed before they can be published. */
export class Unpublishable extends Error {
  override readonly name = 'Unpublishable';
}

interface EntryPoint {
  /** The module specifier of the entry point. */
  readonly name: string;
  readonly file: string;
}

interface Export {
  readonly name: string;
  /** The file of its declaration. */
  readonly file: ts.SourceFile;
  /** Its position in the entry point. */
  readonly at: number;
  readonly code: string;
  readonly docs: Told;
}

const WIDTH = 100;

/**
 * @returns content by page path, relative to the root
 * @throws Unpublishable with all exports without a docstring, and all types that cannot be imported
 */
export async function referencePages(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = entryPointsOf(root);
  const program = programOf(
    root,
    entries.map(({ file }) => file),
  );
  const pages: Record<string, string> = {};
  const complaints: string[] = [];
  const importable = importableFrom(program, entries, root);
  for (const entry of entries) {
    const exports = exportsOf(program, entry, root);
    for (const { name, code, docs, file } of exports) {
      const where = `${entry.name}: ${name} (${relative(root, file.fileName)})`;
      if (docs.text === '') complaints.push(`${where} has no docstring`);
      for (const hidden of hiddenTypes(code, file, importable, program.getTypeChecker()))
        complaints.push(`${where} uses ${hidden}, which cannot be imported; export it as well`);
    }
    pages[`docs/reference/${basename(entry)}.md`] = await pageOf(entry, exports, program, root);
  }
  if (complaints.length > 0) throw new Unpublishable(complaints.sort().join('\n'));
  pages['docs/reference/README.md'] = indexOf(entries, program);
  return pages;
}

const basename = ({ name }: EntryPoint): string => name.slice(name.indexOf('/') + 1);

function entryPointsOf(root: string): EntryPoint[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, string | Record<string, string>>;
  };
  return Object.entries(exports).flatMap(([path, conditions]) => {
    const source = typeof conditions === 'string' ? undefined : conditions['espalier-source'];
    return source === undefined ? [] : [{ name: name + path.slice(1), file: join(root, source) }];
  });
}

function programOf(root: string, files: readonly string[]): ts.Program {
  const read = ts.readConfigFile(join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, root);
  return ts.createProgram([...files], { ...options, noEmit: true });
}

const isOurs = (file: ts.SourceFile, root: string): boolean =>
  file.fileName.startsWith(`${root}/`) && !file.fileName.includes('/node_modules/');

/** A type may be exported by one entry point and used by another. */
function importableFrom(program: ts.Program, entries: readonly EntryPoint[], root: string): Importable {
  const checker = program.getTypeChecker();
  const exported = entries.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry.file) as ts.SourceFile);
    return module ? checker.getExportsOfModule(module) : [];
  });
  return {
    symbols: new Set(exported.map((symbol) => originalOf(symbol, checker))),
    isOurs: (file) => isOurs(file, root),
  };
}

function exportsOf(program: ts.Program, entry: EntryPoint, root: string): readonly Export[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(entry.file);
  const module = source && checker.getSymbolAtLocation(source);
  if (!source || !module) throw new Error(`${entry.file} exports nothing`);
  return checker
    .getExportsOfModule(module)
    .flatMap((symbol) => {
      const { flags, name } = symbol;
      const original = flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      const file = original.declarations?.[0]?.getSourceFile();
      if (!file || !isOurs(file, root)) return [];
      const at = placeOf(symbol, file, source, checker);
      if (original.declarations?.[0] === file)
        return [moduleExport(name, original, { entry, file, at }, checker)];
      const renamed = name === original.name ? '' : `export { ${original.name} as ${name} };\n`;
      return [
        {
          name,
          file,
          at,
          code: renamed + declarationOf(original, checker, isTypeOnly(symbol)),
          docs: toldOf(original, checker),
        },
      ];
    })
    .sort((a, b) => a.at - b.at);
}

/** A module that is exported as a namespace, with the names of all its types. */
function moduleExport(
  name: string,
  module: ts.Symbol,
  { entry, file, at }: { readonly entry: EntryPoint; readonly file: ts.SourceFile; readonly at: number },
  checker: ts.TypeChecker,
): Export {
  const names = checker.getExportsOfModule(module).map((each) => `\`${each.name}\``);
  const text = `A namespace with these types: ${names.join(', ')}.`;
  const code = `import type { ${name} } from '${entry.name}';`;
  return { name, file, at, code, docs: { text, params: [], returns: undefined, throws: [], see: [] } };
}

const isTypeOnly = (symbol: ts.Symbol): boolean =>
  (symbol.declarations ?? []).some(
    (each) => ts.isExportSpecifier(each) && ts.isTypeOnlyExportDeclaration(each),
  );

/** The position in the entry point where the symbol, or its whole file, is exported. */
function placeOf(
  symbol: ts.Symbol,
  file: ts.SourceFile,
  source: ts.SourceFile,
  checker: ts.TypeChecker,
): number {
  const own = symbol.declarations?.find((each) => each.getSourceFile() === source);
  if (own) return own.getStart();
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier) continue;
    const target = checker.getSymbolAtLocation(statement.moduleSpecifier)?.declarations?.[0];
    if (target === file) return statement.getStart();
  }
  return Infinity;
}

// ---------------------------------------------------------------- text

async function pageOf(
  entry: EntryPoint,
  exports: readonly Export[],
  program: ts.Program,
  root: string,
): Promise<string> {
  const groups = new Map<ts.SourceFile, Export[]>();
  for (const each of exports) groups.set(each.file, [...(groups.get(each.file) ?? []), each]);
  const titleOf = (file: ts.SourceFile): string => titleFor(file.fileName, entry, root);
  const slugOf = slugger();
  slugOf(entry.name);
  const contents = [...groups].map(([file, all]) => {
    const chapter = `- [${titleOf(file)}](#${slugOf(titleOf(file))})`;
    return `${chapter}: ${all.map(({ name }) => `[${name}](#${slugOf(name)})`).join(', ')}`;
  });
  const chapters = await Promise.all(
    [...groups].map(async ([file, all]) => [
      `## ${titleOf(file)}`,
      '',
      headerOf(file),
      '',
      ...(await Promise.all(all.map(sectionOf))).flat(),
    ]),
  );
  return [
    '<!-- Generated by hack/update-docs.ts from the docstrings; do not edit. -->',
    `# ${entry.name}`,
    '',
    headerOf(program.getSourceFile(entry.file) as ts.SourceFile),
    '',
    ...contents,
    '',
    ...chapters.flat(),
  ]
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trimEnd()
    .concat('\n');
}

async function sectionOf({ name, code, docs }: Export): Promise<string[]> {
  const formatted = await format(code, { parser: 'typescript', singleQuote: true, printWidth: WIDTH });
  const list = [
    ...docs.params.map((param) => `- \`${param.name}\`: ${param.text}`),
    ...(docs.returns === undefined ? [] : [`- Returns ${docs.returns}`]),
    ...docs.throws.map((text) => `- Throws ${text}`),
    ...docs.see.map((text) => `- See ${text}`),
  ];
  return [`### ${name}`, '', '```ts', formatted.trimEnd(), '```', '', docs.text, '', ...list, ''];
}

/** `controller`, `external/names`, or `lib/clock` for files outside the folder of the entry point. */
function titleFor(fileName: string, entry: EntryPoint, root: string): string {
  const inside = relative(dirname(entry.file), fileName);
  const path = inside.startsWith('..') ? relative(join(root, 'src'), fileName) : inside;
  return path.replace(/\.ts$/, '').replace(/\/index$/, '');
}

/** Generates the anchors of headings in the order of the page; repeated ones are numbered. */
function slugger(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const plain = heading
      .toLowerCase()
      .replace(/[^a-z0-9_ -]/g, '')
      .replaceAll(' ', '-');
    const before = used.get(plain) ?? 0;
    used.set(plain, before + 1);
    return before === 0 ? plain : `${plain}-${String(before)}`;
  };
}

/** The header comment of a file. */
function headerOf(file: ts.SourceFile): string {
  const [first] = ts.getLeadingCommentRanges(file.text, 0) ?? [];
  const comment = first ? file.text.slice(first.pos, first.end) : '';
  if (!comment.startsWith('/**')) return '';
  return comment
    .slice(3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .filter((line) => !line.startsWith('@'))
    .join('\n')
    .trim();
}

function indexOf(entries: readonly EntryPoint[], program: ts.Program): string {
  const rows = entries.map((entry) => {
    const header = headerOf(program.getSourceFile(entry.file) as ts.SourceFile).replace(/\s*\n\s*/g, ' ');
    return `| [${entry.name}](${basename(entry)}.md) | ${header} |`;
  });
  return [
    '<!-- Generated by hack/update-docs.ts from the docstrings; do not edit. -->',
    '# Reference',
    '',
    'All exports of the package, with declarations and docstrings. For guides, see',
    '[runtime.md](../runtime.md), [runtime-external.md](../runtime-external.md) and [deployers.md](../deployers.md).',
    '',
    '| Import from | Content |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}
