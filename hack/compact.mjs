// Makes compiled files smaller without changing their names or lines, so that stack traces stay readable: removes
// comments (the declarations keep the documentation), and indents with tabs.
import ts from 'typescript';

const SPACES_PER_LEVEL = 4;

/** @param text JavaScript as the compiler writes it */
export function compacted(text) {
  const file = parsed(text);
  const lines = withoutComments(text, file).split('\n');
  const kept = linesWithinTemplates(text, file);
  return lines.map((line, at) => (kept.has(at) ? line : withTabs(line))).join('\n');
}

const parsed = (text) =>
  ts.createSourceFile(
    'file.js',
    text,
    { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone },
    true,
    ts.ScriptKind.JS,
  );

/** Without comments that end a line; the lines keep their numbers. */
function withoutComments(text, file) {
  const parts = [];
  let at = 0;
  for (const { pos, end } of commentsIn(text, file)) {
    if (!/^[ \t]*(\r?\n|$)/.test(text.slice(end, text.indexOf('\n', end) + 1))) continue;
    const breaks = text.slice(pos, end).split('\n').length - 1;
    parts.push(text.slice(at, pos).replace(/[ \t]+$/, ''), '\n'.repeat(breaks));
    at = end;
  }
  return parts.join('') + text.slice(at);
}

/** In the order of the text. */
function commentsIn(text, file) {
  const found = new Map();
  const add = (ranges) => {
    for (const range of ranges ?? []) found.set(range.pos, range);
  };
  visitTokens(file, file, (token) => {
    add(ts.getLeadingCommentRanges(text, token.getFullStart()));
    add(ts.getTrailingCommentRanges(text, token.getEnd()));
  });
  return [...found.values()].sort((a, b) => a.pos - b.pos);
}

/** Numbers of lines whose beginning is part of a string. */
function linesWithinTemplates(text, file) {
  const lines = new Set();
  visitTokens(file, file, (token) => {
    if (!ts.isTemplateLiteralToken(token) && !ts.isStringLiteral(token)) return;
    const first = file.getLineAndCharacterOfPosition(token.getStart(file)).line;
    const last = file.getLineAndCharacterOfPosition(token.getEnd()).line;
    for (let line = first + 1; line <= last; line++) lines.add(line);
  });
  return lines;
}

function visitTokens(node, file, visit) {
  const children = node.getChildren(file);
  if (children.length === 0) visit(node);
  for (const child of children) visitTokens(child, file, visit);
}

function withTabs(line) {
  const [indent = ''] = /^ */.exec(line) ?? [];
  const levels = Math.floor(indent.length / SPACES_PER_LEVEL);
  return '\t'.repeat(levels) + line.slice(levels * SPACES_PER_LEVEL);
}
