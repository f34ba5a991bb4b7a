/** A pass over a map: its merges, its markers, and its entries in the order of their keys. */
import { byCodePoint } from '../../../lib/gojson.ts';
import { isExpr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { mergeKeyOf } from '../tree/find.ts';
import { FLAG, hasFlag, isFields, node, Template, withFlags, type Fields, type Node } from '../tree/node.ts';
import { typeName } from '../value.ts';
import { embedded } from '../tree/resolved.ts';
import { flagsOf, tagOf, TEMPLATE } from '../eval/documents.ts';
import type { Pass } from './pass.ts';
import { inheritedFlags, isOptionalMerge, templateBody } from './merging.ts';

/** How the entry `<<<` changes its map. */
interface Merging {
  readonly fields: Map<string, Node>;
  /** The remaining value of `<<<`; undefined if it is done. */
  readonly rest: Node | undefined;
  readonly flags: number;
  readonly tag: string | undefined;
  readonly isTemplate: boolean;
  /** The entries are unresolved. */
  readonly isWaiting: boolean;
  readonly isMerged: boolean;
  readonly isReplacing: boolean;
  readonly redirect: Node['redirect'];
  readonly problem: string | undefined;
}

export function flowMap(pass: Pass, root: Node, given: Fields, here: Binding): Node {
  const stub = inheritedFlags(here);
  const scoped = here.withScope(given);
  const key = mergeKeyOf(given);
  const inner = key === undefined ? undefined : given.get(key);
  if (given.has('<<') && given.has('<<<')) {
    return { ...root, hasError: true, hasFailed: true, issue: { text: 'multiple merge keys not allowed' } };
  }
  const unmerged: Merging = {
    fields: new Map(),
    rest: undefined,
    flags: stub.flags,
    tag: root.tag,
    isTemplate: false,
    isWaiting: false,
    isMerged: false,
    isReplacing: root.isReplacing === true,
    redirect: root.redirect,
    problem: undefined,
  };
  const merging = inner ? mergeInto(pass, root, inner, scoped, unmerged) : unmerged;
  if (merging === 'undefined') return { ...root, isUndefined: true };
  const binding =
    merging.redirect && merging.redirect !== root.redirect ? scoped.redirected(merging.redirect) : scoped;
  const fields = entries(pass, given, key, merging, binding);
  let flags = merging.flags;
  if (merging.isMerged) flags |= FLAG.injected;
  else inject(fields, stub.node, flags);
  return finished(root, given, fields, { ...merging, flags }, here);
}

function mergeInto(
  pass: Pass,
  root: Node,
  inner: Node,
  binding: Binding,
  before: Merging,
): Merging | 'undefined' {
  const isInitial = typeof inner.value === 'string';
  const base = pass.untagged(inner, binding, false);
  if (base.isUndefined === true) return 'undefined';
  const { value } = base;
  if (isExpr(value)) {
    const marker = value.kind === 'marker' ? value : undefined;
    const marked = marker
      ? { ...before, tag: tagOf(marker) || before.tag, flags: before.flags | flagsOf(marker) }
      : before;
    if (marker?.markers.includes(TEMPLATE)) {
      const rest = templateBody(marker, root);
      return { ...marked, rest, isTemplate: true, isWaiting: true };
    }
    return isOptionalMerge(isInitial, value) ? marked : { ...marked, rest: base, isWaiting: true };
  }
  const isUnparsed = typeof value === 'string' && embedded(value) !== undefined;
  const isUsable = isFields(value) || value === null;
  return {
    ...before,
    flags: before.flags,
    fields: isFields(value) ? new Map(value) : new Map<string, Node>(),
    rest: isUnparsed ? base : undefined,
    isMerged: base.isMerged === true,
    isReplacing: base.isReplacing === true,
    redirect: base.redirect ?? before.redirect,
    problem:
      isUsable || isUnparsed ? undefined : `require map value for '<<' insert, found '${typeName(value)}'`,
  };
}

/** The entries of the map, merged over the inherited ones; undefined ones are omitted. */
function entries(
  pass: Pass,
  given: Fields,
  mergeKey: string | undefined,
  merging: Merging,
  binding: Binding,
): Map<string, Node> {
  const { fields, rest, isWaiting, flags } = merging;
  if (merging.isReplacing && mergeKey !== undefined && !rest) return fields;
  for (const key of [...given.keys()].sort(byCodePoint)) {
    const entry = given.get(key);
    let result: Node | undefined;
    if (key === mergeKey) result = rest;
    else if (entry) {
      const isLeft = isWaiting || pass.isSettled(entry, binding);
      result = isLeft ? entry : pass.node(entry, binding.withStep(key), true);
    }
    if (!result || result.isUndefined === true) continue;
    const isImplied = hasFlag(flags, FLAG.implied | FLAG.default);
    fields.set(key, isImplied ? withFlags(result, FLAG.implied) : result);
  }
  return fields;
}

/** Entries of the stub marked `&inject` or `&default` that the document does not have. */
function inject(fields: Map<string, Node>, stub: Node | undefined, flags: number): void {
  if (!stub || !isFields(stub.value) || hasFlag(flags, FLAG.injected)) return;
  for (const [key, entry] of stub.value) {
    if (!hasFlag(entry.flags, FLAG.inject | FLAG.default) || fields.has(key)) continue;
    fields.set(key, withFlags(entry, FLAG.inject | FLAG.injected));
  }
}

function finished(
  root: Node,
  given: Fields,
  fields: Map<string, Node>,
  merging: Merging,
  here: Binding,
): Node {
  const { isTemplate, problem } = merging;
  const value = isTemplate
    ? new Template(here.path, node(fields, root.source), root, here)
    : isUnchanged(given, fields)
      ? given
      : fields;
  const flags = (root.flags ?? 0) | merging.flags;
  const isSame =
    value === root.value &&
    problem === undefined &&
    flags === (root.flags ?? 0) &&
    merging.isReplacing === (root.isReplacing === true) &&
    merging.redirect === root.redirect &&
    (merging.tag ?? '') === (root.tag ?? '');
  if (isSame) return root;
  return {
    ...root,
    value,
    flags,
    redirect: merging.redirect,
    ...(merging.isReplacing && { isReplacing: true }),
    ...(merging.tag && { tag: merging.tag }),
    ...(problem !== undefined && { hasError: true, hasFailed: true, issue: { text: problem } }),
  };
}

const isUnchanged = (before: Fields, after: Fields): boolean =>
  before.size === after.size && [...before].every(([key, entry]) => after.get(key) === entry);
