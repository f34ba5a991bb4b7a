/**
 * Refuses phrases that readers of messages and docs stumble over, and says what to write instead. CONTRIBUTING.md explains
 * the style; this table has only phrases that have (almost) no other meaning.
 *
 *     hack/banned-phrases.ts
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

const phrases: readonly Phrase[] = [
  { pattern: /\bcan be had\b/, instead: 'is available' },
  { pattern: /(?<![-\w])anew\b/, instead: 'again, or: recreated' },
  { pattern: /\bmade anew\b/, instead: 'recreated' },
  { pattern: /\bslip of the pen\b/, instead: 'typo' },
  { pattern: /\ba text\b(?! (?:file|editor))/, instead: 'a string' },
  {
    pattern:
      /(?<!there )\bis no (?:YAML|JSON|duration|chart|archive|kubeconfig|component|blueprint|digest|PEM|map|list|object|target|image)\b/,
    instead: 'is not a valid …',
  },
  { pattern: /\b(?:is|are) tried again\b/, instead: 'is retried' },
  { pattern: /;? ?\btrying again\b/, instead: 'retrying' },
  { pattern: /\bcould not be found out\b/, instead: 'cannot determine …' },
  { pattern: /\bcame to nothing\b/, instead: 'failed' },
  {
    pattern: /\bnobody (?:reads|serves|knows|wants|says|notices|uses|looks|handles)\b/,
    instead: 'name the controller or user',
  },
  { pattern: /\bsomebody else\b/, instead: 'name the controller, or: another owner' },
  { pattern: /\btold (?:of|by)\b/, instead: 'reported, shown' },
  { pattern: /\blets? go of\b/, instead: 'release' },
  { pattern: /\btakes? no notice\b/, instead: 'ignore' },
  { pattern: /\b(?:jobs?|started) by the clock\b/, instead: 'on a schedule' },
  { pattern: /\bwithout a word\b/, instead: 'silently' },
  { pattern: /\bin a circle\b/, instead: 'cyclic, in a cycle' },
  { pattern: /\bas whom\b/, instead: 'with which identity' },
  { pattern: /\bfor ever\b/, instead: 'forever' },
];

/** In titles of tests only: elsewhere these words have other meanings. */
const inTitles: readonly Phrase[] = [
  { pattern: /\b(?:nobody|somebody|anybody|everybody)\b/, instead: 'name the controller or user' },
  { pattern: /\b(?:that|which) (?:is|are) none\b/, instead: 'invalid, missing' },
  { pattern: /\bwho(?:ever|m)\b/, instead: 'name the controller or user' },
  { pattern: /(?<!\bthere )\bis no (?!longer\b|more\b|limit\b)/i, instead: 'is not a …' },
  { pattern: /\b(?:told|tells? of)\b/, instead: 'reported, shown' },
  { pattern: /\bmade (?:of|anew|again)\b/, instead: 'created from, recreated' },
];

/** What the check reads. Comments are not in it yet; add a folder when it is clean. */
const scope = {
  /** Strings and templates of more than one word. */
  strings: ['controllers', 'deployers', 'src'],
  /** Titles of tests, in calls of `it` and `describe`, and in rows of tables. */
  titles: ['test'],
  /** Whole pages. */
  pages: ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'docs/*.md', 'docs/samples'],
  /** Sentences of upstream, Kubernetes or Spiff, and test programs. */
  except: [
    'src/apiserver/',
    'src/templating/',
    'docs/scenarios.md',
    'docs/better-than-the-original.md',
    'docs/reference/',
  ],
} as const;

const root = join(import.meta.dirname, '..');

/** The strings of a source file that are chosen, each with its line. */
function stringsOf(
  source: string,
  name: string,
  isChosen: (node: ts.Node) => boolean = () => true,
): readonly (readonly [number, string])[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const found: [number, string][] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) && isChosen(node)) {
      found.push([file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1, node.getText(file)]);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Whether a string is a title of a test, or part of one. */
function isTitle(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isCallExpression(parent)) return /^(?:it|describe|story)$/.test(parent.expression.getText());
  if (ts.isPropertyAssignment(parent)) return /^(?:title|what)$/.test(parent.name.getText());
  return (
    ts.isArrayLiteralExpression(parent) &&
    parent.elements[0] === node &&
    ts.isArrayLiteralExpression(parent.parent)
  );
}

/** One line for each banned phrase. */
function complaintsAbout(text: string, place: string, banned = phrases): readonly string[] {
  return banned
    .filter(({ pattern }) => pattern.test(text))
    .map(({ pattern, instead }) => `${place}: "${pattern.exec(text)?.[0] ?? ''}": write ${instead}`);
}

const listed = (...paths: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .filter((path) => !scope.except.some((start) => path.startsWith(start)));

function check(): readonly string[] {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const sources = listed(...scope.strings).filter((path) => path.endsWith('.ts'));
  const tests = listed(...scope.titles).filter((path) => path.endsWith('.test.ts'));
  const pages = listed(...scope.pages).filter((path) => path.endsWith('.md'));
  return [
    ...tests.flatMap((path) =>
      stringsOf(read(path), path, isTitle).flatMap(([line, text]) =>
        complaintsAbout(text, `${path}:${String(line)}`, [...phrases, ...inTitles]),
      ),
    ),
    ...sources.flatMap((path) =>
      stringsOf(read(path), path)
        .filter(([, text]) => text.includes(' '))
        .flatMap(([line, text]) => complaintsAbout(text, `${path}:${String(line)}`)),
    ),
    ...pages.flatMap((path) =>
      read(path)
        .split('\n')
        .filter((line) => !line.startsWith('  | '))
        .flatMap((line, i) => complaintsAbout(line, `${path}:${String(i + 1)}`)),
    ),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const complaints = check();
  for (const line of complaints) process.stdout.write(`${line}\n`);
  process.exitCode = complaints.length > 0 ? 1 : 0;
}
