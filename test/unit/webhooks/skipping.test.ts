/** The label that skips validation: who may use it, and what the API server is asked. */
import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { apiErrorFrom, Forbidden } from '../../../src/runtime/errors.ts';
import { webhookConfiguration } from '../../../src/webhooks/configuration.ts';
import { review } from '../../../src/webhooks/review.ts';
import {
  REMEMBER_MS,
  skipRights,
  SkipRightUnknown,
  type MaySkip,
  type SkipQuestion,
} from '../../../src/webhooks/skip-rights.ts';
import { reviewLabelled } from '../../../src/webhooks/skipping.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { target } from '../../support/broken.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

const LABEL = { [labels.skipValidation]: 'true' };
const labelled = (object: Obj): Obj => ({ ...object, metadata: { ...object.metadata, labels: LABEL } });
const valid = target('t', { config: 1 });
const invalid = target('t', { config: 1, secretRef: { name: 's' } });
const otherInvalid = target('t', { config: 2, secretRef: { name: 's' } });

describe('an object with the label that skips validation', () => {
  const alice = { username: 'alice', groups: ['tenants'] };

  async function judged(request: object, maySkip: boolean | Error) {
    const asked: SkipQuestion[] = [];
    const right: MaySkip = (user, question) => {
      expect(user).to.equal(alice);
      asked.push(question);
      return typeof maySkip === 'boolean' ? Promise.resolve(maySkip) : Promise.reject(maySkip);
    };
    const body = {
      request: { uid: 'u', operation: 'CREATE', namespace: 'demo', name: 't', userInfo: alice, ...request },
    };
    const { log, lines } = recordingLogger();
    const { answer } = await reviewLabelled('targets', body, { maySkip: right, check: review, log });
    return { ...answer, asked: asked.length, first: asked[0], lines };
  }
  const change = (oldObject: Obj, object: Obj) => ({ operation: 'UPDATE', oldObject, object });

  it('is not validated if the user has the right, and the log says so', async () => {
    const { allowed, first, lines } = await judged({ object: labelled(invalid) }, true);
    expect(allowed).to.equal(true);
    expect(first).to.deep.equal({ resource: 'targets', namespace: 'demo', name: 't' });
    expect(lines).to.deep.equal([
      {
        level: 'info',
        message: 'validation skipped',
        fields: { resource: 'targets', namespace: 'demo', name: 't', user: 'alice' },
      },
    ]);
    expect((await judged(change(invalid, labelled(invalid)), true)).allowed).to.equal(true);
    expect((await judged(change(labelled(invalid), labelled(otherInvalid)), true)).allowed).to.equal(true);
  });

  const DENIAL =
    'the label "validation.landscaper.gardener.cloud/skip-validation: true" has an effect only for users with permission for the verb skip-validation on targets.landscaper.gardener.cloud in namespace "demo", which user "alice" does not have; remove the label, or ask an administrator to apply the object or to grant you this verb';

  it('is denied without the right, even if it is valid, when it gets the label', async () => {
    for (const request of [
      { object: labelled(valid) },
      { object: labelled(invalid) },
      change(valid, labelled(valid)),
      change(target('t', {}), labelled(invalid)),
    ]) {
      const { status } = await judged(request, false);
      expect(status).to.deep.equal({ code: 403, reason: 'Forbidden', message: DENIAL });
    }
  });

  it('is validated without the right if its content changes later', async () => {
    const { status } = await judged(change(labelled(invalid), labelled(otherInvalid)), false);
    expect(status?.code).to.equal(403);
    expect(status?.message).to.equal(
      `spec: Invalid value: either config or secretRef may be set, not both; ${DENIAL}`,
    );
    expect((await judged(change(labelled(invalid), labelled(valid)), false)).allowed).to.equal(true);
  });

  it('is not validated if only its metadata changes: controllers write finalizers and annotations', async () => {
    const after = labelled(invalid);
    const changed = { ...after, metadata: { ...after.metadata, finalizers: ['a/b'] } };
    const { allowed, asked } = await judged(change(labelled(invalid), changed), false);
    expect([allowed, asked]).to.deep.equal([true, 0]);
  });

  it('is denied if the right cannot be determined, with the reason', async () => {
    const { status, lines } = await judged({ object: labelled(valid) }, new SkipRightUnknown('it is down'));
    expect(status).to.deep.equal({
      code: 503,
      reason: 'ServiceUnavailable',
      message: `cannot determine whether user "alice" may use the label "${labels.skipValidation}: true": it is down; retry later, or remove the label`,
    });
    expect(lines.map(({ level }) => level)).to.deep.equal(['warn']);
  });

  it('is validated as others with another value, without the label, and when it loses it', async () => {
    const other = {
      ...invalid,
      metadata: { ...invalid.metadata, labels: { [labels.skipValidation]: 'yes' } },
    };
    for (const request of [{ object: other }, { object: invalid }, change(labelled(invalid), invalid)]) {
      const { allowed, asked } = await judged(request, true);
      expect([allowed, asked]).to.deep.equal([false, 0]);
    }
  });

  it('may be deleted by everyone', async () => {
    const metadata = { ...labelled(invalid).metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const { allowed, asked } = await judged(change(invalid, { ...invalid, metadata }), false);
    expect([allowed, asked]).to.deep.equal([true, 0]);
  });

  it('is sent to the server, unless the label has an effect for all', () => {
    const selector = (skipping?: 'admins' | 'all') =>
      (
        webhookConfiguration({ url: new URL('https://a') }, ['targets'], '', { skipping }).webhooks?.[0] as {
          objectSelector: object;
        }
      ).objectSelector;
    expect(selector()).to.deep.equal({});
    expect(selector('admins')).to.deep.equal({});
    expect(selector('all')).to.deep.equal({
      matchExpressions: [{ key: labels.skipValidation, operator: 'NotIn', values: ['true'] }],
    });
  });
});

describe('the right to skip validation', () => {
  const question = { resource: 'targets', namespace: 'demo', name: 't' } as const;
  const alice = { username: 'alice', uid: 'a1', groups: ['tenants'], extra: { scopes: ['x'] } };
  let clock: FakeClock;
  let asked: unknown[];
  let answer: () => Promise<unknown>;
  let maySkip: MaySkip;
  beforeEach(() => {
    [clock, asked] = [new FakeClock(), []];
    answer = () => Promise.resolve({ status: { allowed: true } });
    const raw: Client['raw'] = (method, path, body, signal) => {
      asked.push([method, path, body]);
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
      return Promise.race([answer(), aborted]);
    };
    maySkip = skipRights({ client: { raw }, clock });
  });
  const failure = async (): Promise<unknown> =>
    maySkip(alice, question).then(
      () => undefined,
      (error: unknown) => error,
    );

  it('is asked for with the user as the API server described it', async () => {
    expect(await maySkip(alice, question)).to.equal(true);
    expect(asked).to.deep.equal([
      [
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SubjectAccessReview',
          spec: {
            user: 'alice',
            uid: 'a1',
            groups: ['tenants'],
            extra: { scopes: ['x'] },
            resourceAttributes: {
              group: 'landscaper.gardener.cloud',
              resource: 'targets',
              verb: 'skip-validation',
              namespace: 'demo',
              name: 't',
            },
          },
        },
      ],
    ]);
    answer = () => Promise.resolve({ status: { allowed: false } });
    expect(await maySkip(undefined, { ...question, name: '' })).to.equal(false);
    expect(asked[1]).to.have.nested.property('[2].spec.user', '');
    expect(asked[1]).not.to.have.nested.property('[2].spec.resourceAttributes.name');
  });

  it('belongs to system:masters without a question, but not to a user of this name', async () => {
    expect(await maySkip({ username: 'root', groups: ['system:masters'] }, question)).to.equal(true);
    expect(asked).to.deep.equal([]);
    answer = () => Promise.resolve({ status: { allowed: false } });
    expect(await maySkip({ username: 'system:masters', groups: [] }, question)).to.equal(false);
  });

  it('is remembered for ten seconds, for this user and object', async () => {
    await Promise.all([maySkip(alice, question), maySkip(alice, question)]);
    answer = () => Promise.resolve({ status: { allowed: false } });
    await clock.advance(REMEMBER_MS - 1);
    expect(await maySkip(alice, question)).to.equal(true);
    expect(asked).to.have.length(1);
    expect(await maySkip({ ...alice, username: 'bob' }, question)).to.equal(false);
    expect(await maySkip(alice, { ...question, namespace: 'other' })).to.equal(false);
    expect(await maySkip(alice, { ...question, resource: 'executions' })).to.equal(false);
    expect(await maySkip({ ...alice, extra: {} }, question)).to.equal(false);
    await clock.advance(1);
    expect(await maySkip(alice, question)).to.equal(false);
  });

  it('is remembered for a limited number of users', async () => {
    for (let i = 0; i <= 1_000; i++) await maySkip({ ...alice, username: `u${String(i)}` }, question);
    await maySkip({ ...alice, username: 'u1' }, question);
    expect(asked).to.have.length(1_001);
    await maySkip({ ...alice, username: 'u0' }, question);
    expect(asked).to.have.length(1_002);
  });

  it('is asked for again after a failure, which names the missing permission of the webhooks', async () => {
    answer = () => Promise.reject(apiErrorFrom(503, {}, { verb: 'create', kind: 'X' }));
    expect(await failure()).to.be.instanceOf(SkipRightUnknown);
    answer = () => Promise.reject(apiErrorFrom(403, { reason: 'Forbidden' }, { verb: 'create', kind: 'X' }));
    const error = await failure();
    expect((error as Error).cause).to.be.instanceOf(Forbidden);
    expect(error)
      .to.have.property('message')
      .that.contains('permission to create subjectaccessreviews.authorization.k8s.io');
    answer = () => Promise.resolve('no decision');
    expect(await failure()).to.have.property('message', 'the API server answered without a decision');
    answer = () => Promise.resolve({ status: { allowed: true } });
    expect(await maySkip(alice, question)).to.equal(true);
  });

  it('is not waited for longer than five seconds', async () => {
    answer = () => new Promise(() => undefined);
    const failed = failure();
    let isOver = false;
    void failed.then(() => (isOver = true));
    await clock.advance(4_999);
    await settle(50);
    expect(isOver).to.equal(false);
    await clock.advance(1);
    expect(await failed).to.have.property('message', 'the API server did not answer within 5 s');
  });
});
