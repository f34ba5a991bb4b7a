/** The frame of all views: navigation, the state of the connection, and the view of the address. */
import { useEffect, useState } from 'preact/hooks';
import type { About, LandscapeRow, Login, LoginInfo, Part } from '../../src/cli/console/wire.ts';
import { get, remove } from './api.ts';
import { FlowPage } from './flow.tsx';
import { Landscape } from './landscape.tsx';
import { List } from './list.tsx';
import { useLive, type Connection } from './live.ts';
import { LoginPage } from './login.tsx';
import { scopeWords } from './format.ts';
import { Link, Note } from './parts.tsx';
import { withQuery, type View } from './addresses.ts';
import { useRoute, type Route } from './route.ts';

const feedOf = (view: View): string => {
  if (view.name !== 'landscape') return '/api/events';
  const [namespace = '', name = ''] = view.id.split('/');
  return withQuery('/api/events', { namespace, name });
};

export function Shell() {
  const route = useRoute();
  const [attempt, setAttempt] = useState(0);
  const live = useLive<LandscapeRow & Part>(feedOf(route.view), attempt);
  const login = useLogin(live.connection);
  const about = useAbout(live.connection);
  const retry = (): void => setAttempt((before) => before + 1);
  useEffect(() => {
    if (route.view.name !== 'landscape') document.title = 'Espalier';
  }, [route.view.name]);
  const needsLogin = live.connection === 'refused' && login === 'token';
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
      ? 'There is no session. Open the link that espalier console printed last; this page then continues by itself.'
      : connection === 'lost'
        ? 'The console does not answer. This page shows the last known state and reconnects by itself.'
        : problem !== ''
          ? `The API server is not reachable, so this is the last known state: ${problem}`
          : '';
  return (
    <div role="alert" class={text === '' ? 'banner hidden' : 'banner'}>
      {text}
    </div>
  );
}

interface CurrentProps {
  readonly route: Route;
  readonly live: ReturnType<typeof useLive<LandscapeRow & Part>>;
  readonly about: About | undefined;
}

function Current({ route: { view, query }, live, about }: CurrentProps) {
  switch (view.name) {
    case 'list':
      return <List live={live} query={query} about={about} />;
    case 'flow':
      return <FlowPage version={live.items} />;
    case 'landscape':
      return <Landscape key={view.id} id={view.id} tab={view.tab} query={query} live={live} />;
    case 'unknown':
      return (
        <Note>
          There is no such page. <Link href="/">All landscapes</Link>
        </Note>
      );
  }
}
