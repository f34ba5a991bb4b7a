/** Findings as SARIF 2.1.0, for code scanning and editors. Pure. */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Finding, Level, RuleFacts } from '../../blueprint/lint/finding.ts';
import { ruleTable } from '../../blueprint/lint/inspect.ts';
import { endColumn } from './print-findings.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const LEVELS = { error: 'error', warning: 'warning', info: 'note' } as const satisfies Record<Level, string>;

const rules = Object.entries(ruleTable).flatMap(([category, group]) =>
  Object.entries(group).map(([id, facts]) => ruleOf(id, facts, category)),
);
const indexes = new Map(rules.map(({ id }, index) => [id, index]));

function ruleOf(id: string, { about, level }: RuleFacts, category: string) {
  return {
    id,
    shortDescription: { text: about },
    help: { text: `${about}. The page docs/blueprints.md lists all rules.` },
    defaultConfiguration: { level: LEVELS[level] },
    properties: { category },
  };
}

export const sarifLog = (findings: readonly Finding[], version: string): object => ({
  $schema: SCHEMA,
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'espalier', version, rules } },
      columnKind: 'utf16CodeUnits',
      results: findings.map(resultOf),
    },
  ],
});

function resultOf({ rule, level, message, place }: Finding): object {
  const index = indexes.get(rule);
  return {
    ruleId: rule,
    ...(index !== undefined && { ruleIndex: index }),
    level: LEVELS[level],
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(place.file) },
          region: {
            startLine: place.line,
            startColumn: place.column,
            endLine: place.line,
            endColumn: endColumn(place),
            ...(place.sourceLine !== '' && { snippet: { text: place.sourceLine } }),
          },
        },
      },
    ],
  };
}

/** Code scanning matches relative paths with those of the repository. */
const uriOf = (file: string): string =>
  isAbsolute(file)
    ? pathToFileURL(file).href
    : file
        .replace(/^\.\//, '')
        .split('/')
        .map((part) => encodeURIComponent(part))
        .join('/');
