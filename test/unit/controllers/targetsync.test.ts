import { expect } from 'chai';
import {
  livingSiblings,
  mistakeIn,
  planRemoval,
  planSync,
  TARGET_TYPE,
} from '../../../controllers/targetsync/decide.ts';
import { gatherWanted, isAccessFresh } from '../../../controllers/targetsync/gather.ts';
import { nameFilter } from '../../../controllers/targetsync/names.ts';
import { isRotationDue, renewable } from '../../../controllers/targetsync/rotation.ts';
import type { Host, Sync, Wanted } from '../../../controllers/targetsync/snapshot.ts';
import { API_VERSION, annotations, labels } from '../../../src/api/labels.ts';
import type { Target } from '../../../src/api/kinds/target.ts';
import type { TargetSync, TargetSyncSpec } from '../../../src/api/kinds/targetsync.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import type { Secret } from '../../../src/machine/world.ts';
import { Forbidden } from '../../../src/runtime/errors.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { effectsOf } from '../../support/ask.ts';
import { NOW } from '../../support/given.ts';

const OK = { [labels.targetSync]: 'ok' };

interface Parts {
  readonly meta?: object;
  readonly status?: TargetSync['status'];
}

const sync = (spec: Partial<TargetSyncSpec> = {}, { meta, status }: Parts = {}): Sync => ({
  apiVersion: API_VERSION,
  kind: 'TargetSync',
  metadata: { name: 'sync', namespace: 'demo', uid: 'uid-sync', ...meta },
  spec: { sourceNamespace: 'clusters', secretRef: { name: 'source-access', key: 'kubeconfig' }, ...spec },
  ...(status && { status }),
});

const target = (name: string, spec: object = {}, meta: object = {}): Target => ({
  apiVersion: API_VERSION,
  kind: 'Target',
  metadata: { name, namespace: 'demo', uid: `target-${name}`, labels: OK, ...meta },
  spec: { type: TARGET_TYPE, secretRef: { name, key: 'kubeconfig' }, ...spec },
});

const secret = (name: string, value = 'one', more: Partial<Secret> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'demo', uid: `secret-${name}`, labels: OK },
  type: 'Opaque',
  data: { kubeconfig: value },
  ...more,
});

const host = (parts: Partial<Host> = {}): Host => ({
  targets: [],
  secrets: [],
  foreignSecrets: new Set(),
  ...parts,
});

const copy = (name: string, value = 'one', type = 'Opaque'): Wanted => ({
  as: 'copy',
  name,
  content: { type, data: { kubeconfig: value } },
});

const planned = (wanted: readonly Wanted[], there: Host, self = sync()) => {
  const { writes, removals, problems } = planSync(self, wanted, there);
  return {
    writes: writes.flatMap((w) => effectsOf({ effects: w })),
    removals: effectsOf({ effects: removals }),
    problems,
  };
};

