/** Which of our CustomResourceDefinitions a cluster lacks, and which of their fields. */
import { isObject } from '../../lib/objects.ts';
import { isBeingDeleted } from '../../api/job.ts';
import type { Obj, View } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';
import { nameOf, type Finding } from './findable.ts';
import { selfCommand } from '../self-command.ts';

/** What is compared, of a definition of ours or of the cluster. */
export interface DefinitionLike {
  readonly metadata: { readonly name?: string; readonly deletionTimestamp?: string };
  readonly spec?:
    | {
        readonly versions?: readonly {
          readonly name: string;
          readonly schema?: { readonly openAPIV3Schema?: unknown } | undefined;
        }[];
      }
    | undefined;
}

const MOST_NAMED = 5;

/** The definitions of the cluster that drop or reject what this version writes. */
export function outdatedDefinitions({
  definitions: ours = [],
  storedDefinitions: stored = [],
}: Definitions): readonly Finding[] {
  const byName = new Map(stored.map((one) => [one.metadata.name, one]));
  return ours.flatMap((wanted) => {
    const name = wanted.metadata.name ?? '';
    const evidence = shortcoming(wanted, byName.get(name));
    if (evidence === undefined) return [];
    return {
      check: 'outdated-definition',
      object: `CustomResourceDefinition ${name}`,
      evidence,
      risk: 'none for stored objects; Landscaper accepts these definitions, and replaces them when it starts',
      command: `${selfCommand()} crds | kubectl apply --server-side --force-conflicts -f -`,
    };
  });
}

/** Definitions in deletion: the server deletes all objects of the kind, and accepts no new ones. */
export function definitionsInDeletion(all: Definitions & Partial<Collected>): readonly Finding[] {
  const { definitions: ours = [], storedDefinitions: stored = [] } = all;
  const names = new Set(ours.map(({ metadata }) => metadata.name));
  return stored.flatMap(({ metadata: { name = '', deletionTimestamp } }) =>
    deletionTimestamp === undefined || !names.has(name)
      ? []
      : {
          check: 'definition-in-deletion',
          object: `CustomResourceDefinition ${name}`,
          evidence: `it was deleted at ${deletionTimestamp}, which cannot be undone; objects of the kind are being deleted, and jobs wait because none can be created`,
          risk: 'starts a job of every root, which uninstalls what the deleted deploy items have installed; read docs/operating.md, "A definition was deleted", before',
          command: `${selfCommand()} installations reconcile --all -A`,
          affects: objectsOf(name, all).map(nameOf),
        },
  );
}

/** The objects of a kind that are being deleted with their definition. */
const objectsOf = (name: string, all: Partial<Collected>): readonly View<Obj>[] =>
  [...(all.installations ?? []), ...(all.executions ?? []), ...(all.deployItems ?? [])].filter(
    ({ kind, metadata }) => name.startsWith(`${kind.toLowerCase()}s.`) && isBeingDeleted(metadata),
  );

/** Ours, and those of the cluster. */
interface Definitions {
  readonly definitions?: readonly DefinitionLike[];
  readonly storedDefinitions?: readonly DefinitionLike[];
}

function shortcoming(wanted: DefinitionLike, stored: DefinitionLike | undefined): string | undefined {
  if (!stored) return 'it does not exist';
  for (const { name, schema } of wanted.spec?.versions ?? []) {
    const version = stored.spec?.versions?.find((one) => one.name === name);
    if (!version) return `it has no version ${name}`;
    const missing = missingFields(schema?.openAPIV3Schema, version.schema?.openAPIV3Schema, '');
    if (missing.length === 0) continue;
    const more = missing.length > MOST_NAMED ? ` and ${String(missing.length - MOST_NAMED)} more` : '';
    return `version ${name} drops the fields ${missing.slice(0, MOST_NAMED).join(', ')}${more}`;
  }
  return undefined;
}

/** Paths of the fields in `wanted` that `stored` would drop; of a missing field, not those below it. */
function missingFields(wanted: unknown, stored: unknown, path: string): readonly string[] {
  if (!isObject(wanted)) return [];
  if (isObject(stored) && keepsAll(stored)) return [];
  const below = (key: string, name: string): readonly string[] =>
    missingFields(wanted[key], isObject(stored) ? stored[key] : undefined, `${path}${name}`);
  const properties = isObject(wanted['properties']) ? wanted['properties'] : {};
  const known = isObject(stored) && isObject(stored['properties']) ? stored['properties'] : {};
  return [
    ...Object.entries(properties).flatMap(([name, schema]) => {
      const at = path === '' ? name : `${path}.${name}`;
      return name in known ? missingFields(schema, known[name], at) : [at];
    }),
    ...below('items', '[]'),
    ...(isObject(wanted['additionalProperties']) ? below('additionalProperties', '.*') : []),
  ];
}

/** Unknown fields are kept: of any content, or of a map with any values. */
const keepsAll = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema['x-kubernetes-preserve-unknown-fields'] === true || schema['additionalProperties'] === true;
