/** The Secrets in which connection details are published. */
import { expect } from 'chai';
import { Secret } from '../../../../src/runtime/core-kinds.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { SecretRefused } from '../../../../src/runtime/external/errors.ts';
import {
  Publisher,
  specSecret,
  type Publishing,
  type SecretPlace,
} from '../../../../src/runtime/external/secret.ts';
import type { Cache, Obj, View, Write } from '../../../../src/runtime/types.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { buckets } from './cloud.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const LABEL = { 'external.espalier.dev/connection': 'true' };
const owner = {
  apiVersion: 'example.io/v1',
  kind: 'Bucket',
  name: 'b',
  uid: 'uid-b',
  controller: true,
  blockOwnerDeletion: true,
};
const object: View<Obj> = {
  apiVersion: 'example.io/v1',
  kind: 'Bucket',
  metadata: { namespace: 'A', name: 'b', uid: 'uid-b' },
};
const clusterScoped: View<Obj> = { ...object, metadata: { name: 'b', uid: 'uid-b' } };
const secret = (metadata: object = {}, data?: Record<string, string>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'A', name: 'conn', labels: LABEL, ownerReferences: [owner], ...metadata },
  type: 'external.espalier.dev/connection',
  ...(data && { data }),
});
const place = { name: 'conn' };

/** A publisher whose cache has `cached`, on a cluster that has `live`, and whose first write fails with `refusal`. */
function stage(given: { readonly cached?: Secret; readonly live?: Secret; readonly refusal?: Error } = {}) {
  const writes: Write[] = [];
  const client = new FakeCluster();
  if (given.live) client.put(Secret, given.live);
  const cache = { get: () => given.cached } as unknown as Cache<Secret>;
  const publisher = new Publisher({ client, cache, kind: buckets });
  const { signal } = new AbortController();
  const how: Publishing = {
    signal,
    write(write) {
      writes.push(write);
      return given.refusal && writes.length === 1
        ? Promise.reject(given.refusal)
        : Promise.resolve({} as never);
    },
  };
  const ended = (work: Promise<void>): Promise<unknown> =>
    work.then(
      () => 'done',
      (error: unknown) => error,
    );
  return {
    writes,
    publish: (details: Record<string, string> = { user: 'u' }, where: SecretPlace = place, of = object) =>
      ended(publisher.publish(of, where, details, how)),
    remove: (where: SecretPlace = place) => ended(publisher.remove(object, where, how)),
  };
}
const created = (writes: readonly Write[]): unknown => {
  const [write] = writes;
  return write && 'object' in write ? write.object : write;
};
const merged = (writes: readonly Write[]) =>
  writes.map((write) => [write.verb, 'body' in write ? write.body : undefined, write.lock]);
const exists = apiErrorFrom(409, { reason: 'AlreadyExists' }, { verb: 'create', kind: 'Secret' });

