/** The access of a target sync to its source cluster, and to shoots. */
import { expect } from 'chai';
import { gatherWanted, InvalidSpec, isAccessFresh } from '../../../controllers/targetsync/gather.ts';
import { TooMuchListed } from '../../../controllers/targetsync/source.ts';
import { NamesNotMatched } from '../../../src/blueprint/match-names.ts';
import { outcome } from '../../support/outcome.ts';
import { isRotationDue, renewable, RotationImpossible } from '../../../controllers/targetsync/rotation.ts';
import type { Sync } from '../../../controllers/targetsync/snapshot.ts';
import { annotations } from '../../../src/api/labels.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { Forbidden, ResponseTooLarge, TransportError } from '../../../src/runtime/errors.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { NOW } from '../../support/given.ts';
import { sync, target, secret, host, type HostObjects } from './support/target-syncs.ts';

describe('the rotation of the token', () => {
  const day = 24 * 3_600_000;
  const now = Date.parse(NOW);
  const enabled = { tokenRotation: { enabled: true } };
  const daysAgo = (days: number) => ({ lastTokenRotationTime: new Date(now - days * day).toISOString() });
  const asked = { annotations: { [annotations.rotateToken]: 'please' } };
  const rows: [string, Sync, boolean][] = [
    ['is not due if it is not enabled, requested or not', sync({}, { meta: asked }), false],
    ['CORE-112: is due if there was none', sync(enabled), true],
    ['CORE-112: is not due right after it', sync(enabled, { status: daysAgo(0) }), false],
    ['is not due after 60 days', sync(enabled, { status: daysAgo(60) }), false],
    ['is due after more than 60 days', sync(enabled, { status: daysAgo(60.1) }), true],
    ['CORE-112: is due on request', sync(enabled, { status: daysAgo(1), meta: asked }), true],
  ];
  for (const [title, self, answer] of rows) {
    it(title, () => {
      expect(isRotationDue(self, now)).to.equal(answer);
    });
  }

  const kubeconfig = (users: object[]): string =>
    JSON.stringify({ kind: 'Config', extra: { kept: true }, users });

  it('changes only the token in the kubeconfig', () => {
    const { account, withToken } = renewable(
      kubeconfig([{ name: 'reader', user: { token: 'old', as: 'x' } }]),
    );
    expect(account).to.equal('reader');
    expect(parseYaml(withToken('new'))).to.deep.equal({
      kind: 'Config',
      extra: { kept: true },
      users: [{ name: 'reader', user: { token: 'new', as: 'x' } }],
    });
  });
  it('sets a token if there was no credential', () => {
    const { withToken } = renewable(kubeconfig([{ name: 'reader' }]));
    expect(parseYaml(withToken('new'))).to.have.deep.property('users', [
      { name: 'reader', user: { token: 'new' } },
    ]);
  });

  for (const [title, text] of [
    ['no user', kubeconfig([])],
    ['two users', kubeconfig([{ name: 'a' }, { name: 'b' }])],
    ['a user without a name', kubeconfig([{ user: {} }])],
    ['a user with an empty name', kubeconfig([{ name: '' }])],
    ['a user whose name is not a string', JSON.stringify({ users: [{ name: [7] }] })],
    ['users that are not a list', JSON.stringify({ users: { name: 'a' } })],
    ['invalid YAML', 'secret: [token'],
  ] as const) {
    it(`fails for ${title}, and the message does not quote the kubeconfig`, () => {
      expect(() => renewable(text)).to.throw(RotationImpossible, /exactly one user/);
    });
  }
});

