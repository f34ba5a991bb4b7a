/** Reads the objects that files and folders contain, and checks what can be checked without a cluster. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BLUEPRINT_KIND } from '../../../api/blueprint.ts';
import { API_VERSION } from '../../../api/labels.ts';
import { isDns1123Label } from '../../../lib/names.ts';
import { isObject, ownField } from '../../../lib/objects.ts';
import { groupOf } from '../../../runtime/keys.ts';
import type { Obj } from '../../../runtime/types.ts';
import { UsageError } from '../../errors.ts';
import { nameOf, readYamlDocuments } from '../../files.ts';
import { isTestFile } from '../../landscape-tests/file/names.ts';
import { STDIN } from '../blueprints/sources.ts';

/** One object of a file. */
export interface SourceDocument {
  /** `-` for standard input. */
  readonly file: string;
  /** Position in the file, from 1; the items of a List have that of the list. */
  readonly position: number;
  readonly object: Obj;
}

interface ReadResult {
  readonly documents: readonly SourceDocument[];
  /** One line for each mistake, with file and document. */
  readonly problems: readonly string[];
}

/** Description of a component version, which is not a Kubernetes object; folders may contain one. */
const COMPONENT_FILE = 'component.yaml';
const YAML_FILE = /\.ya?ml$/;

/**
 * @param paths files, folders, or `-` for standard input
 * @throws UsageError if a path does not exist, or a folder contains no YAML file
 */
export function readDocuments(paths: readonly string[]): ReadResult {
  const documents: SourceDocument[] = [];
  const problems: string[] = [];
  for (const file of new Set(paths.flatMap(filesAt))) {
    let values: readonly unknown[];
    try {
      values = readYamlDocuments(file);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error.message);
      continue;
    }
    for (const [i, value] of values.entries()) {
      for (const object of itemsOf(value)) {
        const document = { file, position: i + 1, object: object as Obj };
        const problem = structureProblem(object);
        if (problem === undefined) documents.push(document);
        else problems.push(`${placeOf(document)}: ${problem}`);
      }
    }
  }
  return { documents, problems: [...problems, ...repeated(documents)] };
}

/** The YAML files directly in a folder, by name; any other path is one file. */
function filesAt(path: string): readonly string[] {
  if (path === STDIN) return [path];
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts) throw new UsageError(`there is no file or folder ${path}`);
  if (!facts.isDirectory()) return [path];
  const names = readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && isObjectFile(entry.name))
    .map(({ name }) => name)
    .sort();
  if (names.length === 0)
    throw new UsageError(
      `the folder ${path} contains no .yaml or .yml file; files of sub-folders are not read`,
    );
  return names.map((name) => join(path, name));
}

const isObjectFile = (name: string): boolean =>
  YAML_FILE.test(name) && name !== COMPONENT_FILE && !isTestFile(name);

/** Empty documents are left out; a List is replaced by its items. */
function itemsOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  const items = ownField(value, 'items');
  return ownField(value, 'kind') === 'List' && Array.isArray(items) ? items : [value];
}

function structureProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is not a Kubernetes object; write apiVersion, kind and metadata';
  const { apiVersion, kind, metadata } = value;
  if (kind === BLUEPRINT_KIND)
    return 'it is a blueprint, not an object of the cluster; write an Installation next to the folder of the blueprint, see docs/first-landscape.md';
  if (kind === 'InstallationTemplate')
    return 'it is a template in a blueprint, not an object of the cluster; move it into the folder of the blueprint';
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'it has no apiVersion';
  if (typeof kind !== 'string' || kind === '') return 'it has no kind';
  if (!isObject(metadata)) return `the ${kind} has no metadata`;
  const { name, namespace } = metadata;
  if (typeof name !== 'string' || name === '')
    return `the ${kind} has no metadata.name${ownField(metadata, 'generateName') === undefined ? '' : '; metadata.generateName cannot be applied'}`;
  if (namespace !== undefined && (typeof namespace !== 'string' || isDns1123Label(namespace).length > 0))
    return `the ${kind} ${name} has an invalid metadata.namespace`;
  if (kind === 'Installation' && apiVersion === API_VERSION && !isObject(value['spec']))
    return `the Installation ${name} has no spec`;
  return undefined;
}

function repeated(documents: readonly SourceDocument[]): readonly string[] {
  const first = new Map<string, SourceDocument>();
  return documents.flatMap((document) => {
    const { apiVersion, kind, metadata } = document.object;
    const id = [groupOf(apiVersion), kind, metadata.namespace ?? '', metadata.name].join('/');
    const other = first.get(id);
    if (!other) first.set(id, document);
    return other ? [`${placeOf(document)}: the same object is also in ${positionOf(other)}`] : [];
  });
}

/** `installation/web` */
export const titleOf = ({ kind, metadata }: Pick<Obj, 'kind' | 'metadata'>): string =>
  `${kind.toLowerCase()}/${metadata.name}`;

/** `shop/web.yaml, document 2 (installation/web)` */
export function placeOf(document: SourceDocument): string {
  const { kind, metadata } = document.object as Partial<Obj>;
  const isNamed = typeof kind === 'string' && typeof ownField(metadata, 'name') === 'string';
  return isNamed ? `${positionOf(document)} (${titleOf(document.object)})` : positionOf(document);
}

const positionOf = ({ file, position }: SourceDocument): string =>
  `${nameOf(file)}, document ${String(position)}`;
