/** Rows of the list and parts of a landscape, from trees. Pure. */
import { exportedNames, importedNames } from '../../api/data-names.ts';
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import type { Installation } from '../../api/kinds/installation.ts';
import { append } from '../../lib/lists.ts';
import type { View } from '../../lib/objects.ts';
import { noteOf, withoutSteps } from '../tree/print.ts';
import { rootCauses, type Node } from '../tree/tree.ts';
import { workloadKind } from './pods/workloads.ts';
import { managedResourcesOf, type ManagedObject } from './slim.ts';
import { idOf, whyOf } from './why.ts';
import type { LandscapeRow, Part } from './wire.ts';

export function rowOf(root: Node): LandscapeRow {
  const counts = { parts: 0, failed: 0, running: 0 };
  const count = (node: Node): void => {
    counts.parts++;
    if (node.condition === 'failed') counts.failed++;
    if (node.condition === 'running') counts.running++;
    node.children.forEach(count);
  };
  root.children.forEach(count);
  return {
    id: `${root.namespace}/${root.name}`,
    namespace: root.namespace,
    name: root.name,
    phase: root.phase,
    condition: root.condition,
    marks: root.marks,
    note: rowNote(root),
    ...timesOf(root),
    ...counts,
  };
}

/** With the title of the object that causes it, unless it is the root itself. */
function rowNote(root: Node): string {
  const cause = root.condition === 'failed' ? rootCauses(root)[0] : firstWait(root);
  if (!cause) return noteOf(root);
  const note = noteOf(cause);
  return cause === root ? note : `${cause.title}: ${note || cause.phase}`;
}

function firstWait(node: Node): Node | undefined {
  if (node.condition !== 'running') return undefined;
  for (const child of node.children) {
    const found = firstWait(child);
    if (found) return found;
  }
  return noteOf(node) === '' ? undefined : node;
}

function timesOf({ object, startedAt, endedAt }: Node): Pick<Part, 'createdAt' | 'startedAt' | 'endedAt'> {
  const createdAt = Date.parse(object.metadata.creationTimestamp ?? '');
  return {
    ...(!Number.isNaN(createdAt) && { createdAt }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
  };
}

/** All objects of a landscape, parents before children. */
export function partsOf(root: Node): readonly Part[] {
  const parts: Part[] = [];
  const visit = (node: Node, parent: string, at: number, siblings: readonly Node[]): void => {
    const id = idOf(node);
    const why = whyOf(node, { root, siblings });
    parts.push({
      id,
      parent,
      at,
      kind: node.kind,
      namespace: node.namespace,
      name: node.name,
      title: node.title,
      phase: node.phase,
      condition: node.condition,
      marks: node.marks,
      note: noteOf(node),
      warnings: node.warnings,
      ...timesOf(node),
      facts: factsOf(node),
      ...(why && { why }),
    });
    node.children.forEach((child, i) => {
      visit(child, id, i, node.children);
    });
    append(parts, objectsOf(node, id));
  };
  visit(root, '', 0, [root]);
  return parts;
}

const objectIdOf = (parent: string, { apiVersion, kind, namespace, name }: ManagedObject): string =>
  `${parent}/${apiVersion}/${kind}/${namespace}/${name}`;

/** The object on a target with this id, and its deploy item; undefined if the landscape has no such object. */
export function objectIn(
  root: Node,
  id: string,
): { readonly item: Node; readonly object: ManagedObject } | undefined {
  if (root.kind === 'DeployItem') {
    const parent = idOf(root);
    const object = managedResourcesOf(root.object as DeployItem).find(
      (one) => objectIdOf(parent, one) === id,
    );
    return object && { item: root, object };
  }
  for (const child of root.children) {
    const found = objectIn(child, id);
    if (found) return found;
  }
  return undefined;
}

const objectsOf = (node: Node, parent: string): readonly Part[] =>
  node.kind === 'DeployItem'
    ? managedResourcesOf(node.object as DeployItem).map((object, at) => ({
        id: objectIdOf(parent, object),
        parent,
        at,
        kind: 'Object',
        namespace: object.namespace,
        name: object.name,
        title: `${object.kind} ${object.name}`,
        phase: object.uid === '' ? 'Planned' : '',
        marks: [],
        note: '',
        warnings: [],
        facts: [
          ['API version', object.apiVersion],
          ['Kind', object.kind],
          ['UID', object.uid],
        ],
        ...(workloadKind(object) && { hasPods: true }),
      }))
    : [];

/** Names and references only: values stay in the cluster. */
function factsOf(node: Node): Part['facts'] {
  const facts: readonly (readonly [string, string | undefined])[] =
    node.kind === 'Installation'
      ? installationFacts(node.object as View<Installation>)
      : node.kind === 'DeployItem'
        ? itemFacts(node.object as View<DeployItem>)
        : [];
  const { generation, uid } = node.object.metadata as { readonly generation?: number; readonly uid?: string };
  return [
    ...facts,
    ['Message', node.message && withoutSteps(node.message)],
    ['Job', node.object.status?.jobID],
    ['Generation', generation?.toString()],
    ['UID', uid],
  ].flatMap(([name = '', value]) => (value ? [[name, value] as const] : []));
}

function installationFacts({ spec }: View<Installation>): readonly (readonly [string, string | undefined])[] {
  const component = spec.componentDescriptor?.ref;
  return [
    ['Component', component && `${component.componentName}:${component.version}`],
    ['Blueprint', spec.blueprint.ref?.resourceName ?? 'inline'],
    ['Imports', [...importedNames(spec)].join(', ')],
    ['Exports', [...exportedNames(spec)].join(', ')],
  ];
}

const itemFacts = ({ spec }: View<DeployItem>): readonly (readonly [string, string | undefined])[] => [
  ['Type', spec.type],
  ['Target', spec.target?.name],
  ['Timeout', spec.timeout],
];
