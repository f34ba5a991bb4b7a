/** Whether the cluster is what the user wants, including every exported value, after all jobs have succeeded. */
import { annotations } from '../../../src/api/labels.ts';
import { isBeingDeleted } from '../../../src/api/job.ts';
import { installationContext, objectName } from '../../../src/dataflow/scope.ts';
import { NAMESPACE, kinds, ownerUid, type Inst, type Item, type Stored } from '../cluster/objects.ts';
import type { Server } from '../cluster/server.ts';
import type { Outside } from '../landscape/deployer.ts';
import {
  USER_DATA,
  inOrder,
  itemValue,
  nodeValue,
  outOf,
  scopeWithin,
  type NodeModel,
  type Values,
} from '../landscape/model.ts';
import { templateOf } from './below.ts';

interface Ports {
  readonly server: Server;
  readonly outside: Outside;
}

/** The values that roots import from each other and from the user. */
export function rootScope(roots: readonly NodeModel[], data: string): Values {
  const scope = new Map([[USER_DATA, data]]);
  for (const root of inOrder(roots)) if (root.gives) scope.set(outOf(root.name), nodeValue(root, scope));
  return scope;
}

export function differences(roots: readonly NodeModel[], data: string, ports: Ports): string[] {
  const scope = rootScope(roots, data);
  return roots.flatMap((root) => {
    const found = ports.server.find(kinds.installation, `${NAMESPACE}/${root.name}`);
    return found ? compare(root, found, scope, '', ports) : [`${root.name} does not exist`];
  });
}

/** @param context the context that the node exports to */
function compare(node: NodeModel, actual: Stored, scope: Values, context: string, ports: Ports): string[] {
  const problems: string[] = [];
  const inst = actual as unknown as Inst;
  if (inst.status?.phase !== 'Succeeded') {
    const { reason, message } = inst.status?.lastError ?? {};
    problems.push(
      `${node.name} is ${inst.status?.phase ?? 'without phase'} (${reason ?? ''}: ${message ?? ''})`,
    );
    return problems;
  }
  if (node.gives) {
    const name = objectName(context, outOf(node.name));
    const exported = ports.server.find(kinds.dataObject, `${NAMESPACE}/${name}`);
    const value = (exported as { data?: unknown } | undefined)?.data;
    const expected = nodeValue(node, scope);
    if (value !== expected) problems.push(`${node.name} exports ${String(value)} instead of ${expected}`);
  }
  problems.push(...compareItems(node, actual, scope, ports));

  const children = ports.server.list(kinds.installation).filter((c) => ownerUid(c) === actual.metadata.uid);
  const inner = scopeWithin(node, scope);
  for (const child of node.children) {
    const [found, ...more] = children.filter(
      (c) => c.metadata.annotations?.[annotations.subinstallationName] === child.name,
    );
    if (!found || more.length > 0)
      problems.push(`${node.name} has ${more.length + (found ? 1 : 0)} children ${child.name}`);
    else problems.push(...compare(child, found, inner, installationContext(actual.metadata.name), ports));
  }
  if (children.length > node.children.length) problems.push(`${node.name} has ${children.length} children`);
  return problems;
}

function compareItems(node: NodeModel, actual: Stored, scope: Values, { server, outside }: Ports): string[] {
  const problems: string[] = [];
  const execution = server.list(kinds.execution).find((each) => ownerUid(each) === actual.metadata.uid);
  const items = execution
    ? server.list(kinds.item).filter((each) => ownerUid(each) === execution.metadata.uid)
    : [];
  for (const wanted of node.items) {
    const found = items.find((each) => templateOf(each as unknown as Item) === wanted.name);
    if (!found || isBeingDeleted(found.metadata)) {
      problems.push(`${node.name} has no item ${wanted.name}`);
      continue;
    }
    if (wanted.type === 'mock') continue;
    const value = outside.installed.get(found.metadata.uid ?? '');
    const expected = itemValue(wanted, node, scope);
    if (value !== expected)
      problems.push(`item ${found.metadata.name} installed ${String(value)} instead of ${expected}`);
  }
  if (items.length > node.items.length) problems.push(`${node.name} has ${items.length} items`);
  return problems;
}
