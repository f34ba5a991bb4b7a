import { expect } from 'chai';
import {
  activeSiblings,
  specError,
  planRemoval,
  planSync,
  TARGET_TYPE,
} from '../../../controllers/targetsync/decide.ts';
import { isQuick, nameFilter } from '../../../src/blueprint/match-names.ts';
import type { Host, Wanted } from '../../../controllers/targetsync/snapshot.ts';
import { API_VERSION, annotations, labels } from '../../../src/api/labels.ts';
import { effectsOf } from '../../support/ask.ts';
import { NOW } from '../../support/given.ts';
import { OK, sync, target, secret, host, type HostObjects } from './support/target-syncs.ts';

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

describe('the writes of a target sync', () => {
  const { type: _, ...untyped } = secret('prod-1');
  const rows: {
    title: string;
    wanted: Wanted[];
    host?: HostObjects;
    writes?: string[];
    removals?: string[];
    problem?: RegExp;
  }[] = [
    {
      title: 'CORE-108: create the secret first and then the target that refers to it',
      wanted: [copy('prod-1')],
      writes: ['create prod-1', 'create prod-1'],
    },
    {
      title: 'CORE-108: create only a target for the source cluster',
      wanted: [{ as: 'source', name: 'hub' }],
      writes: ['create hub'],
    },
    {
      title: 'are none if everything is up to date',
      wanted: [copy('prod-1')],
      host: { targets: [target('prod-1')], secrets: [secret('prod-1')] },
    },
    {
      title: 'CORE-109: update a copy from its original',
      wanted: [copy('prod-1', 'two')],
      host: { targets: [target('prod-1')], secrets: [secret('prod-1')] },
      writes: ['patch prod-1'],
    },
    {
      title: 'recreate a copy whose type has changed, because the type of a secret is immutable',
      wanted: [copy('prod-1', 'one', 'example.org/access')],
      host: { targets: [target('prod-1')], secrets: [secret('prod-1')] },
      writes: ['delete prod-1', 'create prod-1'],
    },
    {
      title: 'recreate a secret that a user deleted',
      wanted: [copy('prod-1')],
      host: { targets: [target('prod-1')] },
      writes: ['create prod-1'],
    },
    {
      title: 'patch the secret and the target of that name, and no others',
      wanted: [copy('prod-1', 'two')],
      host: {
        targets: [target('other'), target('prod-1', { type: 'wrong' })],
        secrets: [secret('other'), secret('prod-1')],
      },
      writes: ['patch prod-1', 'patch prod-1'],
      removals: ['delete other', 'delete other'],
    },
    {
      title: 'do not recreate a copy whose secret has no type, which means Opaque',
      wanted: [copy('prod-1', 'two')],
      host: { targets: [target('prod-1')], secrets: [untyped] },
      writes: ['patch prod-1'],
    },
    {
      title: 'update the target of a shoot while its access is fresh',
      wanted: [{ as: 'kept', name: 's' }],
      host: { targets: [target('s', { type: 'wrong' })], secrets: [secret('s')] },
      writes: ['patch s'],
    },
    {
      title: 'create a target for the source if a secret of another owner has its name',
      wanted: [{ as: 'source', name: 'hub' }],
      host: { foreignSecrets: new Set(['hub']) },
      writes: ['create hub'],
    },
    {
      title: 'do not touch a labelled target whose secret is null',
      wanted: [],
      host: { targets: [target('foreign', { secretRef: null })] },
    },
    {
      title: 'do not touch a target without labels',
      wanted: [],
      host: { targets: [target('foreign', {}, { labels: undefined })] },
    },
    {
      title: 'CORE-109: delete objects that are no longer wanted, the secret before the target',
      wanted: [],
      host: { targets: [target('prod-2')], secrets: [secret('prod-2')] },
      removals: ['delete prod-2', 'delete prod-2'],
    },
    {
      title: 'delete the copy if only the target of that name is wanted',
      wanted: [{ as: 'source', name: 'hub' }],
      host: { targets: [target('hub')], secrets: [secret('hub')] },
      writes: ['patch hub'],
      removals: ['delete hub'],
    },
    {
      title: 'never delete the access to the source, labelled or not',
      wanted: [],
      host: {
        targets: [target('hub', { secretRef: { name: 'source-access' } })],
        secrets: [secret('source-access')],
      },
      removals: ['delete hub'],
    },
    {
      title: 'never overwrite the access to the source with a secret of the same name',
      wanted: [copy('source-access')],
      host: { secrets: [secret('source-access')] },
      problem: /source-access contains the credentials/,
    },
    {
      title: 'CORE-110: do not touch a secret of another owner and create no target for it',
      wanted: [copy('two'), copy('one')],
      host: { foreignSecrets: new Set(['two']) },
      writes: ['create one', 'create one'],
      problem: /^secret demo\/two was not created by a TargetSync/,
    },
    {
      title: 'do not touch a target of another owner and create no secret for it',
      wanted: [copy('two')],
      host: { targets: [target('two', {}, { labels: {} })] },
      problem: /^target demo\/two was not created by a TargetSync/,
    },
    {
      title: 'CORE-117: do not touch a labelled target without a secret',
      wanted: [],
      host: { targets: [target('foreign', { secretRef: undefined, config: {} })] },
    },
    {
      title: 'do not touch a labelled target of an installation',
      wanted: [],
      host: { targets: [target('x', {}, { labels: { ...OK, [labels.dataContext]: 'Inst.web' } })] },
    },
    {
      title: 'are not affected by a target of another owner with another name',
      wanted: [copy('prod-1')],
      host: { targets: [target('foreign', {}, { labels: {} })] },
      writes: ['create prod-1', 'create prod-1'],
    },
    {
      title: 'reject two targets of the same name',
      wanted: [copy('hub'), { as: 'source', name: 'hub' }],
      writes: ['create hub', 'create hub'],
      problem: /two targets would have the name demo\/hub/,
    },
    {
      title: 'keep what cannot be renewed and report why',
      wanted: [{ as: 'unavailable', name: 'shoot', why: 'no access to shoot' }],
      host: { targets: [target('shoot')], secrets: [secret('shoot')] },
      problem: /no access to shoot/,
    },
    {
      title: 'do not touch objects under deletion',
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

  it('keep labels and annotations of others', () => {
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

  it('label created objects, in their own namespace', () => {
    const { writes } = planSync(sync(), [copy('prod-1')], host());
    const metadata = { name: 'prod-1', namespace: 'demo', labels: OK };
    expect(writes[0]?.map((effect) => (effect as { object?: object }).object)).to.deep.equal([
      { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: { kubeconfig: 'one' } },
      {
        apiVersion: API_VERSION,
        kind: 'Target',
        metadata,
        spec: { type: TARGET_TYPE, secretRef: { name: 'prod-1', key: 'kubeconfig' } },
      },
    ]);
  });

  it('look at each object of the namespace a few times, however many there are', () => {
    let looks = 0;
    const counted = <T extends object>(object: T): T =>
      new Proxy(object, {
        get(of, key) {
          looks++;
          return Reflect.get(of, key) as unknown;
        },
      });
    const names = Array.from({ length: 2_000 }, (_, i) => `s-${String(i)}`);
    const there = host({
      targets: names.map((name) => counted(target(name))),
      secrets: names.map((name) => counted(secret(name))),
    });
    looks = 0;
    const { writes, removals } = planSync(
      sync(),
      names.map((name) => copy(name)),
      there,
    );
    expect([writes, removals]).to.deep.equal([[], []]);
    expect(looks / names.length).to.be.at.most(30);
  });

  it('have no empty groups', () => {
    const there = host({ targets: [target('prod-1')], secrets: [secret('prod-1')] });
    expect(planSync(sync(), [copy('prod-1')], there).writes).to.deep.equal([]);
  });

  it('point the target of a shoot to the secret of the shoot, also while its access is fresh', () => {
    const there = host({ targets: [target('s', { secretRef: { name: 'x' } })], secrets: [secret('s')] });
    expect(planSync(sync(), [{ as: 'kept', name: 's' }], there).writes)
      .to.have.nested.property('[0][0].body.spec')
      .that.deep.equals({ secretRef: { name: 's', key: 'kubeconfig' } });
  });

  it('record when the access to a shoot was renewed', () => {
    const wanted: Wanted = { as: 'copy', name: 's', content: { type: 'Opaque', data: {} }, renewedAt: NOW };
    const { writes } = planSync(sync(), [wanted], host());
    expect(writes)
      .to.have.nested.property('[0][1].object.metadata.annotations')
      .that.deep.equals({ [annotations.lastTargetSync]: NOW });
  });

  it('CORE-110: delete all of its objects when it is deleted', () => {
    const there = host({
      targets: [target('prod-1'), target('foreign', {}, { labels: {} })],
      secrets: [secret('prod-1'), secret('source-access')],
    });
    const effects = planRemoval(sync(), there);
    expect(effectsOf({ effects })).to.deep.equal(['delete prod-1', 'delete prod-1']);
  });
});

describe('a target sync is blocked by', () => {
  it('CORE-113: both expressions', () => {
    expect(specError(sync({ secretNameExpression: 'a', shootNameExpression: 'b' }))).to.match(/with both/);
    expect(specError(sync({ secretNameExpression: 'a', shootNameExpression: '' }))).to.equal(undefined);
  });

  it('an empty source namespace, which would mean all of them', () => {
    expect(specError(sync({ sourceNamespace: '' }))).to.match(/sourceNamespace/);
  });

  it('CORE-111: another one that is not being deleted', () => {
    const other = sync({}, { meta: { name: 'second', uid: 'uid-second' } });
    const going = sync({}, { meta: { name: 'third', uid: 'uid-third', deletionTimestamp: NOW } });
    expect(activeSiblings(sync(), [sync(), other, going])).to.deep.equal([other]);
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
    it(`${expression} ${answer ? 'matches' : 'does not match'} ${name}`, () => {
      expect(nameFilter(expression)?.(name)).to.equal(answer);
    });
  }
  const plain: readonly [string, string, boolean][] = [
    ['is plain', '^prod-.*\\.eu$', true],
    ['has counted repetitions', 'a{2}', false],
    ['has classes of Unicode', '\\pL', false],
    ['is long', 'a'.repeat(201), false],
  ];
  for (const [title, expression, answer] of plain) {
    it(`is compiled ${answer ? 'here' : 'in a worker'} if it ${title}`, () => {
      expect(isQuick({ expression, names: ['prod-1'] })).to.equal(answer);
    });
  }
  it('is compared in a worker with many names, unless it matches all', () => {
    const names = Array<string>(1000).fill('n'.repeat(200));
    expect(isQuick({ expression: '^prod', names })).to.equal(true);
    expect(isQuick({ expression: '^prod-', names })).to.equal(false);
    expect(isQuick({ expression: '*', names })).to.equal(true);
  });
  it('is rejected if it is not valid in RE2', () => {
    expect(nameFilter('^prod-(')).to.equal(undefined);
    expect(nameFilter('(?=a)')).to.equal(undefined);
  });
});
