/** Turns documents into the objects to send: with their blueprints, checked, and in an order that works. */
import type { Installation } from '../../../api/kinds/installation.ts';
import { annotations, GROUP } from '../../../api/labels.ts';
import { refusalForJob, validatedResources, type ValidatedResource } from '../../../api/validation/index.ts';
import { builtInDeployers } from '../../composition/item-configurations.ts';
import { callerRuleNames, inspectBlueprint } from '../../../blueprint/lint/inspect.ts';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import type { PackedComponent } from '../../../components/component-file.ts';
import { ContentInvalid } from '../../../components/errors.ts';
import { findCycle, ordered, siblingOf } from '../../../dataflow/siblings.ts';
import { toYaml } from '../../../lib/yaml.ts';
import { groupOf } from '../../../runtime/keys.ts';
import type { Obj } from '../../../runtime/types.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { selfCommand } from '../../self-command.ts';
import { blueprintFilesIn, blueprintsAt, STDIN } from '../blueprints/sources.ts';
import {
  asComponent,
  blueprintFolderFor,
  MAX_INLINE_BYTES,
  needsBlueprint,
  sizeOf,
  withInlineBlueprint,
  withoutFolderAnnotation,
} from './local-blueprint.ts';
import { placeOf, readDocuments, type SourceDocument } from './read.ts';

export interface PrepareOptions {
  /** Registry for blueprints that are too large to be inlined. */
  readonly repository?: string;
  /** Whether blueprints of folders are checked. */
  readonly lint: boolean;
}

/** A document whose object is complete. */
export interface PreparedDocument extends SourceDocument {
  /** The blueprint, if it has to be pushed to the repository. */
  readonly component?: PackedComponent;
}

interface Preparation {
  /** In the order in which they are applied. */
  readonly documents: readonly PreparedDocument[];
  /** One line for each mistake, with file and document. */
  readonly problems: readonly string[];
  /** One line for each field of a blueprint that has no effect. */
  readonly warnings: readonly string[];
}

/** Reads and checks all objects; needs no cluster. @throws UsageError if a path cannot be read */
export async function prepare(paths: readonly string[], options: PrepareOptions): Promise<Preparation> {
  const { documents, problems } = readDocuments(paths);
  const prepared: PreparedDocument[] = [];
  const found: string[] = [];
  const warnings = new Set<string>();
  const reported = new Map<string, string>();
  for (const document of documents) {
    try {
      const complete = isInstallation(document.object)
        ? await withBlueprint(document, document.object, { ...options, warnings, reported })
        : document;
      const refusal = refusalOf(complete.object);
      if (refusal !== undefined) found.push(`${placeOf(document)}: ${refusal}`);
      prepared.push(complete);
    } catch (error) {
      found.push(`${placeOf(document)}: ${explained(error)}`);
    }
  }
  return { documents: inOrder(prepared), problems: [...problems, ...found], warnings: [...warnings] };
}

/** The message of a mistake in the files. @throws other errors */
function explained(error: unknown): string {
  const isMistake =
    error instanceof UsageError || error instanceof CommandError || error instanceof ContentInvalid;
  if (!isMistake) throw error;
  return error.message;
}

export const isInstallation = (object: Obj): object is Installation =>
  object.kind === 'Installation' && groupOf(object.apiVersion) === GROUP;

async function withBlueprint(
  document: SourceDocument,
  installation: Installation,
  { repository, lint, ...found }: PrepareOptions & Found,
): Promise<PreparedDocument> {
  if (!needsBlueprint(installation)) {
    if (installation.metadata.annotations?.[annotations.blueprintFolder] !== undefined)
      throw new UsageError(
        `it has a spec.blueprint and the annotation ${annotations.blueprintFolder}; remove one of them`,
      );
    return { ...document, object: withoutFolderAnnotation(installation) };
  }
  const folder = blueprintFolderFor(document.file, installation);
  const files = await blueprintFilesIn(folder);
  const inlined = withInlineBlueprint(installation, files);
  if (lint) await check(folder, placeOf(document), inlined, found);
  const bytes = sizeOf(inlined);
  if (bytes <= MAX_INLINE_BYTES) return { ...document, object: inlined };
  if (repository === undefined)
    throw new CommandError(
      `with the blueprint in ${folder} it has ${String(bytes)} bytes, more than the ${String(MAX_INLINE_BYTES)} that are stored in an object; ` +
        'name a registry with --repository, to which the blueprint is pushed as a component',
    );
  const packed = await asComponent(installation, files, repository);
  return { ...document, object: packed.installation, component: packed.component };
}

const MAX_SHOWN_FINDINGS = 5;