describe('the access to a shoot', () => {
  const { data: _, ...withoutData } = secret('s');
  const renewed = (hours: number) => {
    const at = new Date(Date.parse(NOW) - hours * 3_600_000).toISOString();
    const stamped = target('s', {}, { annotations: { [annotations.lastTargetSync]: at } });
    return { targets: [stamped], secrets: [secret('s')] };
  };
  const rows: [string, HostObjects, boolean][] = [
    ['is fresh for 12 hours', renewed(12), true],
    ['is renewed after that', renewed(12.1), false],
    ['is requested if there is none', {}, false],
    ['is requested if only another shoot has it', { targets: [target('t')], secrets: [secret('t')] }, false],
    ['is requested if its secret has no data', { ...renewed(1), secrets: [withoutData] }, false],
    ['is requested if its secret has no kubeconfig', { ...renewed(1), secrets: [secret('s', '')] }, false],
    [
      'is requested if its target is not ours',
      {
        ...renewed(1),
        targets: renewed(1).targets.map((t) => ({ ...t, metadata: { ...t.metadata, labels: {} } })),
      },
      false,
    ],
    [
      'is fresh beside older ones',
      {
        ...renewed(1),
        targets: [target('t'), ...renewed(1).targets],
        secrets: [secret('t', ''), ...renewed(1).secrets],
      },
      true,
    ],
    ['is requested if its secret is gone', { ...renewed(1), secrets: [] }, false],
    ['is requested if its age is unknown', { targets: [target('s')], secrets: [secret('s')] }, false],
  ];
  for (const [title, there, answer] of rows) {
    it(title, () => {
      expect(isAccessFresh(host(there), 's', Date.parse(NOW))).to.equal(answer);
    });
  }

  /** A source cluster with shoots, of which one returns no access. */
  const garden = (shoots: readonly string[], asked: string[]): Client =>
    ({
      async *list() {
        yield await Promise.resolve({ items: shoots.map((name) => ({ metadata: { name } })) });
      },
      raw(_method: string, path: string) {
        asked.push(path);
        if (!path.includes('/broken/')) return Promise.resolve({ status: { kubeconfig: 'a3ViZQ==' } });
        const ref = { verb: 'post', kind: path };
        return Promise.reject(new Forbidden({ message: 'no', status: 403, reason: 'Forbidden', ref }));
      },
    }) as unknown as Client;

  const wantedOf = async (there: HostObjects, shoots: readonly string[]) => {
    const asked: string[] = [];
    const { signal } = new AbortController();
    const self = sync({ shootNameExpression: '^(s|broken|two)' });
    const wanted = await gatherWanted({
      self,
      source: garden(shoots, asked),
      host: host(there),
      now: NOW,
      signal,
    });
    return { wanted, asked };
  };

  it('is requested from the shoot, and one that returns none does not block the others', async () => {
    const { wanted, asked } = await wantedOf({}, ['s', 'broken', 'other']);
    expect(asked[0]).to.equal(
      '/apis/core.gardener.cloud/v1beta1/namespaces/clusters/shoots/s/adminkubeconfig',
    );
    expect(wanted).to.deep.equal([
      {
        as: 'copy',
        name: 's',
        content: { type: 'Opaque', data: { kubeconfig: 'a3ViZQ==' } },
        renewedAt: NOW,
      },
      { as: 'unavailable', name: 'broken', why: 'no access to shoot broken: no' },
    ]);
  });

  it('is requested for a day', async () => {
    const sent: unknown[] = [];
    const source = {
      list: garden(['s'], []).list,
      raw(...request: readonly unknown[]) {
        sent.push(request[0], request[2]);
        return Promise.resolve({ status: { kubeconfig: 'a3ViZQ==' } });
      },
    } as unknown as Client;
    const { signal } = new AbortController();
    await gatherWanted({ self: sync({ shootNameExpression: '*' }), source, host: host(), now: NOW, signal });
    expect(sent).to.deep.equal([
      'POST',
      {
        apiVersion: 'authentication.gardener.cloud/v1alpha1',
        kind: 'AdminKubeconfigRequest',
        spec: { expirationSeconds: 86_400 },
      },
    ]);
  });

  it('is not requested if the expression takes too long, and the message says so', async () => {
    const matcher = { matchNames: () => Promise.reject(new NamesNotMatched('it takes too long')) };
    const query = { self: sync({ secretNameExpression: 'a{9}' }), host: host(), now: NOW, matcher };
    const { signal } = new AbortController();
    const source = { list: garden([], ['s']).list } as unknown as Client;
    expect(await outcome(gatherWanted({ ...query, source, signal }))).to.throw(
      InvalidSpec,
      'it takes too long',
    );
  });

  it('ends when the matching secrets are too large together, while they are listed', async () => {
    let pages = 0;
    const page = {
      items: Array.from({ length: 20 }, (_, i) => ({
        metadata: { name: `s${String(i)}` },
        data: { kubeconfig: 'x'.repeat(1 << 20) },
      })),
    };
    const source = {
      async *list() {
        for (; pages < 100; pages++) yield page;
      },
    } as unknown as Client;
    const { signal } = new AbortController();
    const self = sync({ secretNameExpression: '*' });
    expect(await outcome(gatherWanted({ self, source, host: host(), now: NOW, signal }))).to.throw(
      TooMuchListed,
      'the matching secrets of namespace clusters have more than 64 MiB together',
    );
    expect(pages).to.equal(3);
  });

  const noKubeconfig =
    /^no access to shoot s: the source cluster issued no kubeconfig for shoot clusters\/s$/;
  const troubles: readonly (readonly [string, unknown, RegExp | undefined])[] = [
    ['the answer has none', {}, noKubeconfig],
    ['the answer has an empty one', { status: { kubeconfig: '' } }, noKubeconfig],
    ['the response has one that is not a string', { status: { kubeconfig: 7 } }, noKubeconfig],
    [
      'no answer came',
      new TransportError({ message: 'reset', safeToRepeat: true }),
      /^no access to shoot s: reset$/,
    ],
    [
      'the answer was too large',
      new ResponseTooLarge({ message: 'too large', excess: 'bytes', isFinal: true }),
      /: too large$/,
    ],
    ['the error can only be a bug', new TypeError('x'), undefined],
  ];
  for (const [title, answer, why] of troubles) {
    it(`is ${why ? 'reported as missing' : 'not affected'} if ${title}`, async () => {
      const source = {
        list: garden(['s'], []).list,
        raw: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
      } as unknown as Client;
      const { signal } = new AbortController();
      const self = sync({ shootNameExpression: '*' });
      const wanted = gatherWanted({ self, source, host: host(), now: NOW, signal });
      const found = await wanted.catch((error: unknown) => error);
      if (!why) return expect(found).to.equal(answer);
      return expect(found).to.have.nested.property('[0].why').that.matches(why);
    });
  }

  it('is not requested if a target of another owner has its name', async () => {
    const foreign = target('s', {}, { labels: {} });
    const rows: readonly (readonly [HostObjects, number])[] = [
      [{ targets: [foreign] }, 0],
      [{ targets: [target('t', {}, { labels: {} })] }, 1],
      [{ targets: [target('s')] }, 1],
    ];
    for (const [there, times] of rows) expect((await wantedOf(there, ['s'])).asked).to.have.length(times);
  });

  it('is not requested while it is fresh, or if it could not be stored', async () => {
    const there = { ...renewed(1), foreignSecrets: new Set(['two']) };
    const { wanted, asked } = await wantedOf(there, ['s', 'two']);
    expect(asked).to.deep.equal([]);
    expect(wanted.map(({ as }) => as)).to.deep.equal(['kept', 'kept']);
  });
});
