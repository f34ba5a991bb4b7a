/** The writes of a deployer: its item, and secrets besides it. */
import { expect } from 'chai';
import { hostApi } from '../../../../deployers/sdk/host.ts';
import type { DeployItem } from '../../../../deployers/sdk/kinds.ts';
import { ItemChanged, Session } from '../../../../deployers/sdk/session.ts';
import { createTokens } from '../../../../deployers/sdk/tokens.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import type { Client, View, Write, Writer } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { LS } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

const FINALIZER = 'finalizer.landscaper.gardener.cloud';
const never = new AbortController().signal;
const itemOf = (metadata: object = {}, status?: object): View<DeployItem> =>
  ({
    apiVersion: `${LS}/v1alpha1`,
    kind: 'DeployItem',
    spec: { type: 'x/y' },
    metadata: { name: 'web', namespace: 'proj', uid: 'u', resourceVersion: '7', ...metadata },
    ...(status && { status }),
  }) as View<DeployItem>;
const refusal = (status: number): Error =>
  apiErrorFrom(status, { message: 'no' }, { verb: 'merge', kind: 'DeployItem' });

function sessionOf(item: View<DeployItem>, error?: unknown) {
  const sent: Write[] = [];
  const answered = itemOf({ resourceVersion: '8' });
  const write = ((w: Write) => {
    sent.push(w);
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- anything may be thrown
    return error === undefined ? Promise.resolve(answered) : Promise.reject(error);
  }) as unknown as Writer;
  return { session: new Session(item, { write, signal: never }), sent, answered };
}

describe('the item during a reconcile', () => {
  it('is written with its differences, for the version that was read', async () => {
    const { session, sent, answered } = sessionOf(itemOf({}, { observedGeneration: 1, phase: 'Init' }));
    await session.writeStatus({ observedGeneration: 1, phase: 'Init' });
    expect(sent).to.deep.equal([]);
    await session.writeStatus({ observedGeneration: 1, phase: 'Progressing' });
    expect(sent).to.have.length(1);
    expect(sent[0]).to.deep.include({
      verb: 'merge',
      key: 'proj/web',
      lock: true,
      sub: 'status',
      body: { status: { phase: 'Progressing' }, metadata: { resourceVersion: '7' } },
    });
    expect(session.item).to.equal(answered);
    expect(session.failure).to.equal(undefined);
  });

  const bodies: readonly (readonly [
    string,
    object,
    (session: Session) => Promise<void>,
    object | undefined,
  ])[] = [
    [
      'gets its finalizer besides others',
      { finalizers: ['a/b'] },
      (s) => s.addFinalizer(),
      { finalizers: ['a/b', FINALIZER] },
    ],
    ['gets its finalizer', {}, (s) => s.addFinalizer(), { finalizers: [FINALIZER] }],
    ['keeps its finalizer', { finalizers: [FINALIZER] }, (s) => s.addFinalizer(), undefined],
    [
      'loses its finalizer and no other',
      { finalizers: [FINALIZER, 'a/b'] },
      (s) => s.removeFinalizer(),
      { finalizers: ['a/b'] },
    ],
    ['has no finalizer to remove', { finalizers: ['a/b'] }, (s) => s.removeFinalizer(), undefined],
    ['has no finalizers at all', {}, (s) => s.removeFinalizer(), undefined],
    ['loses an annotation', {}, (s) => s.removeAnnotation('k'), { annotations: { k: null } }],
  ];
  for (const [title, metadata, write, body] of bodies) {
    it(title, async () => {
      const { session, sent } = sessionOf(itemOf(metadata));
      await write(session);
      expect(sent.map((each) => ('body' in each ? each.body : undefined))).to.deep.equal(
        body ? [{ metadata: { ...body, resourceVersion: '7' } }] : [],
      );
      expect(sent.every((each) => each.sub === undefined)).to.equal(true);
    });
  }

  for (const [status, isGone] of [
    [409, false],
    [404, true],
  ] as const) {
    it(`is ${isGone ? 'gone' : 'changed meanwhile'} if a write is answered with ${String(status)}`, async () => {
      const { session } = sessionOf(itemOf(), refusal(status));
      const error = await session.addFinalizer().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ItemChanged).with.property('isGone', isGone);
      expect(session.failure).to.equal(error);
    });
  }

  it('fails with any other error unchanged', async () => {
    const refused = refusal(500);
    const { session } = sessionOf(itemOf(), refused);
    expect(await session.addFinalizer().catch((thrown: unknown) => thrown)).to.equal(refused);
    const odd = sessionOf(itemOf(), 'odd').session;
    expect(await odd.addFinalizer().catch((thrown: unknown) => thrown)).to.have.property('message', 'odd');
  });
});

