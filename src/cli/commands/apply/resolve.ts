/** Finds the kinds and namespaces of objects on a cluster. */
import { hasOperation, isRoot } from '../../../api/job.ts';
import { annotations, GROUP, labels, operations } from '../../../api/labels.ts';
import { isObject, ownField } from '../../../lib/objects.ts';
import { NoSuchKind } from '../../../runtime/errors.ts';
import { apiVersionOf, groupOf, joinKey, keyOf } from '../../../runtime/keys.ts';
import { createDiscovery } from '../../../runtime/transport/discovery.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Client, Key, Kind, Obj } from '../../../runtime/types.ts';
import type { Cluster } from '../../cluster.ts';
import { namespaceKind } from '../../objects.ts';
import { isInstallation, type PreparedDocument } from './prepare.ts';
import { placeOf } from './read.ts';
import { selfCommand } from '../../self-command.ts';

interface ResolveOptions {
  /** The namespace option, which the objects may not contradict. */
  readonly namespace?: string;
  readonly set?: string;
  readonly reconcile?: true;
}

/** An object as it is sent. */
export interface PlannedObject {
  readonly document: PreparedDocument;
  readonly kind: Kind;
  readonly key: Key;
  readonly object: Obj;
  /** Whether the cluster cannot check the object yet: its namespace or its kind is among the objects, and is new. */
  readonly isDeferred: boolean;
}

interface Resolved {
  readonly planned: readonly PlannedObject[];
  /** One line for each object that the cluster cannot store, with file and document. */
  readonly problems: readonly string[];
}

/** Sends requests for discovery, and for namespaces among the objects. @throws the errors of runtime/errors.ts */
export async function resolve(
  documents: readonly PreparedDocument[],
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  options: ResolveOptions,
): Promise<Resolved> {
  const discovery = createDiscovery(client);
  const defined = kindsDefinedIn(documents);
  const newNamespaces = await namespacesToCreate(documents, client);
  const planned: PlannedObject[] = [];
  const problems: string[] = [];
  for (const document of documents) {
    const { apiVersion, kind: name } = document.object;
    const served = await discovery.kindOf(apiVersion, name).catch((error: unknown) => {
      if (error instanceof NoSuchKind) return error;
      throw error;
    });
    const own = defined.find((one) => one.kind === name && apiVersionOf(one) === apiVersion);
    const kind = served instanceof NoSuchKind ? own : served;
    const problem = kind
      ? namespaceProblem(kind, document.object, options)
      : unknownKind(served as NoSuchKind);
    if (!kind || problem !== undefined) {
      problems.push(`${placeOf(document)}: ${problem ?? ''}`);
      continue;
    }
    const object = completed(kind, document.object, namespace, options);
    const isDeferred = served instanceof NoSuchKind || newNamespaces.has(object.metadata.namespace ?? '');
    planned.push({ document, kind, key: keyOf(object), object, isDeferred });
  }
  return { planned, problems };
}

const unknownKind = ({ message, apiVersion }: NoSuchKind): string =>
  groupOf(apiVersion) === GROUP
    ? `${message} Install it with: ${selfCommand()} crds | kubectl apply --server-side -f -`
    : message;

/** The kinds that CustomResourceDefinitions among the objects define. */
function kindsDefinedIn(documents: readonly PreparedDocument[]): readonly Kind[] {
  return documents.flatMap(({ object }) => {
    const spec = ownField(object, 'spec');
    if (object.kind !== 'CustomResourceDefinition' || !isObject(spec)) return [];
    const names = spec['names'];
    const versions: readonly unknown[] = Array.isArray(spec['versions']) ? spec['versions'] : [];
    return versions.map((version) => ({
      group: String(spec['group']),
      version: String(ownField(version, 'name')),
      kind: String(ownField(names, 'kind')),
      plural: String(ownField(names, 'plural')),
      namespaced: spec['scope'] === 'Namespaced',
    }));
  });
}

async function namespacesToCreate(
  documents: readonly PreparedDocument[],
  client: Client,
): Promise<ReadonlySet<string>> {
  const names = documents
    .map(({ object }) => object)
    .filter(({ kind, apiVersion }) => kind === namespaceKind.kind && groupOf(apiVersion) === '')
    .map(({ metadata }) => metadata.name);
  const present = await Promise.all(names.map((name) => getIfThere(client, namespaceKind, name)));
  return new Set(names.filter((_, i) => present[i] === undefined));
}

function namespaceProblem(kind: Kind, { metadata }: Obj, options: ResolveOptions): string | undefined {
  const { namespace } = metadata;
  if (namespace === undefined) return undefined;
  if (!kind.namespaced) return `objects of kind ${kind.kind} have no namespace; remove metadata.namespace`;
  return options.namespace === undefined || options.namespace === namespace
    ? undefined
    : `its namespace ${namespace} is not that of the option: -n ${options.namespace}`;
}

function completed(kind: Kind, object: Obj, namespace: string, { set, reconcile }: ResolveOptions): Obj {
  const { metadata } = object;
  const startsJob = reconcile && isInstallation(object) && isRoot(metadata);
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(kind.namespaced && { namespace: metadata.namespace ?? namespace }),
      ...(set !== undefined && { labels: { ...metadata.labels, [labels.set]: set } }),
      ...(startsJob &&
        !hasOperation(metadata, operations.reconcile) && {
          annotations: { ...metadata.annotations, [annotations.operation]: operations.reconcile },
        }),
    },
  };
}

/** Identifies an object among all kinds. */
export const identityOf = (kind: Kind, { metadata }: Pick<Obj, 'metadata'>): string =>
  `${kind.group}/${kind.kind}/${joinKey(metadata.namespace, metadata.name)}`;
