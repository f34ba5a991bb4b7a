/**
 * Sets of fields of an object, in the format of `managedFields` (FieldsV1), so that they do not have to be encoded or
 * decoded.
 *
 * A set is a tree. Its keys are path elements: `f:name` a member, `k:{"name":"c"}` an item of a list map, `v:"x"` an
 * item of a list set. A node itself belongs to the set if it has the key `.` or no keys at all:
 * `{"f:data":{"f:a":{}}}` contains `.data.a` but not `.data`. The root is not a field; an empty root is the empty
 * set. Sets are immutable, and share subtrees.
 */
import { isObject } from '../types.ts';

export interface FieldNode {
  readonly [element: string]: FieldNode;
}

export type FieldSet = FieldNode;

export const EMPTY: FieldSet = {};

const SELF = '.';

/** A field without fields below it. */
export const LEAF: FieldNode = {};

/** Whether a node (not the root) belongs to the set itself. */
export function isMember(node: FieldNode): boolean {
  if (SELF in node) return true;
  for (const _ in node) return false;
  return true;
}

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

const children = (node: FieldNode): string[] => Object.keys(node).filter((key) => key !== SELF);

/** A node with these children that does or does not belong to the set; undefined if it would be empty. */
export function nodeOf(below: Record<string, FieldNode>, isSelf: boolean): FieldNode | undefined {
  for (const _ in below) return isSelf ? { [SELF]: LEAF, ...below } : below;
  return isSelf ? LEAF : undefined;
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => {
  if (isEmptySet(a)) return b;
  if (isEmptySet(b) || a === b) return a;
  return unionBelow(a, b);
};

function unionBelow(a: FieldNode, b: FieldNode): Record<string, FieldNode> {
  const result: Record<string, FieldNode> = {};
  for (const key of children(a)) {
    const other = b[key];
    const own = a[key] ?? LEAF;
    result[key] = other === undefined ? own : unionNode(own, other);
  }
  for (const key of children(b)) if (!(key in result)) result[key] = b[key] ?? LEAF;
  return result;
}

const unionNode = (a: FieldNode, b: FieldNode): FieldNode =>
  a === b ? a : (nodeOf(unionBelow(a, b), isMember(a) || isMember(b)) ?? LEAF);

/** Fields of `a` that are in `b`. */
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => intersectBelow(a, b);

function intersectBelow(a: FieldNode, b: FieldNode): Record<string, FieldNode> {
  const result: Record<string, FieldNode> = {};
  for (const key of children(a)) {
    const other = b[key];
    const own = a[key];
    if (other === undefined || own === undefined) continue;
    const both = nodeOf(intersectBelow(own, other), isMember(own) && isMember(other));
    if (both) result[key] = both;
  }
  return result;
}

/** Fields of `a` that are not in `b`; fields below a field of `b` stay. */
export const difference = (a: FieldSet, b: FieldSet): FieldSet => (isEmptySet(b) ? a : differBelow(a, b));

function differBelow(a: FieldNode, b: FieldNode): Record<string, FieldNode> {
  const result: Record<string, FieldNode> = {};
  for (const key of children(a)) {
    const own = a[key] ?? LEAF;
    const other = b[key];
    const left =
      other === undefined ? own : nodeOf(differBelow(own, other), isMember(own) && !isMember(other));
    if (left) result[key] = left;
  }
  return result;
}

/** Whether both contain the same fields. */
export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  const keys = children(a);
  if (keys.length !== children(b).length) return false;
  return keys.every((key) => {
    const [own, other] = [a[key], b[key]];
    if (own === undefined || other === undefined) return false;
    return isMember(own) === isMember(other) && equalSets(own, other);
  });
}

/** The set without the given top-level members and everything below them. */
export function keepTopLevel(set: FieldSet, isKept: (member: string) => boolean): FieldSet {
  if (children(set).every((key) => isKept(key.slice(2)))) return set;
  return Object.fromEntries(Object.entries(set).filter(([key]) => isKept(key.slice(2))));
}

/** All fields as strings such as `.spec.containers[name="c"].image`, in the order of the tree. */
export function pathsOf(set: FieldSet): string[] {
  const paths: string[] = [];
  const visit = (node: FieldNode, prefix: string): void => {
    for (const key of children(node)) {
      const below = node[key] ?? LEAF;
      const path = prefix + elementText(key);
      if (isMember(below)) paths.push(path);
      visit(below, path);
    }
  };
  visit(set, '');
  return paths;
}

/** A path element in the format of messages. */
export function elementText(element: string): string {
  const rest = element.slice(2);
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`;
    case 'k': {
      const keys = JSON.parse(rest) as Record<string, unknown>;
      const parts = Object.entries(keys).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
      return `[${parts.join(',')}]`;
    }
    case 'v':
      return `[=${rest}]`;
    default:
      return `[${rest}]`;
  }
}

/** The set with the keys of every node in order: `.` first, then members, items by key, items by value. */
export function sortedSet(set: FieldSet): FieldSet {
  const keys = Object.keys(set);
  const result: Record<string, FieldNode> = {};
  for (const key of keys.length > 1 ? keys.sort() : keys) result[key] = sortedSet(set[key] ?? LEAF);
  return result;
}

/** Whether a value from outside is a valid set: only objects, with known kinds of keys. */
export const isFieldSet = (value: unknown): value is FieldSet =>
  isObject(value) &&
  Object.entries(value).every(([key, below]) => (key === SELF || /^[fkvi]:/.test(key)) && isFieldSet(below));