/** What the checks of all blueprints have found. */
interface Found {
  /** Fields that have no effect, so that something may not be installed. */
  readonly warnings: Set<string>;
  /** By folder with mistakes: the place of the installation that reports them. */
  readonly reported: Map<string, string>;
}

/** @throws CommandError with the errors in the blueprint, and between the installation and its blueprint */
async function check(
  folder: string,
  place: string,
  inlined: Installation,
  { warnings, reported }: Found,
): Promise<void> {
  const [blueprint] = await blueprintsAt(folder, () => '');
  const [whole] = await blueprintsAt(STDIN, () => toYaml(inlined));
  const inFolder = blueprint ? inspectBlueprint(blueprint.input, builtInDeployers) : [];
  const ofCaller = whole ? inspectBlueprint(whole.input).filter(({ rule }) => callerRuleNames.has(rule)) : [];
  const isError = ({ level }: Finding): boolean => level === 'error';
  // The rules for callers find mistakes of sub-installations in the folder again.
  const known = new Set(inFolder.map(({ message }) => message));
  const ofThis = ofCaller.filter(({ message }) => !known.has(message));
  const hasErrors = inFolder.some(isError) || ofThis.some(isError);
  // A misspelt name is a warning, and often the reason for an error.
  const isWarning = ({ rule, level }: Finding): boolean =>
    UNKNOWN_FIELDS.includes(rule) || (hasErrors && level === 'warning');
  for (const finding of inFolder.filter(isWarning)) warnings.add(withPlace(finding));
  for (const { message } of ofThis.filter(isWarning)) warnings.add(`${place}: ${message}`);
  const own = ofThis.filter(isError).map(({ message }) => message);
  const before = reported.get(folder);
  const shared = before === undefined ? inFolder.filter(isError).map(withPlace) : [];
  if (before !== undefined && own.length === 0)
    throw new CommandError(`its blueprint has the mistakes that are listed for ${before}`);
  const findings = [...shared, ...own];
  if (findings.length === 0) return;
  if (shared.length > 0) reported.set(folder, place);
  const [shown, more] = [findings.slice(0, MAX_SHOWN_FINDINGS), findings.length - MAX_SHOWN_FINDINGS];
  throw new CommandError(
    `the blueprint has mistakes: ${shown.join('; ')}${more > 0 ? `; and ${String(more)} more` : ''}; ` +
      `see them all with: ${selfCommand()} blueprints lint ${folder}, or skip the check with --no-lint`,
  );
}

const UNKNOWN_FIELDS: readonly string[] = ['unknown-field', 'item-config-field'];

const withPlace = ({ place, message }: Finding): string => `${place.file}:${String(place.line)}: ${message}`;

function refusalOf(object: Obj): string | undefined {
  if (groupOf(object.apiVersion) !== GROUP) return undefined;
  const resource = `${object.kind.toLowerCase()}s`;
  const isValidated = (name: string): name is ValidatedResource =>
    (validatedResources as readonly string[]).includes(name);
  return isValidated(resource) ? refusalForJob(resource, object) : undefined;
}

// ---------------------------------------------------------------- order

/** Kinds that others need, first to last; kinds that are not listed follow them, installations are last. */
const FIRST_KINDS = [
  'Namespace',
  'CustomResourceDefinition',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Secret',
  'ConfigMap',
  'Target',
  'Context',
  'DataObject',
];

/** The rank of a kind; a smaller one is applied earlier, and deleted later. */
export function rankOf(kind: string): number {
  const rank = FIRST_KINDS.indexOf(kind);
  if (kind === 'Installation') return FIRST_KINDS.length + 1;
  return rank < 0 ? FIRST_KINDS.length : rank;
}

/** In the order of kinds; installations that export come before those that import from them. */
function inOrder<T extends { readonly object: Obj }>(documents: readonly T[]): readonly T[] {
  const installations = documents.filter(({ object }) => isInstallation(object));
  const others = documents.filter(({ object }) => !isInstallation(object));
  return [
    ...others.sort((a, b) => rankOf(a.object.kind) - rankOf(b.object.kind)),
    ...inDataFlow(installations),
  ];
}

function inDataFlow<T extends { readonly object: Obj }>(documents: readonly T[]): readonly T[] {
  const siblings = documents.map((document, i) => {
    const { object } = document;
    const { imports, exports } = isInstallation(object) ? siblingOf(object) : {};
    // Names repeat if there are several namespaces.
    return { imports, exports, name: String(i), document };
  });
  if (findCycle(siblings)) return documents;
  return ordered(siblings).map(({ document }) => document);
}