describe('the publication of connection details', () => {
  it('creates a Secret that the object owns', async () => {
    const { writes, publish } = stage();
    expect(await publish({ user: 'u', password: 'p' })).to.equal('done');
    expect(created(writes)).to.deep.equal(secret({}, { user: base64('u'), password: base64('p') }));
  });
  it('creates nothing without details', async () => {
    const { writes, publish } = stage();
    expect([await publish({}), writes]).to.deep.equal(['done', []]);
  });
  for (const [title, before, expected] of [
    ['adds new keys', { old: base64('x') }, { data: { user: base64('u') } }],
    ['changes different values', { user: base64('x') }, { data: { user: base64('u') } }],
    ['adds to a Secret without data', undefined, { data: { user: base64('u') } }],
  ] as const) {
    it(`${title}, and sends the version that was read`, async () => {
      const { writes, publish } = stage({ cached: secret({ resourceVersion: '7' }, before) });
      expect(await publish()).to.equal('done');
      expect(merged(writes)).to.deep.equal([
        ['merge', { metadata: { resourceVersion: '7' }, ...expected }, true],
      ]);
    });
  }
  it('writes nothing that already exists', async () => {
    const { writes, publish } = stage({ cached: secret({}, { user: base64('u'), old: base64('x') }) });
    expect([await publish(), writes]).to.deep.equal(['done', []]);
  });
  for (const labels of [undefined, { other: '1' }]) {
    it(`restores the label on a Secret with ${labels ? 'others' : 'none'}`, async () => {
      const cached = secret({ labels, resourceVersion: '7' }, { user: base64('u') });
      const { writes, publish } = stage({ cached });
      await publish();
      expect(merged(writes)).to.deep.equal([
        ['merge', { metadata: { resourceVersion: '7', labels: LABEL } }, true],
      ]);
    });
  }
  it('extends its own Secret if the cache does not have it', async () => {
    const { writes, publish } = stage({ refusal: exists, live: secret() });
    expect(await publish()).to.equal('done');
    expect(writes.map(({ verb }) => verb)).to.deep.equal(['create', 'merge']);
  });
  it('fails if its Secret is gone again', async () => {
    expect(await stage({ refusal: exists }).publish()).to.equal(exists);
  });
  it('fails with any other rejection', async () => {
    const refusal = apiErrorFrom(403, {}, { verb: 'create', kind: 'Secret' });
    expect(await stage({ refusal, live: secret() }).publish()).to.equal(refusal);
  });
  for (const [title, metadata, whose] of [
    ['of another object', { ownerReferences: [{ ...owner, uid: 'x' }] }, 'Bucket b (uid x)'],
    ['of no object', { ownerReferences: undefined }, 'an unknown owner'],
    [
      'that it owns and does not control',
      { ownerReferences: [{ ...owner, controller: false }] },
      'an unknown owner',
    ],
  ] as const) {
    it(`rejects a Secret ${title}`, async () => {
      const { writes, publish } = stage({ cached: secret(metadata) });
      const error = await publish();
      expect(error).to.be.instanceOf(SecretRefused);
      expect(String(error)).to.include(`secret A/conn belongs to ${whose}; remove it, or name another one`);
      expect(writes).to.deep.equal([]);
    });
  }
  it('finds the controller among other owners', async () => {
    const ownerReferences = [{ ...owner, uid: 'x', controller: false }, owner];
    expect(await stage({ cached: secret({ ownerReferences }) }).publish()).to.equal('done');
  });
});

describe('the place of connection details', () => {
  const keyOf = async (where: SecretPlace, of: View<Obj>) => {
    const { writes, publish } = stage();
    const answer = await publish(undefined, where, of);
    const [write] = writes;
    const { namespace, name } = write && 'object' in write ? write.object.metadata : { name: String(answer) };
    return `${namespace ?? ''}/${name}`;
  };
  for (const [title, where, of, expected] of [
    ['is in the namespace of the object', place, object, 'A/conn'],
    ['may name that namespace', { ...place, namespace: 'A' }, object, 'A/conn'],
    [
      'is in the namespace that an object without one names',
      { ...place, namespace: 'B' },
      clusterScoped,
      'B/conn',
    ],
    [
      'cannot be in another namespace',
      { ...place, namespace: 'B' },
      object,
      'secret B/conn cannot belong to an object in A: name one in A',
    ],
    [
      'cannot be in no namespace',
      place,
      clusterScoped,
      'secret conn needs a namespace, since the object has none',
    ],
  ] as const) {
    it(title, async () => {
      expect(await keyOf(where, of)).to.include(expected);
    });
  }
  it('is read from the spec', () => {
    const withSpec = { ...object, spec: { writeConnectionSecretToRef: place } };
    expect(specSecret(withSpec)).to.equal(place);
    expect(specSecret(object)).to.equal(undefined);
  });
});

describe('the removal of connection details', () => {
  for (const [title, metadata, uid] of [
    ['deletes the Secret, and no other of its name', { uid: 'u' }, { uid: 'u' }],
    ['deletes a Secret without a uid by its name', {}, {}],
  ] as const) {
    it(title, async () => {
      const { writes, remove } = stage({ cached: secret(metadata) });
      expect(await remove()).to.equal('done');
      const [{ kind: _, ...write } = {}] = writes;
      expect(write).to.deep.equal({ verb: 'delete', key: 'A/conn', ...uid });
    });
  }
  for (const [title, cached] of [
    ['an unknown Secret', undefined],
    ['a Secret of another object', secret({ ownerReferences: [{ ...owner, uid: 'x' }] })],
  ] as const) {
    it(`does not delete ${title}`, async () => {
      const { writes, remove } = stage({ ...(cached && { cached }) });
      expect([await remove(), writes]).to.deep.equal(['done', []]);
    });
  }
});
