/** The names of contexts, data objects and targets: both sides of an import must compute the same name. */
import { sha1Name } from '../lib/hash.ts';

const DNS_NAME = /^([a-z0-9]|([a-z0-9][a-z0-9.-]*[a-z0-9]))$/;

/** The context that an installation owns; it contains copies of its imports and exports of its children. */
export const installationContext = (installation: string): string => `Inst.${installation}`;

export const executionContext = (execution: string): string => `Exec.${execution}`;

/** The context that an installation imports from and exports to: that of its parent, '' for a root. */
export const parentContext = (parent: string | undefined): string =>
  parent === undefined || parent === '' ? '' : installationContext(parent);

/**
 * Object name of the DataObject or Target with the name `name` in `context`. `#x` refers to the object x; a DNS
 * name without context is its own object name; all others are hashed.
 */
export function objectName(context: string, name: string): string {
  if (name.startsWith('#')) return name.slice(1);
  if (context === '' && DNS_NAME.test(name)) return name;
  return sha1Name(`${context}/${name}`);
}

/** Name of an element of a target list or map: index or key in brackets. */
export const elementName = (name: string, element: number | string): string => `${name}[${element}]`;
