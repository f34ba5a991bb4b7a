/** Reconciles of a target sync between two clusters in memory: the writes, their order, and the status. */
import { expect } from 'chai';
import { NotSynced } from '../../../controllers/targetsync/reconcile.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { FINALIZER, annotations } from '../../../src/api/labels.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { KubeconfigError, ResponseTooLarge, TransportError } from '../../../src/runtime/errors.ts';
import { NOW } from '../../support/given.ts';
import { base64, KUBECONFIG, OK, refusal, TwoClusters, WISH } from './support/two-clusters.ts';

const ALL = { secretNameExpression: '*' };
const status = 'merge status TargetSync demo/sync';
const own = 'merge TargetSync demo/sync';
const toldOf = (clusters: TwoClusters) => clusters.self?.status?.lastErrors;

describe('a reconcile of a target sync', () => {
  let clusters: TwoClusters;
  beforeEach(() => {
    clusters = new TwoClusters();
  });

  it('copies secrets, creates targets, and reports success', async () => {
    clusters.sync(
      { ...ALL, createTargetToSource: true, targetToSourceName: 'hub' },
      { annotations: { ...WISH, mine: 'yes' } },
    );
    clusters.sourceSecret('prod-1', { type: 'example.org/access', data: { kubeconfig: base64('one') } });
    expect(await clusters.pass()).to.deep.equal({ write: 'none', requeueAfterMs: 300_000 });
    expect(clusters.writes).to.deep.equal([
      'create Secret demo/prod-1',
      'create Target demo/prod-1',
      'create Target demo/hub',
      status,
      own,
    ]);
    expect(clusters.here.read(secretKind, 'demo/prod-1')).to.deep.include({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'example.org/access',
      data: { kubeconfig: base64('one') },
    });
    expect(clusters.here.read(targetKind, 'demo/hub')?.spec.secretRef).to.deep.equal({
      name: 'source-access',
      key: 'kubeconfig',
    });
    expect(clusters.self?.status).to.deep.equal({ observedGeneration: 1, lastUpdateTime: NOW });
    expect(clusters.self?.metadata.annotations).to.deep.equal({ mine: 'yes' });
  });

  it('keeps an operation annotation that is not its own', async () => {
    clusters.sync(ALL, { annotations: { [annotations.operation]: 'other' } });
    await clusters.pass();
    expect(clusters.writes).to.deep.equal([status]);
  });

  it('sets its finalizer before it writes anything', async () => {
    clusters.sync(ALL, { finalizers: ['mine'] });
    clusters.sourceSecret('prod-1');
    await clusters.pass();
    expect(clusters.writes[0]).to.equal(own);
    expect(clusters.self?.metadata.finalizers).to.deep.equal(['mine', FINALIZER]);
    expect(await clusters.names(targetKind)).to.deep.equal(['prod-1']);
  });

  it('sets its finalizer if there is none', async () => {
    clusters.sync(ALL, { finalizers: undefined });
    await clusters.pass();
    expect(clusters.self?.metadata.finalizers).to.deep.equal([FINALIZER]);
  });

  it('deletes objects that are no longer wanted', async () => {
    clusters.sync(ALL);
    clusters.secret('old', { kubeconfig: 'x' }, OK);
    clusters.target('old');
    await clusters.pass();
    expect(clusters.writes.slice(0, 2)).to.deep.equal(['delete Secret demo/old', 'delete Target demo/old']);
  });

  it('writes the rest if one write is rejected, deletes nothing then, and reports all of it', async () => {
    clusters.sync({ ...ALL, createTargetToSource: true });
    for (const name of ['a', 'b', 'foreign']) clusters.sourceSecret(name);
    clusters.secret('foreign', {});
    clusters.secret('old', { kubeconfig: 'x' }, OK);
    clusters.target('old');
    clusters.here.fault = ({ verb, key }) =>
      verb === 'create' && key === 'demo/a' ? refusal(403, 'no right') : undefined;
    const error = await clusters.pass();
    expect(error).to.be.instanceOf(NotSynced).with.property('name', 'NotSynced');
    expect(await clusters.names(targetKind)).to.deep.equal(['b', 'clusters', 'old']);
    expect(clusters.writes).to.not.include('create Target demo/a');
    const told = toldOf(clusters) ?? [];
    expect(told).to.have.length(2);
    expect(told[0]).to.match(/^secret demo\/foreign was not created by a TargetSync/);
    expect(told[1]).to.contain('no right');
    expect(error).to.have.property('message', told.join('; '));
    expect(clusters.self?.metadata.annotations ?? {}).to.deep.equal({});
  });

  it('reports fifty problems, and counts the others', async () => {
    for (const count of [50, 52]) {
      clusters = new TwoClusters();
      clusters.sync(ALL);
      for (let i = 0; i < count; i++) {
        clusters.sourceSecret(`s${String(i)}`);
        clusters.secret(`s${String(i)}`, {});
      }
      await clusters.pass();
      expect(toldOf(clusters)).to.have.length(count === 50 ? 50 : 51);
      if (count > 50) expect(toldOf(clusters)?.at(-1)).to.equal('and 2 more');
    }
  });

  it('clears reported problems after a success', async () => {
    clusters.sync(ALL);
    clusters.source.unlisted.set('Secret', refusal(500, 'broken'));
    await clusters.pass();
    expect(toldOf(clusters)).to.have.length(1);
    clusters.source.unlisted.clear();
    await clusters.pass();
    expect(toldOf(clusters)).to.equal(undefined);
  });

  it('reads no content of secrets of other owners, and only its namespace of the source', async () => {
    clusters.sync(ALL);
    await clusters.pass();
    expect(clusters.here.lists).to.deep.equal([
      ['Secret', { namespace: 'demo', labels: 'landscaper.gardener.cloud/targetsync=ok' }],
      ['Secret', { namespace: 'demo', metadataOnly: true }],
    ]);
    expect(clusters.source.lists).to.deep.equal([['Secret', { namespace: 'clusters' }]]);
    clusters = new TwoClusters();
    clusters.sync({ shootNameExpression: '*' });
    await clusters.pass();
    expect(clusters.source.lists).to.deep.equal([['Shoot', { namespace: 'clusters' }]]);
  });

  it('removes the request even if the object has changed meanwhile', async () => {
    clusters.sync(ALL);
    let isFirst = true;
    clusters.here.fault = ({ verb, sub, kind }) => {
      if (verb !== 'merge' || sub || kind !== 'TargetSync' || !isFirst) return undefined;
      isFirst = false;
      return refusal(409, 'changed', 'Conflict');
    };
    expect(await clusters.pass()).to.include({ write: 'none' });
    expect(clusters.self?.metadata.annotations ?? {}).to.deep.equal({});
  });

  it('fails with an error that can only be a bug, which is not in the status', async () => {
    clusters.sync(ALL);
    const bug = new TypeError('x is undefined');
    clusters.source.unlisted.set('Secret', bug);
    expect(await clusters.pass()).to.equal(bug);
    expect(clusters.writes).to.deep.equal([]);
  });
});

