/** Get, list and selectors: scenarios API-47 to API-64. */
import { expect } from 'chai';
import { refused } from './assertions.ts';
import { cm } from './fixtures.ts';
import { skipUnlessEmbedded, useSubject } from './subject.ts';
import type { Json, Reply } from './subject.ts';

describe('get, list, selectors', () => {
  const s = useSubject();
  let ns: string;
  let cms: string;
  /** Only our own: controllers may publish ConfigMaps in every namespace. */
  const OURS = 'labelSelector=mine';

  beforeEach(async () => {
    ns = await s.namespace();
    cms = `/api/v1/namespaces/${ns}/configmaps`;
  });

  const make = async (name: string, labels: Json = {}): Promise<Json> =>
    (await s.post(cms, cm(name, { metadata: { labels: { mine: '', ...labels } } }))).body;
  const names = (reply: Reply): string[] => reply.body.items.map((o: Json) => o.metadata.name);

  it('API-47: getting a missing object is a 404', async () => {
    const reply = await s.get(`${cms}/nope`);
    expect(reply.body).to.deep.include({
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "nope" not found',
      details: { name: 'nope', kind: 'configmaps' },
    });
  });

  it('API-48: a get respects the resource version', async function () {
    this.timeout(20_000);
    await make('a');
    // Answered from the cache of the server, which may lag behind.
    const cached = await s.eventually(`${cms}/a?resourceVersion=0`, ({ code }) => code === 200);
    expect(cached.code).to.equal(200);
    const future = await s.get(`${cms}/a?resourceVersion=99999999`);
    expect(future.code).to.equal(504);
    expect(future.headers['retry-after']).to.equal('1');
    expect(future.body.details.causes[0].reason).to.equal('ResourceVersionTooLarge');
    const bad = await s.get(`${cms}/a?resourceVersion=abc`);
    refused(
      bad,
      500,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    );
  });

  it('API-49: lists are sorted by name, and items of built-in kinds have no kind', async () => {
    for (const name of ['c', 'a-b', 'a', 'b', 'a.b']) await make(name);
    const list = await s.get(`${cms}?${OURS}`);
    expect(names(list)).to.deep.equal(['a', 'a-b', 'a.b', 'b', 'c']);
    expect(list.body).to.deep.include({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(list.body.items[0]).to.not.have.any.keys('kind', 'apiVersion');
  });

  it('API-50: a list in a namespace that does not exist is empty', async () => {
    const reply = await s.get('/api/v1/namespaces/nope/configmaps');
    expect(reply.code).to.equal(200);
    expect(reply.body.items).to.deep.equal([]);
  });

  it('API-51: the pages of a list are consistent', async () => {
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    for (const name of ['a', 'b', 'c', 'd', 'e']) await s.post(secrets, { metadata: { name } });
    const first = await s.get(`${secrets}?limit=2`);
    expect(names(first)).to.deep.equal(['a', 'b']);
    expect(first.body.metadata.remainingItemCount).to.equal(3);
    const second = await s.get(`${secrets}?limit=2&continue=${first.body.metadata.continue}`);
    expect(names(second)).to.deep.equal(['c', 'd']);
    expect(second.body.metadata.resourceVersion).to.equal(first.body.metadata.resourceVersion);
    const third = await s.get(`${secrets}?limit=2&continue=${second.body.metadata.continue}`);
    expect(names(third)).to.deep.equal(['e']);
    expect(third.body.metadata).to.not.have.property('continue');
    const selected = await s.get(`${secrets}?limit=2&labelSelector=!x`);
    expect(selected.body.metadata).to.not.have.property('remainingItemCount');
  });

  it('API-52: objects created between pages are not in them', async () => {
    for (const name of ['a', 'b', 'c']) await make(name);
    const first = await s.get(`${cms}?${OURS}&limit=1`);
    await make('bb');
    await s.delete(`${cms}/c`);
    const rest = await s.get(`${cms}?${OURS}&continue=${first.body.metadata.continue}`);
    expect(names(rest)).to.deep.equal(['b', 'c']);
  });

  it('API-53: an expired page returns a token to continue at the current version', async function () {
    skipUnlessEmbedded(this, s);
    for (const name of ['a', 'b', 'c']) await make(name);
    const first = await s.get(`${cms}?${OURS}&limit=1`);
    await make('bb');
    s.server.test.compact();
    const late = await s.get(`${cms}?${OURS}&continue=${first.body.metadata.continue}`);
    expect(late.body).to.include({ code: 410, reason: 'Expired' });
    const anew = await s.get(`${cms}?${OURS}&continue=${late.body.metadata.continue}`);
    expect(names(anew)).to.deep.equal(['b', 'bb', 'c']);
  });

  it('API-54: with resource version 0 the limit is ignored', async () => {
    for (const name of ['a', 'b', 'c']) await make(name);
    const list = await s.eventually(
      `${cms}?${OURS}&limit=1&resourceVersion=0`,
      (r) => r.body.items.length === 3,
    );
    expect(names(list)).to.deep.equal(['a', 'b', 'c']);
    expect(list.body.metadata).to.not.have.property('continue');
  });

  it('API-55: lists can be at a revision, or not older than one', async () => {
    await make('a');
    const { resourceVersion } = (await make('b')).metadata;
    await make('c');
    const exact = await s.get(`${cms}?${OURS}&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    expect(names(exact)).to.deep.equal(['a', 'b']);
    expect(exact.body.metadata.resourceVersion).to.equal(resourceVersion);
    const newer = await s.get(
      `${cms}?${OURS}&resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`,
    );
    expect(names(newer)).to.include.members(['a', 'b']);
    const legacy = await s.get(`${cms}?${OURS}&resourceVersion=${resourceVersion}&limit=5`);
    expect(names(legacy)).to.deep.equal(['a', 'b']);
  });

  it('API-56: an exact list at a compacted revision has expired', async function () {
    skipUnlessEmbedded(this, s);
    const { resourceVersion } = (await make('a')).metadata;
    await make('b');
    s.server.test.compact();
    const reply = await s.get(`${cms}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    refused(reply, 410, 'The resourceVersion for the provided list is too old.');
  });

  it('API-57: a list at a future revision times out', async function () {
    this.timeout(20_000);
    const reply = await s.get(`${cms}?resourceVersion=99999999`);
    expect(reply.code).to.equal(504);
  });

  const MATCH = 'resourceVersionMatch';
  const combinations: readonly (readonly [string, number, string | RegExp])[] = [
    [
      `${MATCH}=Exact`,
      422,
      `ListOptions.meta.k8s.io "" is invalid: ${MATCH}: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
    ],
    [
      `${MATCH}=Exact&resourceVersion=0`,
      422,
      /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/,
    ],
    [
      `${MATCH}=Foo&resourceVersion=1`,
      422,
      /Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""/,
    ],
    [
      `${MATCH}=Exact&resourceVersion=1&continue=x`,
      422,
      /resourceVersionMatch is forbidden when continue is provided/,
    ],
    ['sendInitialEvents=true', 422, /sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list/],
    [
      'resourceVersion=abc',
      400,
      /^invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax$/,
    ],
  ];
  for (const [query, code, message] of combinations)
    it(`API-58: ${query} is rejected`, async () => {
      refused(await s.get(`${cms}?${query}`), code, message);
    });

  it('API-59: invalid continue tokens are rejected', async () => {
    refused(
      await s.get(`${cms}?continue=nonsense`),
      400,
      /^(invalid continue token: )?continue key is not valid: /,
    );
    for (const name of ['a', 'b']) await make(name);
    const first = await s.get(`${cms}?${OURS}&limit=1`);
    const both = await s.get(`${cms}?continue=${first.body.metadata.continue}&resourceVersion=1`);
    refused(both, 400, 'specifying resource version is not allowed when using continue');
  });

  describe('label selectors', () => {
    beforeEach(async () => {
      await make('a', { k: 'v', n: '1' });
      await make('b', { k: 'w', n: '5' });
      await make('c', { k: '' });
      await make('d');
    });
    const rows: readonly (readonly [string, string])[] = [
      ['k', 'a b c'],
      ['!k', 'd'],
      ['k=v', 'a'],
      ['k==v', 'a'],
      ['k!=v', 'b c d'],
      ['k=', 'c'],
      ['k in (v,w)', 'a b'],
      ['k in (v, w)', 'a b'],
      ['k notin (v,w)', 'c d'],
      ['k in ()', 'c'],
      ['k in (v,,w)', 'a b c'],
      ['n>1', 'b'],
      ['n<5', 'a'],
      [' k = v ', 'a'],
      ['k,n', 'a b'],
      ['k in (v),n notin (2)', 'a'],
      ['', 'a b c d'],
    ];
    for (const [selector, expected] of rows)
      it(`API-60: ${selector || '(nothing)'} finds ${expected}`, async () => {
        const reply = await s.get(
          `${cms}?labelSelector=${encodeURIComponent(selector === '' ? 'mine' : `mine,${selector}`)}`,
        );
        expect(names(reply).join(' ')).to.equal(expected);
      });
  });

  for (const selector of [
    'k in',
    'k x v',
    'k in (a',
    '=v',
    'k>a',
    'k=v,',
    '!',
    'k in a',
    'k notin b)',
    'k=v=w',
  ])
    it(`API-61: ${selector} is not a valid label selector`, async () => {
      const reply = await s.get(`${cms}?labelSelector=${encodeURIComponent(selector)}`);
      expect(reply.body).to.include({ code: 400, reason: 'BadRequest' });
      expect(reply.body.message).to.match(/unable to parse requirement|found '/);
    });

  it('API-62: field selectors filter', async () => {
    await make('a');
    await make('b');
    const find = async (path: string, selector: string): Promise<string[]> =>
      names(
        await s.get(`${path}${path.includes('?') ? '&' : '?'}fieldSelector=${encodeURIComponent(selector)}`),
      );
    expect(await find(cms, 'metadata.name=a')).to.deep.equal(['a']);
    expect(await find(`${cms}?${OURS}`, 'metadata.name!=a')).to.deep.equal(['b']);
    expect(await find(`/api/v1/configmaps?${OURS}`, `metadata.namespace=${ns}`)).to.deep.equal(['a', 'b']);
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    await s.post(secrets, { metadata: { name: 'x' }, type: 'my/type' });
    await s.post(secrets, { metadata: { name: 'y' } });
    expect(await find(secrets, 'type=my/type')).to.deep.equal(['x']);
    const events = `/api/v1/namespaces/${ns}/events`;
    await s.post(events, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: ns, name: 'p' },
    });
    expect(await find(events, 'involvedObject.kind=Pod,involvedObject.name=p')).to.deep.equal(['e']);
    expect(await find(events, 'involvedObject.name=q')).to.deep.equal([]);
  });

  it('API-63: unsupported field selectors are rejected', async () => {
    refused(
      await s.get(`${cms}?fieldSelector=spec.x=1`),
      400,
      '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    );
    refused(
      await s.get(`/api/v1/namespaces/${ns}/pods?fieldSelector=spec.x=1`),
      400,
      'field label not supported: spec.x',
    );
    refused(await s.get(`${cms}?fieldSelector=x`), 400, "invalid selector: 'x'; can't understand 'x'");
  });

  it('API-64: a watch continues where a list ended', async () => {
    await make('a');
    const list = await s.get(`${cms}?${OURS}`);
    await make('b');
    const watch = await s.watch(
      `${cms}?${OURS}&watch=true&resourceVersion=${list.body.metadata.resourceVersion}`,
    );
    const event = await watch.next();
    expect([event?.type, event?.object.metadata.name]).to.deep.equal(['ADDED', 'b']);
    watch.close();
  });
});
