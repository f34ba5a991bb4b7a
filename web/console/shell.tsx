/** The frame of all views: navigation, the state of the connection, and the view of the address. */
import { useEffect, useState } from 'preact/hooks';
import type { About, LandscapeRow, Login, LoginInfo, Part } from '../../src/cli/console/wire.ts';
import { receivedRow, type SentRow } from '../../src/cli/console/sent-row.ts';
import { get, remove } from './api.ts';
import { focusable, useFocusOnView } from './focus.ts';
import { FlowPage } from './flow.tsx';
import { Landscape } from './landscape.tsx';
import { List } from './list.tsx';
import { useLive, type Connection, type Live } from './live.ts';
import { LoginPage } from './login.tsx';
import { scopeWords } from './format.ts';
import { Link, Note } from './parts.tsx';
import { withQuery, type View } from './addresses.ts';
import { useRoute, type Route } from './route.ts';

type Item = LandscapeRow & Part;

/** Parts are sent completely. */
const asSent = (item: Item): Item => item;
const fromRow = (row: SentRow): Item => receivedRow(row) as Item;

const feedOf = (view: View): string => {
  if (view.name !== 'landscape') return '/api/events';
  const [namespace = '', name = ''] = view.id.split('/');
  return withQuery('/api/events', { namespace, name });
};

export function Shell() {
  const route = useRoute();
  const [attempt, setAttempt] = useState(0);
  const live = useLive<Item>(feedOf(route.view), route.view.name === 'landscape' ? asSent : fromRow, attempt);
  const login = useLogin(live.connection);
  const about = useAbout(live.connection);
  const retry = (): void => setAttempt((before) => before + 1);
  const needsLogin = live.connection === 'refused' && login === 'token';
  const title = needsLogin ? 'Log in' : titles[route.view.name];
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · Espalier`;
  }, [title]);
  useFocusOnView(needsLogin ? 'input[name=token]' : 'h1', needsLogin ? 'login' : viewKey(route.view));
  return (
    <>
      <header class="bar">
        <Link href="/" class="brand">
          Espalier
        </Link>
        {!needsLogin && (
          <nav aria-label="Views">
            <Link href="/" current={route.view.name === 'list'}>
              Landscapes
            </Link>
            <Link href="/flow" current={route.view.name === 'flow'}>
              Data flow
            </Link>
          </nav>
        )}
        <span class="cluster" title={about && `Espalier ${about.version}`}>
          {!needsLogin && about && `${about.server} · ${scopeWords(about)}`}
        </span>
        <span class={`connection ${live.connection}`} role="status">
          <span class="hidden">Connection: </span>
          {words[live.connection]}
        </span>
        {!needsLogin && login === 'token' && <Logout user={about?.user ?? ''} onDone={retry} />}
      </header>
      {needsLogin ? (
        <LoginPage onDone={retry} />
      ) : (
        <>
          <Banner connection={live.connection} problem={live.problem} />
          {live.connection === 'refused' && live.items === undefined ? null : (
            <Current route={route} live={live} about={about} />
          )}
        </>
      )}
    </>
  );
}

/** Landscapes set their own title. */
const titles: Readonly<Partial<Record<View['name'], string>>> = {
  list: 'Landscapes',
  flow: 'Data flow',
  unknown: 'Not found',
};

/** The tabs of a landscape are one view. */
const viewKey = (view: View): string => (view.name === 'landscape' ? view.id : `/${view.name}`);

function Logout({ user, onDone }: { readonly user: string; readonly onDone: () => void }) {
  return (
    <button
      type="button"
      class="link user"
      title={user}
      onClick={() => {
        remove('/api/session').then(onDone, onDone);
      }}
    >
      Log out
      <span class="hidden"> {user}</span>
    </button>
  );
}

/** How a session starts; undefined until the console has said it. */
function useLogin(connection: Connection): Login | undefined {
  const [login, setLogin] = useState<Login>();
  useEffect(() => {
    if (login !== undefined || connection === 'connecting') return;
    get<LoginInfo>('/api/session').then(
      (info) => setLogin(info.login),
      () => undefined,
    );
  }, [connection, login]);
  return login;
}

const words: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'reconnecting',
  refused: 'no session',
};

function useAbout(connection: Connection): About | undefined {
  const [about, setAbout] = useState<About>();
  useEffect(() => {
    if (connection !== 'live') return;
    get<About>('/api/about').then(setAbout, () => undefined);
  }, [connection]);
  return about;
}

function Banner({ connection, problem }: { readonly connection: Connection; readonly problem: string }) {
  const text =
    connection === 'refused'
      ? 'There is no session. Open the latest link that espalier console printed; then this page reconnects.'
      : connection === 'lost'
        ? 'The console does not respond. This page shows the last known state and keeps trying to reconnect.'
        : problem !== ''
          ? `The API server is unreachable; this page shows the last known state: ${problem}`
          : '';
  return (
    <div role="alert" class={text === '' ? 'banner hidden' : 'banner'}>
      {text}
    </div>
  );
}

interface CurrentProps {
  readonly route: Route;
  readonly live: Live<Item>;
  readonly about: About | undefined;
}

function Current({ route: { view, query }, live, about }: CurrentProps) {
  switch (view.name) {
    case 'list':
      return <List live={live} query={query} about={about} />;
    case 'flow':
      return <FlowPage version={live.items} />;
    case 'landscape':
      return <Landscape key={view.id} id={view.id} tab={view.tab} query={query} live={live} about={about} />;
    case 'unknown':
      return (
        <main class="page">
          <h1 class="hidden" {...focusable}>
            Not found
          </h1>
          <Note>
            There is no such page. <Link href="/">All landscapes</Link>
          </Note>
        </main>
      );
  }
}
