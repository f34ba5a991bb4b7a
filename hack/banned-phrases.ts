/**
 * Refuses phrases that readers of messages, comments and docs stumble over, and says what to write instead. CONTRIBUTING.md explains
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
    pattern: /(?<![-\w])(?:no|some|any|every)body(?![-\w])/i,
    instead: 'name the controller or user, or: another owner',
  },
  { pattern: /\btold (?:of|by)\b/, instead: 'reported, shown' },
  { pattern: /\blets? go of\b/, instead: 'release' },
  { pattern: /\btakes? no notice\b/, instead: 'ignore' },
  { pattern: /\b(?:jobs?|started) by the clock\b/, instead: 'on a schedule' },
  { pattern: /\bwithout a word\b/, instead: 'silently' },
  { pattern: /\bin a circle\b/, instead: 'cyclic, in a cycle' },
  { pattern: /\bas whom\b/, instead: 'with which identity' },
  { pattern: /\bfor ever\b/, instead: 'forever' },
  { pattern: /\bmend(?:s|ed|ing)?\b/, instead: 'fix, correct' },
  { pattern: /\b(?:bring|brings|brought) back\b/, instead: 'restore' },
  { pattern: /\b(?:comes?|came) to (?:rest|its end|an end)\b/, instead: 'settles, ends' },
  { pattern: /\bwhat (?:is|was) wanted\b/, instead: 'the goal, the desired state' },
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

/** Only for comments: in strings, these words may be an upstream message or belong to a user's value. */
const inComments: readonly Phrase[] = [
  { pattern: /\bwho(?:m|se)?ever\b/i, instead: 'the subject: a user, a controller, a caller' },
  { pattern: /\b(?:no|some|every)body\b/i, instead: 'the subject: a user, a controller, a caller' },
  { pattern: /\bwh(?:at|ose) (?:was|has|came|comes|goes|stands|lies|belongs)\b/, instead: 'a noun' },
  { pattern: /\bis none of\b/, instead: 'does not belong to, is not' },
  { pattern: /(?<!\b(?:there|answer) )\bis no(?:ne)?\b(?! (?:longer|other))/, instead: 'is not' },
  { pattern: /\btold\b/, instead: 'reported, shown' },
  { pattern: /\b(?:the|a|whose) wish(?:es)?\b/, instead: 'the request, the annotation' },
  { pattern: /\b(?:taken?|takes|took) (?:them |it )?away\b/, instead: 'removes, deletes' },
  { pattern: /\bgo(?:es)? (?:first|last|too|with)\b/, instead: 'is deleted …' },
  { pattern: /\bto be had\b/, instead: 'available' },
  { pattern: /\bin vain\b/, instead: 'without success' },
  { pattern: /\bonce more\b/, instead: 'again' },
  { pattern: /\bcut short\b/, instead: 'interrupted' },
  { pattern: /\bof use\b/, instead: 'useful' },
  { pattern: /\b(?:can(?:not)?|could) (?:be told|tell)\b/, instead: 'cannot determine' },
  { pattern: /\bas far as\b/, instead: 'a shorter relative clause' },
  { pattern: /\bcall(?:ed)? like\b/, instead: 'has the same name as' },
];

/** What the check reads; add a folder to `comments` when it is clean. */
const scope = {
  /** Strings and templates of more than one word. */
  strings: ['controllers', 'deployers', 'src', 'web', 'test/bench'],
  /** Titles of tests, in calls of `it` and `describe`, and in rows of tables. */
  titles: ['test'],
  /** Comments and docstrings. */
  comments: ['controllers', 'deployers', 'hack', 'src', 'web'],
  /** Whole pages. */
  pages: ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'docs/*.md', 'docs/samples', 'docs/tutorial'],
  /** Sentences of upstream, Kubernetes or Spiff, and test programs. */
  exceptStrings: ['src/apiserver/', 'src/templating/'],
  exceptPages: ['docs/scenarios.md', 'docs/better-than-the-original.md', 'docs/reference/'],
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

/** The comments of a source file on one line each, without the signs around them, with their line numbers. */
function commentsOf(source: string, name: string): readonly (readonly [number, string])[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest);
  const found = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    for (const { pos, end } of ranges)
      found.set(
        pos,
        source
          .slice(pos, end)
          .replaceAll(/^\/\*+|\*\/$|^\/\/|\s+\*?\s*/g, ' ')
          .trim(),
      );
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return [...found].map(([pos, text]) => [file.getLineAndCharacterOfPosition(pos).line + 1, text]);
}

/** One line for each banned phrase. */
const findPhrases = (text: string, place: string, banned: readonly Phrase[]): readonly string[] =>
  banned
    .filter(({ pattern }) => pattern.test(text))
    .map(({ pattern, instead }) => `${place}: "${pattern.exec(text)?.[0] ?? ''}": write ${instead}`);

const filesIn = (paths: readonly string[], ending: string, except: readonly string[]): readonly string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', ...paths], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path.endsWith(ending) && existsSync(join(root, path)))
    .filter((path) => !except.some((start) => path.startsWith(start)));

function check(): readonly string[] {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const at = (path: string, line: number): string => `${path}:${String(line)}`;
  return [
    ...filesIn(scope.strings, '.ts', scope.exceptStrings).flatMap((path) =>
      stringsOf(read(path), path)
        .filter(([, text]) => text.includes(' '))
        .flatMap(([line, text]) => findPhrases(text, at(path, line), phrases)),
    ),
    ...filesIn(scope.titles, '.test.ts', []).flatMap((path) =>
      stringsOf(read(path), path, isTitle).flatMap(([line, text]) =>
        findPhrases(text, at(path, line), [...phrases, ...inTitles]),
      ),
    ),
    ...filesIn(scope.comments, '.ts', ['hack/banned-phrases.ts']).flatMap((path) =>
      commentsOf(read(path), path).flatMap(([line, text]) =>
        findPhrases(text, at(path, line), [...phrases, ...inComments]),
      ),
    ),
    ...filesIn(scope.pages, '.md', scope.exceptPages).flatMap((path) =>
      read(path)
        .split('\n')
        .filter((line) => !line.startsWith('  | '))
        .flatMap((line, i) => findPhrases(line, at(path, i + 1), phrases)),
    ),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const findings = check();
  for (const line of findings) process.stdout.write(`${line}\n`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