describe('what a target sync writes', () => {
  const rows: {
    title: string;
    wanted: Wanted[];
    host?: Partial<Host>;
    writes?: string[];
    removals?: string[];
    problem?: RegExp;
  }[] = [
    {
      title: 'S-108: makes the secret first and then the target that refers to it',
      wanted: [copy('prod-1')],
      writes: ['create prod-1', 'create prod-1'],
    },
    {
      title: 'S-108: makes only a target for the source cluster',
      wanted: [{ as: 'source', name: 'hub' }],
      writes: ['create hub'],
    },
    {
      title: 'writes nothing when all is as it should be',
      wanted: [copy('prod-1')],
      host: { targets: [target('prod-1')], secrets: [secret('prod-1')] },
    },
    {
      title: 'S-109: brings a copy in line with its original',
      wanted: [copy('prod-1', 'two')],
      host: { targets: [target('prod-1')], secrets: [secret('prod-1')] },
      writes: ['patch prod-1'],
    },
    {
      title: 'makes a copy anew whose type has changed, for the type of a secret cannot be changed',
      wanted: [copy('prod-1', 'one', 'example.org/access')],
      host: { targets: [target('prod-1')], secrets: [secret('prod-1')] },
      writes: ['delete prod-1', 'create prod-1'],
    },
    {
      title: 'brings back a secret that somebody took away',
      wanted: [copy('prod-1')],
      host: { targets: [target('prod-1')] },
      writes: ['create prod-1'],
    },
    {
      title: 'S-109: removes what is no longer wanted, the secret before the target',
      wanted: [],
      host: { targets: [target('prod-2')], secrets: [secret('prod-2')] },
      removals: ['delete prod-2', 'delete prod-2'],
    },
    {
      title: 'removes the copy when only the target of that name is wanted',
      wanted: [{ as: 'source', name: 'hub' }],
      host: { targets: [target('hub')], secrets: [secret('hub')] },
      writes: ['patch hub'],
      removals: ['delete hub'],
    },
    {
      title: 'never removes the access to the source, labelled or not',
      wanted: [],
      host: {
        targets: [target('hub', { secretRef: { name: 'source-access' } })],
        secrets: [secret('source-access')],
      },
      removals: ['delete hub'],
    },
    {
      title: 'never overwrites the access to the source by a secret of the same name',
      wanted: [copy('source-access')],
      host: { secrets: [secret('source-access')] },
      problem: /source-access holds the access/,
    },
    {
      title: 'S-110: leaves a foreign secret alone and makes no target for it',
      wanted: [copy('two'), copy('one')],
      host: { foreignSecrets: new Set(['two']) },
      writes: ['create one', 'create one'],
      problem: /^secret demo\/two was not made by a target sync/,
    },
    {
      title: 'leaves a foreign target alone and makes no secret for it',
      wanted: [copy('two')],
      host: { targets: [target('two', {}, { labels: {} })] },
      problem: /^target demo\/two was not made by a target sync/,
    },
    {
      title: 'S-117: leaves a labelled target without a secret alone',
      wanted: [],
      host: { targets: [target('foreign', { secretRef: undefined, config: {} })] },
    },
    {
      title: 'leaves a labelled target of an installation alone',
      wanted: [],
      host: { targets: [target('x', {}, { labels: { ...OK, [labels.dataContext]: 'Inst.web' } })] },
    },
    {
      title: 'refuses two targets of one name',
      wanted: [copy('hub'), { as: 'source', name: 'hub' }],
      writes: ['create hub', 'create hub'],
      problem: /two targets would be called demo\/hub/,
    },
    {
      title: 'keeps what cannot be renewed and tells why',
      wanted: [{ as: 'unavailable', name: 'shoot', why: 'no access to shoot' }],
      host: { targets: [target('shoot')], secrets: [secret('shoot')] },
      problem: /no access to shoot/,
    },
    {
      title: 'does not touch what is going already',
      wanted: [],
      host: { targets: [target('old', {}, { deletionTimestamp: NOW })] },
    },
  ];
  for (const row of rows) {
    it(row.title, () => {
      const { writes, removals, problems } = planned(row.wanted, host(row.host));
      expect(writes).to.deep.equal(row.writes ?? []);
      expect(removals).to.deep.equal(row.removals ?? []);
      if (row.problem) expect(problems.join('\n')).to.match(row.problem);
      else expect(problems).to.deep.equal([]);
    });
  }

  it('keeps labels and annotations of others', () => {
    const there = target(
      'prod-1',
      { type: 'other' },
      { labels: { ...OK, mine: 'yes' }, annotations: { mine: 'yes' } },
    );
    const { writes } = planSync(
      sync(),
      [copy('prod-1')],
      host({ targets: [there], secrets: [secret('prod-1')] }),
    );
    expect(writes)
      .to.have.nested.property('[0][0].body')
      .that.deep.equals({ spec: { type: TARGET_TYPE } });
  });

  it('notes when the access to a shoot was renewed', () => {
    const wanted: Wanted = { as: 'copy', name: 's', content: { type: 'Opaque', data: {} }, renewedAt: NOW };
    const { writes } = planSync(sync(), [wanted], host());
    expect(writes)
      .to.have.nested.property('[0][1].object.metadata.annotations')
      .that.deep.equals({ [annotations.lastTargetSync]: NOW });
  });

  it('S-110: takes everything of its own with it when it goes', () => {
    const there = host({
      targets: [target('prod-1'), target('foreign', {}, { labels: {} })],
      secrets: [secret('prod-1'), secret('source-access')],
    });
    const effects = planRemoval(sync(), there);
    expect(effectsOf({ effects })).to.deep.equal(['delete prod-1', 'delete prod-1']);
  });
});

describe('what keeps a target sync from its work', () => {
  it('S-113: both expressions', () => {
    expect(mistakeIn(sync({ secretNameExpression: 'a', shootNameExpression: 'b' }))).to.match(/with both/);
    expect(mistakeIn(sync({ secretNameExpression: 'a', shootNameExpression: '' }))).to.equal(undefined);
  });

  it('an empty source namespace, which would mean all of them', () => {
    expect(mistakeIn(sync({ sourceNamespace: '' }))).to.match(/sourceNamespace/);
  });

  it('S-111: another one that is there to stay', () => {
    const other = sync({}, { meta: { name: 'second', uid: 'uid-second' } });
    const going = sync({}, { meta: { name: 'third', uid: 'uid-third', deletionTimestamp: NOW } });
    expect(livingSiblings(sync(), [sync(), other, going])).to.deep.equal([other]);
  });
});

