/** The objects of the landscape under test: those of its files, and those that the test adds or replaces. */
import { API_VERSION, GROUP } from '../../../api/labels.ts';
import { isRoot } from '../../../api/job.ts';
import { hintFor } from '../../../lib/closest.ts';
import { groupOf, joinKey } from '../../../runtime/keys.ts';
import { getIfThere } from '../../../runtime/transport/read.ts';
import type { Obj } from '../../../runtime/types.ts';
import { isInstallation, rankOf, type PreparedDocument } from '../../commands/apply/prepare.ts';
import { resolve } from '../../commands/apply/resolve.ts';
import { applyAll } from '../../commands/apply/write.ts';
import { CommandError } from '../../errors.ts';
import { namespaceKind, namespaceObject } from '../../objects.ts';
import type { Stage } from './stage.ts';

/** What a case has besides the files. */
interface Additions {
  readonly objects: readonly object[];
  readonly imports: Readonly<Record<string, unknown>>;
  /** Names of targets. */
  readonly targets: readonly string[];
}

const CLUSTER_TYPE = `${GROUP}/kubernetes-cluster`;

/** All targets lead to the embedded API server, so the address does not matter; snapshots should not depend on it. */
const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'test',
  clusters: [{ name: 'test', cluster: { server: 'https://cluster.test' } }],
  users: [{ name: 'test', user: { token: 'test' } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
});

/** The namespace of the first root in the files. */
export function homeOf(documents: readonly PreparedDocument[]): string {
  const root = documents.find(({ object }) => isInstallation(object) && isRoot(object.metadata));
  return root?.object.metadata.namespace ?? 'default';
}

/** The documents with what the case adds; an object of the case replaces one of the files. */
export function withAdditions(
  documents: readonly PreparedDocument[],
  { objects, imports, targets }: Additions,
  home: string,
): readonly PreparedDocument[] {
  const target = (name: string): Obj =>
    ({
      apiVersion: API_VERSION,
      kind: 'Target',
      metadata: { name, namespace: home },
      spec: { type: CLUSTER_TYPE, config: { kubeconfig: KUBECONFIG } },
    }) as Obj;
  const added = [
    ...targets.map(target),
    ...Object.entries(imports).map(([name, data]) => dataObject(name, home, data)),
    ...(objects as readonly Obj[]),
  ];
  const replaced = new Set(added.map((object) => idOf(object, home)));
  return [
    ...added.map((object) => ({ file: 'given', position: 1, object })),
    ...documents.filter(({ object }) => !replaced.has(idOf(object, home))),
  ];
}

const dataObject = (name: string, namespace: string, data: unknown): Obj =>
  ({ apiVersion: API_VERSION, kind: 'DataObject', metadata: { name, namespace }, data }) as Obj;

const idOf = ({ apiVersion, kind, metadata }: Obj, home: string): string =>
  [groupOf(apiVersion), kind, joinKey(metadata.namespace ?? home, metadata.name)].join(' ');

/** Applies documents like `espalier apply`; installations get a job. @throws CommandError */
export async function applyDocuments(
  documents: readonly PreparedDocument[],
  { client, clock, home }: Stage,
): Promise<void> {
  const own = documents.filter(({ object }) => object.kind === namespaceKind.kind);
  const used = new Set([home, ...documents.flatMap(({ object }) => object.metadata.namespace ?? [])]);
  for (const { object } of own) used.delete(object.metadata.name);
  for (const name of used)
    if (!(await getIfThere(client, namespaceKind, name)))
      await client.send({ verb: 'create', kind: namespaceKind, object: namespaceObject(name) });
  const { planned, problems } = await resolve(documents, { client, namespace: home }, { reconcile: true });
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  const ordered = [...planned].sort((a, b) => rankOf(a.kind.kind) - rankOf(b.kind.kind));
  await applyAll(ordered, { client, clock, force: true }, () => undefined);
}

/** The documents of one step: all, or the named installations. @throws CommandError for unknown names */
export function installationsIn(
  documents: readonly PreparedDocument[],
  names: readonly string[],
): readonly PreparedDocument[] {
  const known = documents
    .filter(({ object }) => isInstallation(object))
    .map(({ object }) => object.metadata.name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new CommandError(`there is no installation "${unknown}" in the files; ${hintFor(unknown, known)}`);
  return documents.filter(({ object }) => !isInstallation(object) || names.includes(object.metadata.name));
}
