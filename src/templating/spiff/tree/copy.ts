/** Copies a template without information from its evaluation. */
import { isFields, isList, node, type Node } from './node.ts';

export function copyOf({ value, source }: Node): Node {
  if (isList(value)) return node(value.map(copyOf), source);
  if (isFields(value)) return node(new Map([...value].map(([key, it]) => [key, copyOf(it)])), source);
  return node(value, source);
}