describe('an expression for names', () => {
  const rows: [string, string, boolean][] = [
    ['*', 'anything', true],
    ['^prod-', 'prod-1', true],
    ['^prod-', 'my-prod-1', false],
    ['prod', 'my-prod-1', true],
    ['^prod-1$', 'prod-10', false],
    ['(?i)PROD', 'prod-1', true],
  ];
  for (const [expression, name, answer] of rows) {
    it(`${expression} ${answer ? 'means' : 'does not mean'} ${name}`, () => {
      expect(nameFilter(expression)?.(name)).to.equal(answer);
    });
  }
  it('is refused when it is none in RE2', () => {
    expect(nameFilter('^prod-(')).to.equal(undefined);
    expect(nameFilter('(?=a)')).to.equal(undefined);
  });
});

describe('the rotation of the token', () => {
  const day = 24 * 3_600_000;
  const now = Date.parse(NOW);
  const enabled = { tokenRotation: { enabled: true } };
  const daysAgo = (days: number) => ({ lastTokenRotationTime: new Date(now - days * day).toISOString() });
  const asked = { annotations: { [annotations.rotateToken]: 'please' } };
  const rows: [string, Sync, boolean][] = [
    ['is not due when it is not enabled, asked for or not', sync({}, { meta: asked }), false],
    ['S-112: is due when there was none', sync(enabled), true],
    ['S-112: is not due right after it', sync(enabled, { status: daysAgo(0) }), false],
    ['is not due after 60 days', sync(enabled, { status: daysAgo(60) }), false],
    ['is due after more than 60 days', sync(enabled, { status: daysAgo(60.1) }), true],
    ['S-112: is due when asked for', sync(enabled, { status: daysAgo(1), meta: asked }), true],
  ];
  for (const [title, self, answer] of rows) {
    it(title, () => {
      expect(isRotationDue(self, now)).to.equal(answer);
    });
  }

  const kubeconfig = (users: object[]): string =>
    JSON.stringify({ kind: 'Config', extra: { kept: true }, users });

  it('changes nothing in the kubeconfig but the token', () => {
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
  for (const [title, text] of [
    ['no user', kubeconfig([])],
    ['two users', kubeconfig([{ name: 'a' }, { name: 'b' }])],
    ['text that is no YAML', 'secret: [token'],
  ] as const) {
    it(`is impossible with ${title}, and the sentence does not quote the kubeconfig`, () => {
      expect(() => renewable(text)).to.throw(/exactly one user/);
    });
  }
});

describe('the access to a shoot', () => {
  const renewed = (hours: number): Host => {
    const at = new Date(Date.parse(NOW) - hours * 3_600_000).toISOString();
    const stamped = target('s', {}, { annotations: { [annotations.lastTargetSync]: at } });
    return host({ targets: [stamped], secrets: [secret('s')] });
  };
  const rows: [string, Host, boolean][] = [
    ['is fresh for 12 hours', renewed(12), true],
    ['is renewed after that', renewed(12.1), false],
    ['is asked for when there is none', host(), false],
    ['is asked for when its secret is gone', { ...renewed(1), secrets: [] }, false],
    [
      'is asked for when nobody knows how old it is',
      host({ targets: [target('s')], secrets: [secret('s')] }),
      false,
    ],
  ];
  for (const [title, there, answer] of rows) {
    it(title, () => {
      expect(isAccessFresh(there, 's', Date.parse(NOW))).to.equal(answer);
    });
  }

  /** A source cluster with shoots, of which one gives no access. */
  const garden = (shoots: readonly string[], asked: string[]): Client =>
    ({
      async *list() {
        yield await Promise.resolve({ items: shoots.map((name) => ({ metadata: { name } })) });
      },
      raw(_method: string, path: string) {
        asked.push(path);
        if (!path.includes('/broken/')) return Promise.resolve({ status: { kubeconfig: 'a3ViZQ==' } });
        const ref = { verb: 'post', kind: path };
        return Promise.reject(new Forbidden('no', { status: 403, reason: 'Forbidden', ref }));
      },
    }) as unknown as Client;

  const wantedOf = async (there: Host, shoots: readonly string[]) => {
    const asked: string[] = [];
    const { signal } = new AbortController();
    const self = sync({ shootNameExpression: '^(s|broken|two)' });
    const wanted = await gatherWanted({ self, source: garden(shoots, asked), host: there, now: NOW, signal });
    return { wanted, asked };
  };

  it('is asked for at the shoot, and one that gives none does not hold up the others', async () => {
    const { wanted, asked } = await wantedOf(host(), ['s', 'broken', 'other']);
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

  it('is not asked for while it is fresh, or where it could not be kept', async () => {
    const there = { ...renewed(1), foreignSecrets: new Set(['two']) };
    const { wanted, asked } = await wantedOf(there, ['s', 'two']);
    expect(asked).to.deep.equal([]);
    expect(wanted.map(({ as }) => as)).to.deep.equal(['kept', 'kept']);
  });
});
