/** The address of each view. Pure. */

const tabs = ['tree', 'pods', 'changes', 'flow', 'jobs', 'events'] as const;
export type Tab = (typeof tabs)[number];

export type View =
  | { readonly name: 'list' }
  | { readonly name: 'flow' }
  | { readonly name: 'landscape'; readonly id: string; readonly tab: Tab }
  | { readonly name: 'unknown' };

export function viewOf(path: string): View {
  const [first = '', namespace, name, tab = 'tree', ...rest] = path
    .split('/')
    .slice(1)
    .map((segment) => decoded(segment));
  if (first === '') return { name: 'list' };
  if (first === 'flow' && namespace === undefined) return { name: 'flow' };
  const isTab = (text: string): text is Tab => (tabs as readonly string[]).includes(text);
  if (first === 'landscapes' && namespace && name && isTab(tab) && rest.length === 0)
    return { name: 'landscape', id: `${namespace}/${name}`, tab };
  return { name: 'unknown' };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

export function landscapeUrl(
  id: string,
  tab: Tab = 'tree',
  query: Readonly<Record<string, string>> = {},
): string {
  const path = `/landscapes/${id.split('/').map(encodeURIComponent).join('/')}`;
  return withQuery(tab === 'tree' ? path : `${path}/${tab}`, query);
}

/** The path, which may have a query, with further entries. Empty values are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== '');
  if (entries.length === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(entries).toString()}`;
}
