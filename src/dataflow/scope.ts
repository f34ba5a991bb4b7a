/** How contexts, data objects and targets are called: the rule that both sides of an import must agree on. */
import { GROUP } from '../api/labels.ts';
import type { OwnerReference } from '../api/shared.ts';
import { sha1Name } from '../lib/hash.ts';
import type { View } from '../lib/objects.ts';

const DNS_NAME = /^([a-z0-9]|([a-z0-9][a-z0-9.-]*[a-z0-9]))$/;

/** The context an installation owns: its imports' copies and its children's exports live there. */
export const installationContext = (installation: string): string => `Inst.${installation}`;

export const executionContext = (execution: string): string => `Exec.${execution}`;

/** The context an installation reads from and exports to: that of its parent, '' for a root. */
export const parentContext = (parent: string | undefined): string =>
  parent === undefined || parent === '' ? '' : installationContext(parent);

/**
 * Name of the DataObject or Target that stands for `name` in `context`.
 * `#x` is the object x itself; a plain DNS name without context names itself; all else is hashed.
 */
export function objectName(context: string, name: string): string {
  if (name.startsWith('#')) return name.slice(1);
  if (context === '' && DNS_NAME.test(name)) return name;
  return sha1Name(`${context}/${name}`);
}

/** Name of an element of a target list or map: index or key in brackets. */
export const elementName = (name: string, element: number | string): string => `${name}[${element}]`;

/** Name of the parent installation, from the controller owner reference; undefined for a root. */
export function parentOf(metadata: {
  readonly ownerReferences?: readonly View<OwnerReference>[] | undefined;
}): string | undefined {
  return metadata.ownerReferences?.find(
    (o) => o.controller === true && o.kind === 'Installation' && o.apiVersion.startsWith(`${GROUP}/`),
  )?.name;
}