describe('a target sync that cannot start', () => {
  const tooLarge = new ResponseTooLarge({ message: 'too large', excess: 'bytes', isFinal: true });
  const rows: readonly (readonly [string, object, (clusters: TwoClusters) => void, RegExp])[] = [
    ['both expressions', { ...ALL, shootNameExpression: '*' }, () => undefined, /with both, secretNameExpression and shootNameExpression/],
    ['no source namespace', { ...ALL, sourceNamespace: '' }, () => undefined, /^sourceNamespace is empty$/],
    ['another one in the namespace', ALL, (c) => c.sync({}, {}, 'second'), /^more than one TargetSync object in the same namespace/],
    ['an access that is not there', { ...ALL, secretRef: { name: 'gone', key: 'x' } }, () => undefined, /^secret demo\/gone not found/],
    ['an invalid kubeconfig', ALL, (c) => (c.unopened = new KubeconfigError({ message: 'no cluster' })), /^no cluster$/],
    ['a source that cannot be reached', ALL, (c) => c.source.unlisted.set('Secret', new TransportError({ message: 'reset', safeToRepeat: true })), /^reset$/],
    ['a source that answers too much', ALL, (c) => c.source.unlisted.set('Secret', tooLarge), /^too large$/],
    ['a source that refuses', ALL, (c) => c.source.unlisted.set('Secret', refusal(403, 'no right')), /the source cluster from secret demo\/source-access answered: no right/],
    ['an invalid expression', { secretNameExpression: '(' }, () => undefined, /^invalid regular expression to filter names: \($/],
    ['an invalid expression for shoots', { shootNameExpression: '(' }, () => undefined, /^invalid regular expression to filter names: \($/],
    ['a source without shoots', { shootNameExpression: '*' }, (c) => c.source.unlisted.set('Shoot', refusal(404, 'no', 'NotFound')), /^the source cluster does not serve the kind Shoot/],
    ['a source whose shoots may not be read', { shootNameExpression: '*' }, (c) => c.source.unlisted.set('Shoot', refusal(403, 'no right')), /no right/],
    ['a token that is not issued', { ...ALL, tokenRotation: { enabled: true } }, (c) => c.source.answers.set('/api/v1/namespaces/clusters/serviceaccounts/reader/token', {}), /^the source cluster issued no token for service account clusters\/reader$/],
    ['a kubeconfig whose token cannot be renewed', { ...ALL, tokenRotation: { enabled: true }, secretRef: { name: 'other', key: 'kubeconfig' } }, (c) => c.secret('other', { kubeconfig: '{}' }), /^the token cannot be rotated/],
  ]; // prettier-ignore
  for (const [what, spec, prepare, sentence] of rows) {
    it(`because of ${what} reports it, keeps existing objects, and retries`, async () => {
      const clusters = new TwoClusters();
      clusters.sync(spec);
      prepare(clusters);
      clusters.target('old');
      expect(await clusters.pass()).to.be.instanceOf(NotSynced);
      expect(toldOf(clusters)).to.have.length(1);
      expect(toldOf(clusters)?.[0]).to.match(sentence);
      expect(clusters.self?.status).to.include({ lastUpdateTime: NOW, observedGeneration: 1 });
      expect(clusters.writes).to.deep.equal([status, own]);
    });
  }
});

describe('the rotation of the token for the source cluster', () => {
  const PATH = '/api/v1/namespaces/clusters/serviceaccounts/reader/token';
  const enabled = { ...ALL, tokenRotation: { enabled: true } };
  const given = (meta: object = {}): TwoClusters => {
    const clusters = new TwoClusters();
    clusters.sync(enabled, { annotations: {}, ...meta });
    clusters.source.answers.set(PATH, { status: { token: 'new' } });
    return clusters;
  };

  it('requests a token of 90 days, and continues with it after it is stored', async () => {
    const clusters = given();
    await clusters.pass();
    expect(clusters.source.asked).to.deep.equal([
      {
        path: `POST ${PATH}`,
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: 90 * 24 * 3_600 },
        },
      },
    ]);
    expect(clusters.writes).to.deep.equal(['merge Secret demo/source-access', status, status]);
    const [before, after] = clusters.opened;
    expect(before).to.equal(KUBECONFIG);
    expect(parseYaml(after ?? '')).to.deep.equal({ users: [{ name: 'reader', user: { token: 'new' } }] });
    expect(clusters.here.read(secretKind, 'demo/source-access')?.data).to.deep.equal({
      kubeconfig: base64(after ?? ''),
    });
    expect(clusters.self?.status).to.include({ lastTokenRotationTime: NOW, lastUpdateTime: NOW });
  });

  it('is not repeated in the next reconcile', async () => {
    const clusters = given();
    await clusters.pass();
    await clusters.pass();
    expect(clusters.source.asked).to.have.length(1);
    expect(clusters.opened).to.have.length(3);
  });

  it('is due if there is no annotation yet', async () => {
    const clusters = given({ annotations: undefined });
    expect(await clusters.pass()).to.include({ write: 'none' });
    expect(clusters.source.asked).to.have.length(1);
  });

  it('is repeated on request, and the request is removed', async () => {
    const clusters = given({ annotations: { [annotations.rotateToken]: 'please', mine: 'yes' } });
    await clusters.pass();
    expect(clusters.self?.metadata.annotations).to.deep.equal({ mine: 'yes' });
  });

  for (const answer of [{}, { status: {} }, { status: { token: '' } }, { status: { token: 7 } }]) {
    it(`keeps the existing token if the response is ${JSON.stringify(answer)}`, async () => {
      const clusters = given();
      clusters.source.answers.set(PATH, answer);
      expect(await clusters.pass()).to.be.instanceOf(NotSynced);
      expect(clusters.writes).to.deep.equal([status]);
    });
  }
});

