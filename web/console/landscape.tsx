/** One landscape: its tree with details, its data flow, and its jobs. */
import { useEffect, useMemo } from 'preact/hooks';
import type { About, Part } from '../../src/cli/console/wire.ts';
import { Actions } from './actions.tsx';
import { ChangesView } from './changes-view.tsx';
import { Details } from './details.tsx';
import { Events } from './events.tsx';
import { FlowView } from './flow.tsx';
import { focusTree, focusable, useFocusAfterLoss } from './focus.ts';
import { counted, phaseText } from './format.ts';
import { Jobs } from './jobs.tsx';
import type { Live } from './live.ts';
import { Link, Note, Symbol } from './parts.tsx';
import { Pods } from './pods.tsx';
import { landscapeUrl, type Tab } from './addresses.ts';
import { navigate } from './route.ts';
import { Tree } from './tree.tsx';

interface LandscapeProps {
  readonly id: string;
  readonly tab: Tab;
  readonly query: URLSearchParams;
  readonly live: Live<Part>;
  readonly about: About | undefined;
}

const titles: Readonly<Record<Tab, string>> = {
  tree: 'Tree',
  pods: 'Pods',
  changes: 'Changes',
  flow: 'Data flow',
  jobs: 'Jobs',
  events: 'Events',
};

export function Landscape({ id, tab, query, live, about }: LandscapeProps) {
  const { items } = live;
  const root = useMemo(() => rootIn(items), [items]);
  useEffect(() => {
    document.title = `${tab === 'tree' ? '' : `${titles[tab]} · `}${id} · Espalier`;
  }, [id, tab]);
  const isGone = items !== undefined && root === undefined;
  useFocusAfterLoss('h1', isGone);
  return (
    <main class="page">
      <div class="heading">
        <h1 {...focusable}>
          {root && <Symbol condition={root.condition} />} {id}
        </h1>
        {root && items && (
          <span class={root.condition}>
            {phaseText(root)} · {counted(items.size - 1, 'object')}
          </span>
        )}
        <nav class="tabs" aria-label="Views of the landscape">
          {(Object.keys(titles) as Tab[]).map((each) => (
            <Link key={each} href={landscapeUrl(id, each)} current={each === tab}>
              {titles[each]}
            </Link>
          ))}
        </nav>
        {root && <Actions id={id} root={root} />}
      </div>
      {items === undefined ? (
        <Note>Loading {id} …</Note>
      ) : isGone && tab !== 'jobs' ? (
        <Note>
          There is no root installation {id}.{' '}
          {isListed(id, about)
            ? 'It may have been deleted.'
            : 'It may have been deleted, or you may not list installations in its namespace.'}{' '}
          <Link href="/">All landscapes</Link>
        </Note>
      ) : tab === 'tree' ? (
        <TreeTab id={id} query={query} parts={items} />
      ) : tab === 'pods' ? (
        <Pods key={id} id={id} query={query} parts={items} />
      ) : tab === 'changes' ? (
        <ChangesView key={id} id={id} query={query} version={items} />
      ) : tab === 'flow' ? (
        <FlowView key={id} id={id} version={items} />
      ) : tab === 'events' ? (
        <Events key={id} id={id} version={items} />
      ) : (
        <Jobs key={id} id={id} job={query.get('job') ?? ''} version={root} />
      )}
    </main>
  );
}

/** Whether the viewer would see the landscape if it existed. */
const isListed = (id: string, about: About | undefined): boolean =>
  !about || about.namespaces === 'all' || about.namespaces.includes(id.split('/')[0] ?? '');

function rootIn(items: ReadonlyMap<string, Part> | undefined): Part | undefined {
  for (const part of items?.values() ?? []) if (part.parent === '') return part;
  return undefined;
}

interface TreeTabProps {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly parts: ReadonlyMap<string, Part>;
}

function TreeTab({ id, query, parts }: TreeTabProps) {
  const selected = query.get('part') ?? '';
  const only = query.get('only') ?? '';
  const go = (part: string, show = only): void =>
    navigate(landscapeUrl(id, 'tree', { part, only: show }), { replace: true });
  const part = parts.get(selected);
  return (
    <div class={part ? 'split with-details' : 'split'}>
      <div class="column">
        <label class="check">
          <input
            type="checkbox"
            checked={only === 'unready'}
            onChange={({ currentTarget }) => go(selected, currentTarget.checked ? 'unready' : '')}
          />{' '}
          Only objects that are not ready
        </label>
        <Tree parts={parts} selected={selected} onSelect={(next) => go(next)} onlyOpen={only === 'unready'} />
      </div>
      {part && (
        <Details
          id={id}
          part={part}
          parts={parts}
          onSelect={(next) => go(next)}
          onClose={() => {
            go('');
            focusTree();
          }}
        />
      )}
    </div>
  );
}
