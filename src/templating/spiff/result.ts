/** The result and the state of an evaluated document. */
import { FLAG, hasFlag, isFields, isList, type Node } from './tree/node.ts';
import { toSpiff, written } from './tree/plain.ts';
import { isExpr } from './syntax/ast.ts';
import type { SpiffValue } from './value.ts';

/** Omits parts at every level. */
function without(root: Node, isLeftOut: (it: Node) => boolean): Node {
  const { value } = root;
  const keep = (it: Node): Node => without(it, isLeftOut);
  if (isList(value)) return { ...root, value: value.filter((it) => !isLeftOut(it)).map(keep) };
  if (!isFields(value)) return root;
  const kept = [...value].filter(([, it]) => !isLeftOut(it));
  return { ...root, value: new Map(kept.map(([key, it]) => [key, keep(it)])) };
}

/** The document without values that a stub marks as `&local`. */
export const withoutLocal = (root: Node): Node => without(root, ({ flags }) => hasFlag(flags, FLAG.local));

const isHelp = ({ flags }: Node): boolean => hasFlag(flags, FLAG.local | FLAG.temporary);

/** Without temporary values, and with escaped expressions as strings. */
export const finished = (root: Node): Node => unescaped(without(root, isHelp), (key) => key);

export const output = (root: Node): SpiffValue => {
  const { value } = finished(root);
  return isExpr(value) ? null : written(toSpiff(value));
};

/** Values marked as `&state` at the top level of the document. */
export function stateIn(root: Node): SpiffValue {
  const { value } = root;
  if (!isFields(value)) return new Map();
  const kept = [...value].filter(([, it]) => hasFlag(it.flags, FLAG.state) && !isHelp(it));
  return output({ ...root, value: new Map(kept) });
}

const ESCAPED = /^\(\(!([^]*)\)\)$/;

const bareKey = (key: string): string => key.replace(/^(<<<?)!/, '$1');

/** Keys are escaped everywhere except at the top level. */
function unescaped(root: Node, nameOf = bareKey): Node {
  const { value } = root;
  if (typeof value === 'string') return { ...root, value: value.replace(ESCAPED, '(($1))') };
  if (isList(value)) return { ...root, value: value.map((it) => unescaped(it)) };
  if (!isFields(value)) return root;
  const entries = [...value].map(([key, it]) => [nameOf(key), unescaped(it)] as const);
  return { ...root, value: new Map(entries) };
}
