/**
 * Warnings of a controller about a blueprint that works: the structural rules and unknown fields, which take time in
 * proportion to the definitions. Templates, schemas and their patterns are not inspected, because a user could make
 * that slow.
 */
import { BLUEPRINT_FILE, INSTALLATION_TEMPLATE_KIND } from '../../api/blueprint.ts';
import { readText } from '../../lib/file-tree.ts';
import { ownField } from '../../lib/objects.ts';
import { YamlError } from '../../lib/yaml.ts';
import { WrongType } from '../../api/decode.ts';
import type { LoadedBlueprint } from '../load.ts';
import type { JsonMap } from '../model.ts';
import { anyTemplate, blueprintFile, fileOf } from '../templates.ts';
import { MAX_READ_HERE } from '../read-here.ts';
import { definitionRules } from './definitions.ts';
import { unknownFieldFindings } from './document.ts';
import type { Finding } from './finding.ts';
import { schemaWordRules } from './schemas.ts';
import { Source } from './source.ts';
import type { SourceFiles } from './source-files.ts';
import type { Subject } from './subject.ts';
import { readYaml, YamlText } from './yaml-text.ts';

const groups = [definitionRules, schemaWordRules];

/** In the order of lines; positions are in `blueprint.yaml`. */
export function warningsOn(blueprint: LoadedBlueprint): readonly Finding[] {
  const source = new Source(BLUEPRINT_FILE, readText(blueprint.files, BLUEPRINT_FILE) ?? '');
  const files: SourceFiles = { tree: blueprint.files, paths: [], source: () => undefined };
  const document = YamlText.of(source);
  const subject: Subject = {
    document,
    raw: {},
    blueprint,
    files,
    templates: [],
    children: [],
    unreadable: [],
    caller: undefined,
    deployers: undefined,
  };
  return [
    ...groups.flatMap((group) => group.inspect(subject)),
    ...unknownFieldFindings(document, document.decode(), blueprintFile),
  ]
    .sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column)
    .concat(templateFiles(blueprint).flatMap(unknownFieldsOfTemplate));
}

export const isUnknownField = ({ rule }: Pick<Finding, 'rule'>): boolean => rule === 'unknown-field';

/** Nothing for a file that is not YAML, or of another kind; the rendering reports it. */
function unknownFieldsOfTemplate(source: Source): readonly Finding[] {
  try {
    const { document, value } = readYaml(source);
    const isTemplate = (ownField(value, 'kind') ?? INSTALLATION_TEMPLATE_KIND) === INSTALLATION_TEMPLATE_KIND;
    return isTemplate ? unknownFieldFindings(document, value, anyTemplate) : [];
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return [];
  }
}

/** The files of static sub-installations, up to the limit of a job. */
function templateFiles({ info, files }: LoadedBlueprint): readonly Source[] {
  let left = MAX_READ_HERE;
  return (info.subinstallations ?? []).flatMap((entry, i) => {
    const path = pathIn(entry, i);
    const text = path === '' ? undefined : readText(files, path);
    if (text === undefined || text.length > left) return [];
    left -= text.length;
    return [new Source(path, text)];
  });
}

/** Empty if the entry names no file, or cannot be read; the rendering reports that. */
function pathIn(entry: JsonMap, index: number): string {
  try {
    return fileOf(entry, index);
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    return '';
  }
}

export const describeFinding = ({ place, message, rule }: Finding): string =>
  `${place.file}:${String(place.line)}:${String(place.column)}: ${message} [${rule}]`;