describe('a target sync that is deleted', () => {
  const given = (): TwoClusters => {
    const clusters = new TwoClusters();
    clusters.sync({ ...ALL }, { finalizers: ['mine', FINALIZER] });
    clusters.secret('prod-1', { kubeconfig: 'x' }, OK);
    clusters.target('prod-1');
    clusters.secret('foreign', {});
    return clusters;
  };
  const leave = (clusters: TwoClusters): Promise<unknown> => {
    clusters.here.remove(targetSyncKind, 'demo/sync');
    return clusters.pass();
  };

  it('deletes the objects it has created, and then its finalizer', async () => {
    const clusters = given();
    await leave(clusters);
    expect(clusters.writes).to.deep.equal(['delete Secret demo/prod-1', 'delete Target demo/prod-1', own]);
    expect(await clusters.names(secretKind)).to.deep.equal(['foreign', 'source-access']);
    expect(clusters.self?.metadata.finalizers).to.deep.equal(['mine']);
    expect(clusters.opened).to.deep.equal([]);
  });

  it('leaves all of them to another target sync of the namespace', async () => {
    const clusters = given();
    clusters.sync({}, {}, 'second');
    await leave(clusters);
    expect(clusters.writes).to.deep.equal([own]);
    expect(clusters.self?.metadata.finalizers).to.deep.equal(['mine']);
  });

  it('stays until all are deleted, and reports why', async () => {
    const clusters = given();
    clusters.here.fault = ({ verb, kind }) =>
      verb === 'delete' && kind === 'Target' ? refusal(403, 'no right') : undefined;
    const error = await leave(clusters);
    expect(error).to.be.instanceOf(NotSynced);
    expect(clusters.self?.metadata.finalizers).to.deep.equal(['mine', FINALIZER]);
    expect(toldOf(clusters)?.join()).to.contain('no right');
    expect(error).to.have.property('message', toldOf(clusters)?.join('; '));
  });

  it('is left alone once it has lost its finalizer', async () => {
    const clusters = new TwoClusters();
    clusters.sync(ALL, { finalizers: ['mine'] });
    clusters.target('prod-1');
    await leave(clusters);
    expect(clusters.writes).to.deep.equal([]);
  });
});

describe('the source of a target sync', () => {
  const rows: readonly (readonly [string, object, readonly string[]])[] = [
    ['returns the secrets with matching names', { secretNameExpression: '^prod' }, ['prod-1', 'prod-2']],
    ['is a target under its own name', { createTargetToSource: true, targetToSourceName: 'hub' }, ['hub']],
    ['is a target named like its namespace by default', { createTargetToSource: true }, ['clusters']],
    ['is not a target if that is not wanted', { targetToSourceName: 'hub' }, []],
  ];
  for (const [title, spec, names] of rows) {
    it(title, async () => {
      const clusters = new TwoClusters();
      clusters.sync(spec);
      for (const name of ['prod-1', 'prod-2', 'test']) clusters.sourceSecret(name);
      clusters.source.put(secretKind, { metadata: { name: 'prod-3', namespace: 'other' } });
      await clusters.pass();
      expect(await clusters.names(targetKind)).to.deep.equal(names);
    });
  }

  it('may have secrets without type and data', async () => {
    const clusters = new TwoClusters();
    clusters.sync(ALL);
    clusters.sourceSecret('bare');
    await clusters.pass();
    expect(clusters.here.read(secretKind, 'demo/bare')).to.deep.include({ type: 'Opaque', data: {} });
  });
});
