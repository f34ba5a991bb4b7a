/** Dependents on a cluster, one by one: their reads, their writes, and their errors. */
import { expect } from 'chai';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Context, Kind, Obj, View, Write } from '../../../src/runtime/types.ts';
import { kubernetes, readOnly, type KubernetesSpec } from '../../../src/workflow/kubernetes.ts';
import { FakeClock } from '../../support/clock.ts';
import { parts, type Part, type Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const owned = {
  ownerReferences: [
    {
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      name: 'a',
      uid: 'uid-a',
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
};
const named = {
  annotations: {
    'espalier.dev/primary-name': 'a',
    'espalier.dev/primary-type': 'Widget.example.io',
    'espalier.dev/primary-namespace': 'ns',
  },
};
const part = (metadata: object = {}, data: Record<string, string> = { x: '1' }): Part => ({
  apiVersion: 'example.io/v1',
  kind: 'Part',
  metadata: { namespace: 'ns', name: 'p', ...metadata },
  data,
});
const refused = (status: number, reason: string) =>
  apiErrorFrom(status, { reason }, { verb: 'x', kind: 'Part' });
const exists = refused(409, 'AlreadyExists');
const conflict = refused(409, 'Conflict');

const dependent = (more: Partial<KubernetesSpec<Part, Widget>> = {}) =>
  kubernetes<Part, Widget>({
    kind: parts,
    ssa: false,
    desired: () => ({ metadata: { name: 'p' }, data: { x: '1' } }),
    ...more,
  });

/**
 * A reconcile in which each write is answered by the next error or by the sent object, and reads that bypass the
 * cache by `live`.
 */
function runWith({
  answers = [],
  live = [],
  cached = [],
}: {
  readonly answers?: readonly (Error | undefined)[];
  readonly live?: readonly (Part | undefined)[];
  readonly cached?: readonly View<Part>[];
} = {}) {
  const requests: string[] = [];
  const sent: Part[] = [];
  const [nextAnswers, nextLive] = [[...answers], [...live]];
  const ctx = contextOn(new FakeClock(), {
    secondaries: () => cached as never,
    write(write) {
      const request = write as unknown as Write<Part>;
      const object = 'object' in request ? request.object : part();
      requests.push(request.verb);
      sent.push(object);
      const error = nextAnswers.shift();
      return error ? Promise.reject(error) : Promise.resolve(object as never);
    },
    live: {
      get(_kind, key) {
        requests.push(`get ${key}`);
        const found = nextLive.shift();
        return found ? Promise.resolve(found as never) : Promise.reject(refused(404, 'NotFound'));
      },
      list: () => expect.fail('nothing is listed'),
    },
  });
  return { ctx, requests, sent };
}
const create = (ctx: Context<Widget>, use = dependent(), wish = part(owned)) =>
  Promise.resolve(use.create?.(wish, primary, ctx)).catch((error: unknown) => error);
const update = (ctx: Context<Widget>, from: Part, use = dependent()) =>
  Promise.resolve(use.update?.(from, part(owned), primary, ctx)).catch((error: unknown) => error);

describe('the desired object of a dependent on a cluster', () => {
  const desired = (more: Partial<KubernetesSpec<Part, Widget>>) =>
    Promise.resolve(dependent(more).desired?.(primary, contextOn(new FakeClock())));
  it('has kind, namespace and owner by default', async () => {
    expect(await desired({})).to.deep.equal(part(owned));
  });
  it('keeps its namespace if it has one', async () => {
    const wish = { metadata: { namespace: 'elsewhere', name: 'p' }, data: {} };
    expect(await desired({ gc: false, desired: () => wish })).to.deep.equal(
      part({ namespace: 'elsewhere', ...named }, {}),
    );
  });
  it('has no namespace if its kind has none', async () => {
    const kind: Kind<Part> = { ...parts, namespaced: false };
    const wish = await desired({ kind, gc: false });
    expect(wish?.metadata).to.deep.equal({ name: 'p', ...named });
  });
  it('may contain parts of the primary, which are read-only', async () => {
    interface Job extends Obj {
      spec: { args: string[] };
    }
    const args = Object.freeze(['a']) as string[];
    const job = { ...primary, spec: { args } } as View<Job>;
    const use = kubernetes<Job, Job>({
      kind: parts as never,
      desired: ({ spec }) => ({ metadata: { name: 'p' }, spec: { args: spec.args } }),
    });
    const wish = await use.desired?.(job, contextOn(new FakeClock()) as never);
    expect(wish?.spec.args).to.deep.equal(['a']);
  });
  it('may be YAML', async () => {
    const text = 'metadata:\n  name: p\ndata:\n  x: "1"\n';
    expect(await desired({ desired: () => text })).to.deep.equal(part(owned));
  });
  for (const text of ['', 'word', '3']) {
    it(`cannot be YAML of ${text === '' ? 'nothing' : text}`, async () => {
      const error: unknown = await desired({ desired: () => text }).catch((failure: unknown) => failure);
      expect(String(error)).to.include('the YAML of Part is not an object');
    });
  }
});

describe('a dependent on a cluster', () => {
  it('is named after its kind', () => {
    expect(dependent().name).to.equal('part');
    expect(dependent({ name: 'own' }).name).to.equal('own');
  });
  it('has only the traits of its class', () => {
    const methods = (use: object) => ['create', 'update', 'delete'].filter((name) => name in use);
    expect(methods(dependent())).to.deep.equal(['create', 'update', 'delete']);
    expect(methods(dependent({ can: ['update'] }))).to.deep.equal(['update']);
    expect(methods(readOnly<Part, Widget>({ kind: parts }))).to.deep.equal([]);
  });
  for (const [title, use, gc] of [
    ['is garbage collected with its primary', dependent(), true],
    ['is not garbage collected on request', dependent({ gc: false }), false],
    ['is not garbage collected if it is only read', readOnly<Part, Widget>({ kind: parts }), false],
  ] as const) {
    it(title, () => {
      expect(use.gc).to.equal(gc);
    });
  }
  it('is watched unless it is read live or is in another cluster', () => {
    expect(dependent()).to.include.keys('source', 'createSource');
    expect(dependent({ reader: 'live' })).not.to.include.any.keys('source', 'createSource');
    expect(dependent({ client: () => expect.fail() })).not.to.include.any.keys('source', 'createSource');
  });
});

describe('the creation of an object', () => {
  it('is one request', async () => {
    const { ctx, requests, sent } = runWith();
    expect(await create(ctx)).to.deep.equal(part(owned));
    expect([requests, sent]).to.deep.equal([['create'], [part(owned)]]);
  });
  it('fails at once if the server rejects the object', async () => {
    const refusal = refused(422, 'Invalid');
    const { ctx, requests } = runWith({ answers: [refusal] });
    expect([await create(ctx), requests]).to.deep.equal([refusal, ['create']]);
  });
  for (const [title, use, mark] of [
    ['that it owns', dependent(), owned],
    ['whose annotations name it', dependent({ gc: false }), named],
    ['of another owner if it adopts', dependent({ adopt: true }), {}],
  ] as const) {
    it(`does not write an equal object ${title}`, async () => {
      const found = part({ uid: 'u', ...mark });
      const { ctx, requests } = runWith({ answers: [exists], live: [found] });
      expect(await create(ctx, use)).to.equal(found);
      expect(requests).to.deep.equal(['create', 'get ns/p']);
    });
    it(`updates a different object ${title}`, async () => {
      const found = part({ uid: 'u', resourceVersion: '7', ...mark }, { x: 'old' });
      const { ctx, requests, sent } = runWith({ answers: [exists], live: [found] });
      await create(ctx, use);
      expect(requests).to.deep.equal(['create', 'get ns/p', 'replace']);
      expect(sent[1]).to.deep.include({ data: { x: '1' } });
      expect(sent[1]?.metadata).to.include({ uid: 'u', resourceVersion: '7' });
    });
  }
  for (const [title, use, mark] of [
    ['without an owner', dependent(), {}],
    ['of another owner', dependent(), { ownerReferences: [{ ...owned.ownerReferences[0], uid: 'other' }] }],
    ['with annotations of another primary', dependent(), named],
  ] as const) {
    it(`does not overwrite an object ${title}`, async () => {
      const { ctx, requests } = runWith({ answers: [exists], live: [part({ uid: 'u', ...mark })] });
      expect(String(await create(ctx, use))).to.include(
        'dependent "part" of Widget ns/a: Part ns/p already exists and does not belong to this primary; set adopt',
      );
      expect(requests).to.deep.equal(['create', 'get ns/p']);
    });
  }
  it('is repeated if the object was deleted meanwhile', async () => {
    const { ctx, requests } = runWith({ answers: [exists], live: [undefined] });
    expect(await create(ctx)).to.deep.equal(part(owned));
    expect(requests).to.deep.equal(['create', 'get ns/p', 'create']);
  });
  it('gives up after three conflicts', async () => {
    const last = refused(409, 'Conflict');
    const { ctx, requests } = runWith({ answers: [exists, exists, last] });
    expect(await create(ctx)).to.equal(last);
    expect(requests).to.deep.equal(['create', 'get ns/p', 'create', 'get ns/p', 'create']);
  });
  it('ends with the first rejection that is not a conflict', async () => {
    const refusal = refused(403, 'Forbidden');
    const { ctx, requests } = runWith({ answers: [exists, refusal] });
    expect(await create(ctx)).to.equal(refusal);
    expect(requests).to.deep.equal(['create', 'get ns/p', 'create']);
  });
});

describe('the update of an object', () => {
  const old = part({ uid: 'u', resourceVersion: '7' }, { x: 'old' });
  it('is one request', async () => {
    const { ctx, requests } = runWith();
    await update(ctx, old);
    expect(requests).to.deep.equal(['replace']);
  });
  it('is repeated with the object that caused a conflict, whichever owner it has now', async () => {
    const { ctx, requests, sent } = runWith({
      answers: [conflict],
      live: [part({ uid: 'u', resourceVersion: '8' }, { x: 'newer' })],
    });
    await update(ctx, old);
    expect(requests).to.deep.equal(['replace', 'get ns/p', 'replace']);
    expect(sent[1]?.metadata).to.include({ resourceVersion: '8' });
  });
  it('drops labels of others if they are a difference', async () => {
    const { ctx, sent } = runWith();
    const strict = dependent({ match: { metadata: 'equal' } });
    const desired = part({ labels: { a: '1' } });
    await strict.update?.(part({ labels: { a: '1', b: '1' } }), desired, primary, ctx);
    await dependent().update?.(part({ labels: { b: '1' } }), desired, primary, ctx);
    expect(sent.map(({ metadata }) => metadata.labels)).to.deep.equal([{ a: '1' }, { a: '1', b: '1' }]);
  });
  it('is over if the conflict resulted in the desired state', async () => {
    const found = part({ uid: 'u', resourceVersion: '8' });
    const { ctx, requests } = runWith({ answers: [conflict], live: [found] });
    expect(await update(ctx, old)).to.equal(found);
    expect(requests).to.deep.equal(['replace', 'get ns/p']);
  });
  it('creates the object if it was deleted meanwhile', async () => {
    const { ctx, requests } = runWith({ answers: [conflict], live: [undefined] });
    await update(ctx, old);
    expect(requests).to.deep.equal(['replace', 'get ns/p', 'create']);
  });
  for (const [title, from] of [
    ['the object was recreated by another client', old],
    ['it was unknown which object it was', part({ resourceVersion: '7' }, { x: 'old' })],
  ] as const) {
    it(`fails if ${title}`, async () => {
      const { ctx, requests } = runWith({ answers: [conflict], live: [part({ uid: 'v' }, { x: 'theirs' })] });
      expect(String(await update(ctx, from))).to.include(
        'already exists and does not belong to this primary',
      );
      expect(requests).to.deep.equal(['replace', 'get ns/p']);
    });
  }
});

describe('the deletion of an object', () => {
  const remove = async (cached: readonly View<Part>[], more: Partial<KubernetesSpec<Part, Widget>> = {}) => {
    const { ctx, requests } = runWith({ cached });
    await dependent(more).delete?.(primary, ctx);
    return requests;
  };
  it('is one request', async () => {
    expect(await remove([part(owned)])).to.deep.equal(['delete']);
  });
  it('is none if there is no object', async () => {
    expect(await remove([])).to.deep.equal([]);
  });
});

describe('the object of a dependent on a cluster', () => {
  const actual = (more: Partial<KubernetesSpec<Part, Widget>>, cached: readonly View<Part>[] = []) => {
    const run = runWith({ cached, live: [part({ uid: 'live' })] });
    return { ...run, found: dependent(more).actual(primary, run.ctx) };
  };
  const [p, q] = [part(), part({ name: 'q' })];
  const unasked = { desired: () => expect.fail('desired is not asked') };
  for (const [title, more, expected] of [
    ['is the desired one', {}, p],
    [
      'is found by its id, and the desired state is not computed',
      { ...unasked, targetId: () => ({ name: 'q' }) },
      q,
    ],
    ['is the one that select returns', { ...unasked, select: (all: readonly View<Part>[]) => all[1] }, q],
    ['is found by a discriminator', { ...unasked, discriminator: (each: View<Part>) => each === q }, q],
    ['is what actual returns', { ...unasked, actual: () => Promise.resolve(q) }, q],
  ] as const) {
    it(title, async () => {
      expect(await actual(more, [p, q]).found).to.equal(expected);
    });
  }
  it('is the only one if the desired state is undefined', async () => {
    const { ctx } = runWith({ cached: [q] });
    expect(await readOnly<Part, Widget>({ kind: parts }).actual(primary, ctx)).to.equal(q);
  });
  it('is read live by its name', async () => {
    const { found, requests } = actual({ reader: 'live' });
    expect(await found).to.deep.equal(part({ uid: 'live' }));
    expect(requests).to.deep.equal(['get ns/p']);
  });
  it('cannot be read live without a name', async () => {
    const { ctx } = runWith();
    const use = readOnly<Part, Widget>({ kind: parts, reader: 'live' });
    const error: unknown = await use.actual(primary, ctx).catch((failure: unknown) => failure);
    expect(String(error)).to.include('dependent "part" of Widget ns/a').and.include('give it a targetId');
  });
});

describe('a written object', () => {
  const fieldsV1 = { 'f:data': { 'f:x': {} } };
  const managedFields = [{ manager: 'widgets', operation: 'Apply', fieldsV1 }];
  const rewritten = part({ uid: 'u', resourceVersion: '8', managedFields }, { x: 'rewritten' });
  const wish = part();
  /** A reconcile whose writes a webhook rewrites, after the first one had a conflict if there is one. */
  const writing = (first: Error | undefined, found: Part | undefined) => {
    const answers = first ? [first] : [];
    return contextOn(new FakeClock(), {
      write: () => {
        const error = answers.shift();
        return error ? Promise.reject(error) : Promise.resolve(rewritten as never);
      },
      live: {
        get: () => (found ? Promise.resolve(found as never) : Promise.reject(refused(404, 'NotFound'))),
        list: () => expect.fail('nothing is listed'),
      },
    });
  };
  const old = part({ uid: 'u', resourceVersion: '7', ...owned }, { x: 'old' });
  for (const [title, verb, first, found] of [
    ['its creation', 'create', undefined, undefined],
    ['its update', 'update', undefined, undefined],
    ['a creation that had a conflict', 'create', conflict, undefined],
    ['an update that had a conflict', 'update', conflict, old],
  ] as const)
    for (const ssa of [true, false]) {
      it(`matches the result of a webhook for ${title}, ${ssa ? 'applied' : 'replaced'}`, async () => {
        const use = dependent({ ssa });
        const ctx = writing(first, found);
        expect(use.matcher?.match(rewritten, wish, primary, ctx).matched, 'before').to.equal(false);
        const answer = await (verb === 'create'
          ? use.create?.(wish, primary, ctx)
          : use.update?.(old, wish, primary, ctx));
        expect(answer).to.equal(rewritten);
        expect(use.matcher?.match(rewritten, wish, primary, ctx).matched, 'after').to.equal(true);
      });
    }
});