describe('objects that a plugin may read and delete besides its item', () => {
  function given() {
    const host = new FakeCluster('proj');
    const put = (kind: string, name: string, more: object, metadata: object = {}) =>
      host.put({ apiVersion: 'v1', kind, metadata: { name, namespace: 'proj', ...metadata }, ...more });
    return { host, put, api: hostApi(host, itemOf(), never) };
  }

  it('include secrets and config maps', async () => {
    const { api, put } = given();
    put('Secret', 's', { data: { a: 'eMOk' } });
    put('Secret', 'empty', {});
    put('ConfigMap', 'c', { data: { a: 'x' } });
    put('ConfigMap', 'empty', {});
    expect([await api.secret('s'), await api.secret('empty'), await api.secret('gone')]).to.deep.equal([
      { a: 'xä' },
      {},
      undefined,
    ]);
    expect([
      await api.configMap('c'),
      await api.configMap('empty'),
      await api.configMap('gone'),
    ]).to.deep.equal([{ a: 'x' }, {}, undefined]);
  });

  it('are secrets that the item owns, and no others', async () => {
    const { api, put, host } = given();
    put(
      'Secret',
      'own',
      {},
      { ownerReferences: [{ apiVersion: `${LS}/v1alpha1`, kind: 'DeployItem', name: 'web', uid: 'u' }] },
    );
    put('Secret', 'other', {});
    for (const name of ['own', 'other', 'gone']) await api.deleteSecret(name);
    expect(host.names('Secret')).to.deep.equal(['proj/other']);
  });

  for (const [status, isFailure] of [
    [404, false],
    [409, false],
    [403, true],
  ] as const) {
    it(`${isFailure ? 'fail' : 'are treated as deleted'} if a secret cannot be deleted because of ${String(status)}`, async () => {
      const { api, put, host } = given();
      put('Secret', 'own', {}, { ownerReferences: [{ apiVersion: 'x', kind: 'Y', name: 'z', uid: 'u' }] });
      host.fail = (verb) => {
        if (verb === 'delete') throw refusal(status);
      };
      const failure: unknown = await api.deleteSecret('own').catch((error: unknown) => error);
      expect(failure instanceof Error).to.equal(isFailure);
    });
  }
});

describe('tokens of a host', () => {
  const request = { namespace: 'proj', account: 'deploy', expirationSeconds: 3600 };

  function given(answer: unknown) {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    const asked: unknown[][] = [];
    const raw = (...parts: unknown[]) => {
      asked.push(parts.slice(0, 3));
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    return { clock, asked, tokens: createTokens({ raw } as unknown as Client, clock) };
  }

  it('are requested with lifetime and audiences', async () => {
    const { tokens, asked } = given({ status: { token: 't' } });
    expect(await tokens.of({ ...request, audiences: ['a'] }, never)).to.equal('t');
    await tokens.of(request, never);
    const body = (spec: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
    const path = '/api/v1/namespaces/proj/serviceaccounts/deploy/token';
    expect(asked).to.deep.equal([
      ['POST', path, body({ expirationSeconds: 3600, audiences: ['a'] })],
      ['POST', path, body({ expirationSeconds: 3600 })],
    ]);
  });

  it('live as long as requested if the server does not say', async () => {
    const { tokens, asked, clock } = given({ status: { token: 't', expirationTimestamp: 'soon' } });
    await tokens.of(request, never);
    await clock.advance(3600_000 * 0.8 - 1);
    await tokens.of(request, never);
    expect(asked).to.have.length(1);
    await clock.advance(1);
    await tokens.of(request, never);
    expect(asked).to.have.length(2);
  });

  it('are not retried if they were rejected right after they were issued', async () => {
    const { tokens, asked, clock } = given({ status: { token: 't' } });
    expect(tokens.forget(request.namespace)).to.equal(false);
    await tokens.of(request, never);
    await clock.advance(4_999);
    expect(tokens.forget(request.namespace)).to.equal(false);
    await tokens.of(request, never);
    expect(asked).to.have.length(2);
    await clock.advance(5_000);
    await tokens.of({ ...request, account: 'other' }, never);
    expect(tokens.forget(request.namespace), 'one of two is old').to.equal(true);
  });

  for (const [title, answer, message] of [
    ['refused', new Error('no right'), 'unable to create token for service account proj/deploy: no right'],
    ['missing in the response', { status: {} }, 'the host cluster issued no token for proj/deploy'],
    ['missing in an invalid response', 'x', 'the host cluster issued no token for proj/deploy'],
  ] as const) {
    it(`that are ${title} are retried`, async () => {
      const error = await given(answer)
        .tokens.of(request, never)
        .catch((thrown: unknown) => thrown);
      expect(error).to.deep.include({ operation: 'TargetAccess', reason: 'ensureTargetAccess' });
      expect(error).to.have.property('name', 'RetryError');
      expect(error).to.have.property('message', message);
    });
  }
});
