/** The address of the console's page: entries of the history, and replacements that browsers limit. */
import { expect } from 'chai';
import { withGlobals } from '../../support/browser.ts';
import { hookHost } from './hook-host.ts';

type Write = readonly ['push' | 'replace', url: string];

describe('the address of the page', () => {
  let page: ReturnType<typeof withGlobals>;
  let writes: Write[] = [];
  let navigate: (next: string, options?: { readonly replace?: boolean }) => void;
  /** Of the entries of the history: the present one, and the one that was left last. */
  const states: { current: object | null; left: unknown } = { current: null, left: undefined };
  const listeners = new Map<string, () => void>();
  const location = { pathname: '/', search: '', origin: 'http://localhost' };
  const show = (url: string): void => {
    const [pathname = '', search] = url.split('?');
    location.pathname = pathname;
    location.search = search === undefined ? '' : `?${search}`;
  };
  const write =
    (kind: Write[0]) =>
    (state: unknown, _title: string, url?: string): void => {
      if (url === undefined) {
        states.left = state;
        return;
      }
      writes.push([kind, url]);
      show(url);
    };
  const now = Object.getOwnPropertyDescriptor(Date, 'now') ?? {};

  before(async () => {
    page = withGlobals({
      location,
      history: {
        pushState: write('push'),
        replaceState: write('replace'),
        get state() {
          return states.current;
        },
      },
      addEventListener: (event: string, run: () => void) => void listeners.set(event, run),
    });
    Object.defineProperty(Date, 'now', { ...now, value: () => page.clock.wall() });
    ({ navigate } = await import('../../../web/console/route.ts'));
  });
  after(() => {
    Object.defineProperty(Date, 'now', now);
    page.restore();
  });
  beforeEach(async () => {
    await page.clock.advance(60_000);
    navigate('/start');
    writes = [];
  });
  const replace = (from: number, to: number): void => {
    for (let i = from; i <= to; i++) navigate(`/?q=${String(i)}`, { replace: true });
  };

  it('gets an entry for each view, but not for the present one', () => {
    navigate('/flow');
    navigate('/flow');
    expect(writes).to.deep.equal([['push', '/flow']]);
  });

  it('is replaced for what the back button should not visit', () => {
    navigate('/?q=1', { replace: true });
    navigate('/?q=1', { replace: true });
    expect(writes).to.deep.equal([['replace', '/?q=1']]);
  });

  it('is replaced 40 times in 30 s, then once a second with the latest', async () => {
    replace(1, 45);
    expect(writes).to.have.length(40);
    await page.clock.advance(999);
    expect(writes).to.have.length(40);
    await page.clock.advance(1);
    expect(writes.slice(40)).to.deep.equal([['replace', '/?q=45']]);
    await page.clock.advance(30_000);
    replace(46, 46);
    expect(writes.at(-1)).to.deep.equal(['replace', '/?q=46']);
  });

  it('is written before the next view, so that the back button leads there', async () => {
    replace(1, 41);
    navigate('/flow');
    expect(writes.slice(40)).to.deep.equal([
      ['replace', '/?q=41'],
      ['push', '/flow'],
    ]);
    await page.clock.advance(5_000);
    expect(writes).to.have.length(42);
  });

  it('is written when the user leaves the page', () => {
    replace(1, 41);
    listeners.get('pagehide')?.();
    expect(writes.at(-1)).to.deep.equal(['replace', '/?q=41']);
  });

  it('is not written after the back button', async () => {
    replace(1, 41);
    show('/start');
    listeners.get('popstate')?.();
    await page.clock.advance(5_000);
    expect(writes).to.have.length(40);
    navigate('/start');
    expect(writes).to.have.length(40);
  });

  it('is followed by the hooks of the page, and keeps what they save when the user leaves it', async () => {
    const { useRoute, useSaved } = await import('../../../web/console/route.ts');
    states.current = { top: 7 };
    const view = hookHost(await import('preact'), page, ({ top }: { top: number }) => ({
      route: useRoute(),
      saved: useSaved(() => ({ top })),
    }));
    await view.show({ top: 1 });
    expect(view.latest().saved).to.deep.equal({ top: 7 });
    await view.show({ top: 2 });
    navigate('/?q=web');
    await view.pass();
    expect(states.left).to.deep.equal({ top: 2 });
    expect(view.latest().route.query.get('q')).to.equal('web');
    await view.end();
    states.left = undefined;
    navigate('/?q=api');
    expect(states.left).to.equal(undefined);
    expect(view.latest().route.query.get('q')).to.equal('web');
  });
});
