/**
 * The pages docs/reference, one for each entry point of the package: every export with its declaration and its docstring.
 * An export without a docstring is an error.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { format } from 'prettier';
import ts from 'typescript';
import { declarationOf, toldOf, type Told } from './declarations.ts';

/** Exports that nobody has said anything about. */
export class Undocumented extends Error {
  override readonly name = 'Undocumented';
}

interface EntryPoint {
  /** What programs import from. */
  readonly name: string;
  readonly file: string;
}

interface Export {
  readonly name: string;
  /** Where it is declared. */
  readonly file: ts.SourceFile;
  /** Its place in the entry point. */
  readonly at: number;
  readonly code: string;
  readonly told: Told;
}

const WIDTH = 100;

/** @returns texts by page, relative to the root @throws Undocumented naming all exports without a docstring */
export async function referencePages(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = entryPointsOf(root);
  const program = programOf(
    root,
    entries.map(({ file }) => file),
  );
  const pages: Record<string, string> = {};
  const silent: string[] = [];
  for (const entry of entries) {
    const exports = exportsOf(program, entry, root);
    for (const { name, told, file } of exports)
      if (told.text === '') silent.push(`${entry.name}: ${name} (${relative(root, file.fileName)})`);
    pages[`docs/reference/${basename(entry)}.md`] = await pageOf(entry, exports, program, root);
  }
  if (silent.length > 0)
    throw new Undocumented(`exports without a docstring:\n  ${silent.sort().join('\n  ')}`);
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
      if (!file?.fileName.startsWith(`${root}/`) || file.fileName.includes('/node_modules/')) return [];
      const renamed = name === original.name ? '' : `export { ${original.name} as ${name} };\n`;
      return [
        {
          name,
          file,
          at: placeOf(symbol, file, source, checker),
          code: renamed + declarationOf(original, checker),
          told: toldOf(original, checker),
        },
      ];
    })
    .sort((a, b) => a.at - b.at);
}

/** Where the entry point mentions it, or the file that all of is exported. */
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

async function sectionOf({ name, code, told }: Export): Promise<string[]> {
  const formatted = await format(code, { parser: 'typescript', singleQuote: true, printWidth: WIDTH });
  const list = [
    ...told.params.map((param) => `- \`${param.name}\`: ${param.text}`),
    ...(told.returns === undefined ? [] : [`- Returns ${told.returns}`]),
    ...told.throws.map((text) => `- Throws ${text}`),
    ...told.see.map((text) => `- See ${text}`),
  ];
  return [`### ${name}`, '', '```ts', formatted.trimEnd(), '```', '', told.text, '', ...list, ''];
}

/** `controller`, `external/names`, or `lib/clock` of what is not at home in the folder of the entry point. */
function titleFor(fileName: string, entry: EntryPoint, root: string): string {
  const inside = relative(dirname(entry.file), fileName);
  const path = inside.startsWith('..') ? relative(join(root, 'src'), fileName) : inside;
  return path.replace(/\.ts$/, '').replace(/\/index$/, '');
}

/** The anchors of headings, asked for in the order of the page: the second of a name is numbered. */
function slugger(): (heading: string) => string {
  const used = new Map<string, number>();
  return (heading) => {
    const plain = heading
      .toLowerCase()
      .replace(/[^a-z0-9 -]/g, '')
      .replaceAll(' ', '-');
    const before = used.get(plain) ?? 0;
    used.set(plain, before + 1);
    return before === 0 ? plain : `${plain}-${String(before)}`;
  };
}

/** What the comment at the top of a file says. */
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
    'Everything the package exports, with its declaration and what is said of it in the code. How things are used is told in',
    '[runtime.md](../runtime.md), [runtime-external.md](../runtime-external.md) and [deployers.md](../deployers.md).',
    '',
    '| Import from | What is there |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
}
