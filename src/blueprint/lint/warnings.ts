/**
 * Warnings of a controller about a blueprint that works: the structural rules, which take time in proportion to the
 * definitions. Templates, schemas and their patterns are not inspected, because a user could make that slow.
 */
import { BLUEPRINT_FILE } from '../../api/blueprint.ts';
import { readText } from '../../lib/file-tree.ts';
import type { LoadedBlueprint } from '../load.ts';
import { definitionRules } from './definitions.ts';
import type { Finding } from './finding.ts';
import { schemaWordRules } from './schemas.ts';
import { Source } from './source.ts';
import type { SourceFiles } from './source-files.ts';
import type { Subject } from './subject.ts';
import { YamlText } from './yaml-text.ts';

const groups = [definitionRules, schemaWordRules];

/** In the order of lines; positions are in `blueprint.yaml`. */
export function warningsOn(blueprint: LoadedBlueprint): readonly Finding[] {
  const source = new Source(BLUEPRINT_FILE, readText(blueprint.files, BLUEPRINT_FILE) ?? '');
  const files: SourceFiles = { tree: blueprint.files, paths: [], source: () => undefined };
  const subject: Subject = {
    document: YamlText.of(source),
    raw: {},
    blueprint,
    files,
    templates: [],
    children: [],
    unreadable: [],
    caller: undefined,
  };
  return groups
    .flatMap((group) => group.inspect(subject))
    .sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
}

const MAX_SHOWN = 10;

/** One line for each finding. */
export function describeFindings(findings: readonly Finding[]): string {
  const lines = findings.map(
    ({ place, message, rule }) =>
      `${place.file}:${String(place.line)}:${String(place.column)}: ${message} [${rule}]`,
  );
  const more = lines.length - MAX_SHOWN;
  return [...lines.slice(0, MAX_SHOWN), ...(more > 0 ? [`and ${String(more)} more`] : [])].join('\n');
}
