/** All landscapes, with search and filters. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { About, LandscapeRow } from '../../src/cli/console/wire.ts';
import { focusable, isFocusFree } from './focus.ts';
import { conditions, counted, jobDuration, numberText, phaseText, sinceText, symbols } from './format.ts';
import { useNow } from './now.ts';
import { filterList, namespacesIn, type FilteredList, type ListFilter } from './list-filter.ts';
import type { Live } from './live.ts';
import { indexAfter } from './keys.ts';
import { Link, Note, Symbol } from './parts.tsx';
import { landscapeUrl, withQuery } from './addresses.ts';
import { useNarrow } from './narrow.ts';
import { navigate, useSaved } from './route.ts';
import { ROW_HEIGHT, Virtual } from './virtual.tsx';

const filterIn = (query: URLSearchParams): ListFilter => ({
  search: query.get('q') ?? '',
  condition: query.get('state') ?? '',
  namespace: query.get('namespace') ?? '',
});

const setFilter = ({ search, condition, namespace }: ListFilter): void =>
  navigate(withQuery('/', { q: search, state: condition, namespace }), { replace: true });

interface ListProps {
  readonly live: Live<LandscapeRow>;
  readonly query: URLSearchParams;
  readonly about: About | undefined;
}

export function List({ live, query, about }: ListProps) {
  const filter = filterIn(query);
  const { items } = live;
  const list = useMemo(
    () => filterList(items?.values() ?? [], filter),
    [items, filter.search, filter.condition, filter.namespace],
  );
  const namespaces = useMemo(() => namespacesIn(items?.values() ?? []), [items]);
  return (
    <main class="page">
      <h1 class="hidden" {...focusable}>
        Landscapes
      </h1>
      <Toolbar filter={filter} list={list} namespaces={namespaces} />
      {items === undefined ? (
        <Note>Loading …</Note>
      ) : items.size === 0 && about?.namespaces.length === 0 ? (
        <Note>
          You may not list installations in any namespace with installations. Ask an administrator for the
          verbs get, list and watch of installations, executions and deployitems.
        </Note>
      ) : items.size === 0 ? (
        <Note>
          There are no installations. Create one with <code>espalier new landscape shop</code> and{' '}
          <code>espalier apply shop</code>.
        </Note>
      ) : list.rows.length === 0 ? (
        <Note>No landscape matches the search and the filters.</Note>
      ) : (
        <Rows rows={list.rows} />
      )}
    </main>
  );
}

interface ToolbarProps {
  readonly filter: ListFilter;
  readonly list: FilteredList;
  readonly namespaces: readonly string[];
}

function Toolbar({ filter, list, namespaces }: ToolbarProps) {
  const search = useRef<HTMLInputElement>(null);
  useSearchKey(search);
  const chip = (condition: string, symbol: string, text: string, count: number) => (
    <button
      key={condition}
      type="button"
      class={`chip ${condition}`}
      aria-pressed={filter.condition === condition}
      onClick={() => setFilter({ ...filter, condition })}
    >
      {symbol && <span aria-hidden="true">{symbol} </span>}
      {text} <span class="count">{numberText(count)}</span>
    </button>
  );
  return (
    <div class="toolbar" role="search">
      <input
        ref={search}
        type="search"
        aria-label="Search landscapes"
        aria-keyshortcuts="/"
        placeholder="Search by name, namespace, phase or message ( / )"
        value={filter.search}
        onInput={({ currentTarget }) => setFilter({ ...filter, search: currentTarget.value })}
      />
      {namespaces.length > 1 || filter.namespace !== '' ? (
        <select
          aria-label="Namespace"
          value={filter.namespace}
          onChange={({ currentTarget }) => setFilter({ ...filter, namespace: currentTarget.value })}
        >
          <option value="">All namespaces</option>
          {namespaces.map((namespace) => (
            <option key={namespace} value={namespace}>
              {namespace}
            </option>
          ))}
        </select>
      ) : null}
      <div class="chips" role="group" aria-label="State">
        {chip('', '', 'All', list.total)}
        {conditions.map((condition) =>
          chip(condition, symbols[condition], condition, list.counts[condition]),
        )}
      </div>
    </div>
  );
}

/** `/` moves the focus to the search, unless the user is typing. */
function useSearchKey(search: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** With a second line for the message. */
const NARROW_ROW_HEIGHT = 50;

interface Place {
  readonly row: string;
  readonly top: number;
}

function Rows({ rows }: { readonly rows: readonly LandscapeRow[] }) {
  const now = useNow();
  const top = useRef(0);
  const grid = useRef<HTMLDivElement>(null);
  const saved = useSaved((): Place => ({ row: activeId, top: top.current }));
  const [activeId, setActiveId] = useState<string>(saved?.row ?? '');
  const active = rows.findIndex(({ id }) => id === activeId);
  const isNarrow = useNarrow();
  useEffect(() => {
    if (saved?.row && isFocusFree()) grid.current?.focus();
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = indexAfter(event.key, active, rows.length);
    const row = rows[next ?? active];
    if (next !== undefined) setActiveId(row?.id ?? '');
    else if (event.key === 'Enter' && row) navigate(landscapeUrl(row.id));
    else return;
    event.preventDefault();
  };
  return (
    <>
      <p class="hidden" id="list-keys">
        Choose with the arrow keys, open with Enter
      </p>
      <div
        ref={grid}
        class="grid"
        role="grid"
        aria-label="Landscapes"
        aria-describedby="list-keys"
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        {...(active >= 0 && { 'aria-activedescendant': rowId(activeId) })}
        onKeyDown={onKeyDown}
      >
        <Head />
        <Virtual
          count={rows.length}
          rowHeight={isNarrow ? NARROW_ROW_HEIGHT : ROW_HEIGHT}
          active={{ index: active, id: activeId }}
          startTop={saved?.top}
          onScroll={(next) => {
            top.current = next;
          }}
          attributes={{ role: 'rowgroup', tabIndex: -1 }}
          row={(index, style) => {
            const row = rows[index];
            const isActive = index === active;
            return (
              row && <Row key={row.id} row={row} index={index} isActive={isActive} now={now} style={style} />
            );
          }}
        />
      </div>
      <p class="foot" aria-live="polite">
        {counted(rows.length, 'landscape')}
      </p>
    </>
  );
}

const rowId = (landscape: string): string => `row-${landscape}`;

const Head = () => (
  <div class="row head" role="row" aria-rowindex={1}>
    {['', 'Name', 'Namespace', 'Phase', 'Objects', 'Job', 'Age', 'Message'].map((title) => (
      <span key={title} role="columnheader">
        {title || <span class="hidden">State</span>}
      </span>
    ))}
  </div>
);

interface RowProps {
  readonly row: LandscapeRow;
  readonly index: number;
  readonly isActive: boolean;
  readonly now: number;
  readonly style: Readonly<Record<string, string>>;
}

function Row({ row, index, isActive, now, style }: RowProps) {
  const problems =
    row.failed > 0 ? `, ${row.failed} failed` : row.running > 0 ? `, ${row.running} running` : '';
  return (
    <div
      id={rowId(row.id)}
      class={isActive ? 'row active' : 'row'}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isActive}
      style={style}
      onClick={({ target }) => {
        if (!(target as Element).closest('a') && !hasSelection()) navigate(landscapeUrl(row.id));
      }}
    >
      <span role="gridcell">
        <Symbol condition={row.condition} />
        <span class="hidden">{row.condition}</span>
      </span>
      <span role="gridcell" class="name">
        <Link href={landscapeUrl(row.id)} tabIndex={-1}>
          {row.name}
        </Link>
      </span>
      <span role="gridcell" class="dim">
        {row.namespace}
      </span>
      <span role="gridcell" class={row.condition}>
        {phaseText(row)}
      </span>
      <span role="gridcell" class="dim">
        {row.parts}
        {problems}
      </span>
      <span role="gridcell" class="dim number">
        {jobDuration(row, now)}
      </span>
      <span role="gridcell" class="dim number">
        {sinceText(row.createdAt, now)}
      </span>
      <span role="gridcell" class="note" title={row.note}>
        <span class="place">{row.namespace} </span>
        {row.note}
      </span>
    </div>
  );
}

/** The user has marked text, to copy it. */
const hasSelection = (): boolean => getSelection()?.isCollapsed === false;
