/** Requests of the console's page, and the exchange of the token of the link. */
import { expect } from 'chai';
import { withGlobals } from '../../support/browser.ts';
import { ApiProblem, get, landscapePath, post, remove } from '../../../web/console/api.ts';
import { startSession } from '../../../web/console/session.ts';

interface Sent {
  readonly path: string;
  readonly request: RequestInit;
}

/** Replaces globals of the browser; returns what was sent, and a function that restores them. */
function browser(
  answer: () => Response | Promise<Response>,
  location = { hash: '', pathname: '/', search: '' },
) {
  const sent: Sent[] = [];
  const replaced: string[] = [];
  const stubs = {
    fetch: (path: string, request: RequestInit) => {
      sent.push({ path, request });
      return Promise.resolve(answer());
    },
    location,
    history: { replaceState: (_state: unknown, _title: string, url: string) => void replaced.push(url) },
  };
  const { restore } = withGlobals(stubs);
  return { sent, replaced, restore };
}

describe('a request of the console', () => {
  let restore = (): void => undefined;
  afterEach(() => {
    restore();
  });
  const answering = (answer: () => Response | Promise<Response>) => {
    const page = browser(answer);
    ({ restore } = page);
    return page;
  };
  const problem = (): Response =>
    new Response('{"error":"no right to do this"}', { status: 403, statusText: 'Forbidden' });
  const refusal = async (request: Promise<unknown>): Promise<ApiProblem> =>
    (await request.catch((error: unknown) => error)) as ApiProblem;

  it('returns the data, and can be aborted', async () => {
    const { sent } = answering(() => new Response('{"a":1}'));
    const { signal } = new AbortController();
    expect(await get('/api/x', signal)).to.deep.equal({ a: 1 });
    expect(sent).to.deep.equal([{ path: '/api/x', request: { signal } }]);
  });

  it('sends JSON, or deletes', async () => {
    const { sent } = answering(() => new Response(null, { status: 204 }));
    await post('/api/x', { b: 2 });
    await remove('/api/x');
    expect(sent.map(({ request }) => request)).to.deep.equal([
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"b":2}' },
      { method: 'DELETE' },
    ]);
  });

  for (const [title, request] of [
    ['get', () => get('/x')],
    ['post', () => post('/x', {})],
    ['remove', () => remove('/x')],
  ] as const)
    it(`fails with the refusal of the server: ${title}`, async () => {
      answering(problem);
      const error = await refusal(request());
      expect(error).to.be.instanceOf(ApiProblem);
      expect([error.status, error.message]).to.deep.equal([403, 'no right to do this']);
    });

  it('fails with the status if the answer is not from the console', async () => {
    answering(() => new Response('<html>', { status: 502, statusText: 'Bad Gateway' }));
    expect((await refusal(get('/x'))).message).to.equal('Bad Gateway');
  });

  it('escapes the names in the path of a landscape', () => {
    expect(landscapePath('shop/a b')).to.equal('/api/landscapes/shop/a%20b');
  });
});

describe('the session of the console', () => {
  const started = async (hash: string, answer = (): Response => new Response(null, { status: 204 })) => {
    const page = browser(answer, { hash, pathname: '/flow', search: '?a=b' });
    try {
      await startSession();
    } finally {
      page.restore();
    }
    return page;
  };

  it('starts with the token of the link, which then disappears from the address', async () => {
    const { sent, replaced } = await started('#token=secret');
    expect(sent.map(({ path, request }) => [path, request.body])).to.deep.equal([
      ['/api/session', '{"token":"secret"}'],
    ]);
    expect(replaced).to.deep.equal(['/flow?a=b']);
  });

  it('stays as it is without a token', async () => {
    const { sent, replaced } = await started('#part');
    expect([sent, replaced]).to.deep.equal([[], []]);
  });

  it('does not start with an invalid token, which disappears as well', async () => {
    const { replaced } = await started('#token=old', () => new Response('{}', { status: 401 }));
    expect(replaced).to.deep.equal(['/flow?a=b']);
  });
});
