/** All parts of a landscape that tests can reach and that its files show without rendering. Pure. */
import { BLUEPRINT_FILE } from '../../../api/blueprint.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { findChildren } from '../../../blueprint/lint/children.ts';
import { inlineInput, type BlueprintInput } from '../../../blueprint/lint/inspect.ts';
import { Source } from '../../../blueprint/lint/source.ts';
import type { SourceFiles } from '../../../blueprint/lint/source-files.ts';
import { findTemplates } from '../../../blueprint/lint/found-templates.ts';
import type { FoundTemplate } from '../../../blueprint/lint/subject.ts';
import { YamlText } from '../../../blueprint/lint/yaml-text.ts';
import { parseBlueprint } from '../../../blueprint/load.ts';
import { templateFunctions } from '../../../blueprint/template-functions.ts';
import { branchesOf, filesIncludedBy, type Branch } from '../../../templating/branches.ts';
import { isInstallation, type PreparedDocument } from '../../commands/apply/prepare.ts';
import { rootPath } from '../stage/paths.ts';

export const partKinds = ['installation', 'import', 'template', 'branch', 'export'] as const;
type PartKind = (typeof partKinds)[number];

export interface Part {
  /** Path of the installation. */
  readonly path: string;
  readonly kind: PartKind;
  /** Such as `replicas`, or `export execution url`; that of an installation is its path. */
  readonly name: string;
  /** Whether it is used when the exports of the installation are rendered, not when its job starts. */
  readonly isLate: boolean;
  /** The id of a branch of a template. */
  readonly branch?: string;
}

/** The parts of all roots with inline blueprints. Sub-installations that templates produce are not known. */
export function inventoryOf(documents: readonly PreparedDocument[], home: string): readonly Part[] {
  return documents.flatMap(({ file, object }) => {
    const filesystem = isInstallation(object) ? object.spec.blueprint.inline?.filesystem : undefined;
    if (!isInstallation(object) || filesystem === undefined) return [];
    const path = rootPath(object.metadata.name, object.metadata.namespace ?? home, home);
    return partsOf(inputOf(file, object, filesystem), path);
  });
}

function inputOf(file: string, object: Installation, filesystem: unknown): BlueprintInput {
  // Positions do not matter here.
  const document = YamlText.of(new Source(file, JSON.stringify(object)));
  return inlineInput(document.below(['spec', 'blueprint', 'inline', 'filesystem']), filesystem, undefined);
}

function partsOf({ files, written }: BlueprintInput, path: string): readonly Part[] {
  const source = files.source(BLUEPRINT_FILE);
  const text = written ? JSON.stringify(written.value) : source?.text;
  const document = written?.document ?? (source && YamlText.of(source));
  if (text === undefined || !document) return [];
  const info = parseBlueprint(text);
  const listed = new Set<string>();
  const { children } = findChildren(document, { info, files: files.tree }, files);
  return [
    { path, kind: 'installation', name: path, isLate: false },
    ...(info.imports ?? []).map(({ name }) => ({ path, kind: 'import' as const, name, isLate: false })),
    ...findTemplates(document, info, files).flatMap((template) =>
      templateParts(template, { path, files, listed }),
    ),
    ...(info.exports ?? []).map(({ name }) => ({ path, kind: 'export' as const, name, isLate: true })),
    ...children.flatMap(({ document: own, template: { name, blueprint } }) =>
      blueprint.filesystem === undefined
        ? []
        : partsOf(
            inlineInput(own.below(['blueprint', 'filesystem']), blueprint.filesystem, undefined),
            `${path}/${name}`,
          ),
    ),
  ];
}

interface Surroundings {
  readonly path: string;
  readonly files: SourceFiles;
  /** Included files of the installation that are already in the inventory; grows. */
  readonly listed: Set<string>;
}

/** A template, its branches, and those of the files that it includes. */
function templateParts(
  { kind, executor, source }: FoundTemplate,
  { path, files, listed }: Surroundings,
): readonly Part[] {
  const { name: own = '', type } = executor;
  const name = `${kind} execution ${own}`;
  const isLate = kind === 'export';
  const functions = templateFunctions(undefined);
  const branchesIn = (where: string, text: string): readonly Part[] => [
    ...branchesOf(type, text, functions).map((branch): Part => ({
      path,
      kind: 'branch',
      name: branchName(where, branch),
      isLate,
      branch: branch.id,
    })),
    ...filesIncludedBy(type, text, functions).flatMap((file) => {
      const included = files.source(file);
      const where = `file ${file}`;
      if (!included || listed.has(where)) return [];
      listed.add(where);
      return branchesIn(where, included.text);
    }),
  ];
  return [{ path, kind: 'template', name, isLate }, ...(source ? branchesIn(name, source.text) : [])];
}

const branchName = (where: string, { line, text, way }: Branch): string =>
  `${where}, line ${String(line)}: ${way === 'else' ? 'else of ' : ''}${text}`;
