/** A pass over a list: splices lists into it, and evaluates its entries. */
import { append } from '../../../lib/lists.ts';
import { isExpr, type Expr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { find, splicedEntry } from '../tree/find.ts';
import { FLAG, hasFlag, isFields, isList, node, Template, type List, type Node } from '../tree/node.ts';
import { embedded } from '../tree/resolved.ts';
import { flagsOf, tagOf, TEMPLATE } from '../eval/documents.ts';
import type { Pass } from './pass.ts';
import { inheritedFlags, isOptionalMerge, templateBody } from './merging.ts';

/** Entries are identified by their index only. */
const NO_KEY = '<<<NO LIST KEY>>';

/** The result of splicing. */
interface Splicing {
  items: Node[];
  keyName: string;
  flags: number;
  tag: string;
  redirect: Node['redirect'];
  isReplacing: boolean;
  isMerged: boolean;
  isTemplate: boolean;
  /** The entries are unresolved. */
  isWaiting: boolean;
}

export function flowList(pass: Pass, root: Node, given: List, here: Binding): Node {
  const stub = inheritedFlags(here);
  const splicing = spliced(pass, root, given, here, stub.flags);
  let value: Node['value'] = splicing.items;
  if (splicing.isTemplate) {
    value = new Template(here.path, node(splicing.items, root.source), root, here);
  } else if (!splicing.isWaiting) {
    const binding = splicing.redirect ? here.redirected(splicing.redirect) : here;
    let items = entries(pass, splicing, given, binding);
    if (splicing.isMerged) splicing.flags |= FLAG.injected;
    else if (stub.node) {
      if (isList(stub.node.value) && !hasFlag(root.flags, FLAG.injected)) {
        const isInjected = ({ flags }: Node): boolean => hasFlag(flags, FLAG.inject | FLAG.default);
        items = [...stub.node.value.filter(isInjected), ...items];
      }
      splicing.flags |= FLAG.injected;
    }
    value = items;
  }
  return finished(root, given, value, splicing);
}

function finished(root: Node, given: List, value: Node['value'], splicing: Splicing): Node {
  const isUnchanged =
    isList(value) && value.length === given.length && value.every((item, i) => item === given[i]);
  const flags = (root.flags ?? 0) | splicing.flags;
  const keyName = splicing.keyName || root.keyName;
  const tag = splicing.tag || root.tag;
  const redirect = splicing.redirect ?? (splicing.isReplacing ? undefined : root.redirect);
  const isSame =
    isUnchanged &&
    flags === (root.flags ?? 0) &&
    keyName === root.keyName &&
    tag === root.tag &&
    redirect === root.redirect &&
    splicing.isReplacing === (root.isReplacing === true);
  if (isSame) return root;
  return {
    ...root,
    value: isUnchanged ? given : value,
    flags,
    redirect,
    ...(keyName && { keyName }),
    ...(tag && { tag }),
    ...(splicing.isReplacing && { isReplacing: true }),
  };
}

/** Replaces splice entries by the entries of their lists. */
function spliced(pass: Pass, root: Node, given: List, binding: Binding, flags: number): Splicing {
  const state: Splicing = {
    items: [],
    keyName: root.keyName ?? '',
    flags,
    tag: root.tag ?? '',
    redirect: root.redirect,
    isReplacing: root.isReplacing === true,
    isMerged: false,
    isTemplate: false,
    isWaiting: false,
  };
  for (const item of given) {
    const entry = splicedEntry(item);
    const next = entry ? splice(pass, state, { root, given, binding }, entry) : item;
    if (next === 'all') break;
    if (next === undefined) continue;
    const [kept, keyName] = withoutKeyTag(next);
    if (keyName !== '') state.keyName = keyName;
    state.items.push(kept);
  }
  return state;
}

/** @returns the entry that remains; undefined if it is done, `all` if it is the whole list */
function splice(
  pass: Pass,
  state: Splicing,
  { root, given, binding }: { readonly root: Node; readonly given: List; readonly binding: Binding },
  { key, inner }: { readonly key: string; readonly inner: Node },
): Node | 'all' | undefined {
  const isInitial = typeof inner.value === 'string';
  const result = pass.untagged(inner, binding, false);
  state.keyName = result.keyName || state.keyName;
  const { value } = result;
  if (isExpr(value)) {
    if (isExpr(inner.value) && isOptionalMerge(isInitial, inner.value)) return undefined;
    let kept: Node | undefined = result;
    if (value.kind === 'marker') {
      state.flags |= flagsOf(value);
      state.tag = tagOf(value) || state.tag;
      if (value.markers.includes(TEMPLATE)) {
        state.isTemplate = true;
        state.isWaiting = true;
        kept = templateBody(value, root);
        if (!kept) return undefined;
      }
    }
    state.isWaiting = true;
    return { ...node(new Map([[key, kept]]), root.source) };
  }
  if (isList(value)) {
    state.isMerged = true;
    state.isReplacing = result.isReplacing === true;
    const added = newEntries(value, given, state.keyName);
    if (state.isReplacing) {
      state.items = added;
      state.redirect = result.redirect;
      state.isWaiting = true;
      return 'all';
    }
    append(state.items, added);
  } else if (typeof value === 'string' && embedded(value) !== undefined) {
    return node(new Map([[key, inner]]), root.source);
  }
  state.redirect = result.redirect;
  state.isMerged ||= result.isMerged === true;
  return undefined;
}

/** Entries whose name is not in the list yet. */
function newEntries(added: List, list: List, keyName: string): Node[] {
  const field = keyName || 'name';
  const old: Node = { ...node(list, ''), keyName: field };
  return added
    .filter((entry) => {
      const name = find(entry, [field], true)?.value;
      return typeof name !== 'string' || find(old, [name], true) === undefined;
    })
    .map((entry) => ({ ...entry, isMerged: true }));
}

/** `key:name: x` means that `name` identifies the entries of this list; `key:!name` that no field does. */
function withoutKeyTag(entry: Node): readonly [Node, string] {
  const { value } = entry;
  if (!isFields(value)) return [entry, ''];
  const tagged = [...value.keys()].filter((key) => key.startsWith('key:') && key.length > 4);
  if (tagged.length === 0) return [entry, ''];
  const names = new Set(tagged.map((key) => key.slice(4)));
  const [only = ''] = names;
  const isOff = names.size > 1 || only.startsWith('!');
  const bare = (key: string): string => (key.startsWith('key:') ? key.slice(4).replace(/^!/, '') : key);
  const fields = new Map([...value].map(([key, it]) => [bare(key), it]));
  return [{ ...entry, value: fields }, isOff ? NO_KEY : only];
}

interface Step {
  readonly step: string;
  readonly hasKey: boolean;
  /** Otherwise its name is still unresolved. */
  readonly isReady: boolean;
}

function entries(pass: Pass, { items, keyName }: Splicing, given: List, binding: Binding): Node[] {
  const isMergeOff = given.some((item) => {
    const inner = splicedEntry(item)?.inner.value;
    return isExpr(inner) && takesFromStub(inner);
  });
  const isKeyed = keyName !== NO_KEY && haveNames(pass, items, keyName, binding);
  const results: Node[] = [];
  for (const [i, item] of items.entries()) {
    if (!isMergeOff && pass.isSettled(item, binding)) {
      if (item.isUndefined !== true) results.push(item);
      continue;
    }
    const { step, hasKey, isReady } = stepTo(pass, item, { i, keyName, binding, isKeyed });
    const entry = !hasKey && isMergeOff ? { ...item, isMerged: true } : item;
    const result = isReady ? pass.node(entry, binding.withStep(step), false) : entry;
    if (result.isUndefined !== true) results.push(result);
  }
  return results;
}

/** All entries have different names. */
function haveNames(pass: Pass, items: List, keyName: string, binding: Binding): boolean {
  const seen = new Set<string>();
  return items.every((item, i) => {
    const { step, hasKey } = stepTo(pass, item, { i, keyName, binding, isKeyed: true });
    if (!hasKey || seen.has(step)) return false;
    seen.add(step);
    return true;
  });
}

function stepTo(
  pass: Pass,
  item: Node,
  place: {
    readonly i: number;
    readonly keyName: string;
    readonly binding: Binding;
    readonly isKeyed: boolean;
  },
): Step {
  const { i, binding, isKeyed } = place;
  const field = place.keyName || 'name';
  const byIndex = { step: `[${i}]`, hasKey: false, isReady: true };
  const name = isFields(item.value) ? find(item, [field], true) : undefined;
  if (!name) return byIndex;
  const known = isExpr(name.value) ? pass.node(name, binding.withStep(byIndex.step), false) : name;
  if (isExpr(known.value)) return { ...byIndex, isReady: false };
  return isKeyed && typeof known.value === 'string'
    ? { step: `${field}:${known.value}`, hasKey: true, isReady: true }
    : byIndex;
}

/** Merging each entry with the stub would change the order, or duplicate entries. */
function takesFromStub(expr: Expr): boolean {
  switch (expr.kind) {
    case 'merge':
      return !expr.isRedirected;
    case 'or':
    case 'concatenation':
      return takesFromStub(expr.left) || takesFromStub(expr.right);
    case 'conditional':
      return takesFromStub(expr.then) || takesFromStub(expr.otherwise);
    case 'group':
      return takesFromStub(expr.inner);
    case 'marker':
      return expr.body !== undefined && takesFromStub(expr.body);
    case 'catch':
      return takesFromStub(expr.over);
    default:
      return false;
  }
}
