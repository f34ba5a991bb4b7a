/** The hooks of the console's page, in components without elements. */
import { expect } from 'chai';
import type * as Preact from 'preact';
import { withGlobals } from '../../support/browser.ts';
import { hookHost } from './hook-host.ts';

interface Element {
  readonly tagName: string;
  readonly focus: () => void;
}

/** A document of which only the focus is used. */
class FakeDocument {
  readonly body = this.element('BODY');
  activeElement: Element | null = this.body;
  readonly elements = new Map<string, Element>();

  element(tagName: string): Element {
    const made: Element = { tagName, focus: () => void (this.activeElement = made) };
    return made;
  }

  querySelector(selector: string): Element | null {
    return this.elements.get(selector) ?? null;
  }
}

describe('the hooks of the page', () => {
  let page: ReturnType<typeof withGlobals>;
  let dom: FakeDocument;
  let asked: { readonly path: string; readonly signal: AbortSignal }[];
  let answer: (path: string) => Promise<Response>;
  const json = (value: unknown): Promise<Response> => Promise.resolve(new Response(JSON.stringify(value)));
  const media = { matches: false, listeners: new Set<() => void>() };
  const intervals = new Set<() => void>();
  let preact: typeof Preact;
  before(async () => {
    preact = await import('preact');
  });

  beforeEach(() => {
    dom = new FakeDocument();
    asked = [];
    answer = (path) => json(path);
    media.matches = false;
    page = withGlobals({
      document: dom,
      setInterval: (run: () => void) => {
        intervals.add(run);
        return run;
      },
      clearInterval: (run: () => void) => void intervals.delete(run),
      matchMedia: () => ({
        get matches() {
          return media.matches;
        },
        addEventListener: (_: string, run: () => void) => void media.listeners.add(run),
        removeEventListener: (_: string, run: () => void) => void media.listeners.delete(run),
      }),
      fetch: (path: string, { signal }: { signal: AbortSignal }) => {
        asked.push({ path, signal });
        return answer(path);
      },
    });
  });
  afterEach(() => {
    page.restore();
  });

  const shown = <P extends object, R>(hook: (props: P) => R) => hookHost(preact, page, hook);

  describe('that load data', () => {
    const loaded = async () => {
      const { useLoaded } = await import('../../../web/console/load.ts');
      return shown(({ path, version }: { path: string; version?: number }) =>
        useLoaded<string>(path, version),
      );
    };

    it('read once, and again a second after a change', async () => {
      const view = await loaded();
      await view.show({ path: '/a', version: 1 });
      await view.show({ path: '/a', version: 1 });
      expect(view.latest()).to.deep.include({ data: '/a', error: '', isLoading: false });
      expect(asked).to.have.length(1);
      await view.show({ path: '/a', version: 2 });
      await view.pass(500);
      await view.show({ path: '/a', version: 3 });
      expect(asked).to.have.length(1);
      await view.pass(1_000);
      expect(asked).to.have.length(2);
      await view.end();
    });

    it('read another path at once, and do not show the data of the path before', async () => {
      const view = await loaded();
      await view.show({ path: '/a' });
      answer = () => new Promise(() => undefined);
      await view.show({ path: '/b' });
      expect(asked.map(({ path }) => path)).to.deep.equal(['/a', '/b']);
      expect(view.latest()).to.deep.equal({ data: undefined, error: '', isLoading: true });
      await view.end();
    });

    it('show why it failed, beside the data that they had', async () => {
      const view = await loaded();
      await view.show({ path: '/a', version: 1 });
      answer = () => Promise.reject(new TypeError('not reachable'));
      await view.show({ path: '/a', version: 2 });
      await view.pass(1_000);
      expect(view.latest()).to.deep.include({ data: '/a', error: 'not reachable', isLoading: false });
      await view.end();
    });

    it('try again at once after a failure without data', async () => {
      const view = await loaded();
      answer = () => Promise.reject(new TypeError('not reachable'));
      await view.show({ path: '/a', version: 1 });
      await view.show({ path: '/a', version: 2 });
      expect(asked).to.have.length(2);
      await view.end();
    });

    it('give up a request when the path changes or the component ends, and show no error for it', async () => {
      const view = await loaded();
      answer = () =>
        new Promise((_, reject) => {
          asked.at(-1)?.signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
        });
      await view.show({ path: '/a' });
      await view.show({ path: '/b' });
      expect(asked[0]?.signal.aborted).to.equal(true);
      expect(view.latest()).to.deep.include({ error: '', isLoading: true });
      await view.end();
      expect(asked[1]?.signal.aborted).to.equal(true);
    });
  });

  it('follow the width of the window, and stop with the component', async () => {
    const { useNarrow } = await import('../../../web/console/narrow.ts');
    const view = shown(useNarrow);
    await view.show({});
    expect(view.latest()).to.equal(false);
    media.matches = true;
    for (const listener of media.listeners) listener();
    await view.pass();
    expect(view.latest()).to.equal(true);
    await view.end();
    expect(media.listeners.size).to.equal(0);
  });

  it('tell the time each second, and stop with the component', async () => {
    const { useNow } = await import('../../../web/console/now.ts');
    const view = shown(useNow);
    await view.show({});
    const real = Object.getOwnPropertyDescriptor(Date, 'now') ?? {};
    Object.defineProperty(Date, 'now', { ...real, value: () => 5 });
    try {
      for (const run of intervals) run();
      await view.pass();
    } finally {
      Object.defineProperty(Date, 'now', real);
    }
    expect(view.latest()).to.equal(5);
    await view.end();
    expect(intervals.size).to.equal(0);
  });

  describe('that move the focus', () => {
    it('move it after a change of the view, and not at first', async () => {
      const { useFocusOnView } = await import('../../../web/console/focus.ts');
      const heading = dom.element('H1');
      dom.elements.set('h1', heading);
      const view = shown(({ at }: { at: string }) => useFocusOnView('h1', at));
      await view.show({ at: 'list' });
      await view.show({ at: 'list' });
      expect(dom.activeElement).to.equal(dom.body);
      await view.show({ at: 'flow' });
      expect(dom.activeElement).to.equal(heading);
      await view.end();
    });

    it('move it after a loss, and leave it where the user has put it', async () => {
      const { useFocusAfterLoss } = await import('../../../web/console/focus.ts');
      const [heading, button] = [dom.element('H1'), dom.element('BUTTON')];
      dom.elements.set('h1', heading);
      const view = shown(({ change }: { change: number }) => useFocusAfterLoss('h1', change));
      dom.activeElement = button;
      await view.show({ change: 1 });
      await view.show({ change: 2 });
      expect(dom.activeElement).to.equal(button);
      for (const [change, lost] of [
        [3, dom.body],
        [4, null],
      ] as const) {
        dom.activeElement = lost;
        await view.show({ change });
        expect(dom.activeElement).to.equal(heading);
      }
      await view.end();
    });

    it('know whether the user has chosen an element', async () => {
      const { isFocusFree } = await import('../../../web/console/focus.ts');
      const free = [null, dom.body, dom.element('H1'), dom.element('BUTTON')].map((element) => {
        dom.activeElement = element;
        return isFocusFree();
      });
      expect(free).to.deep.equal([true, true, true, false]);
    });
  });

  it('follow a path of the server, and show nothing of the path before', async () => {
    const sources: { readonly path: string; isClosed: boolean }[] = [];
    class Source {
      readonly #all: { isClosed: boolean };
      constructor(path: string) {
        this.#all = { path, isClosed: false } as (typeof sources)[number];
        sources.push(this.#all as (typeof sources)[number]);
      }
      readonly addEventListener = (): void => undefined;
      readonly close = (): void => void (this.#all.isClosed = true);
    }
    Object.assign(globalThis, { EventSource: Source });
    const { useLive } = await import('../../../web/console/live.ts');
    const complete = (sent: { id: string }) => sent;
    const view = shown(({ path, attempt }: { path: string; attempt: number }) =>
      useLive(path, complete, attempt),
    );
    await view.show({ path: '/a', attempt: 1 });
    await view.show({ path: '/a', attempt: 2 });
    await view.show({ path: '/b', attempt: 2 });
    expect(sources.map(({ path, isClosed }) => [path, isClosed])).to.deep.equal([
      ['/a', true],
      ['/a', true],
      ['/b', false],
    ]);
    expect(view.latest()).to.deep.include({ items: undefined, path: '/b' });
    await view.end();
    expect(sources.at(-1)?.isClosed).to.equal(true);
    Reflect.deleteProperty(globalThis, 'EventSource');
  });
});
