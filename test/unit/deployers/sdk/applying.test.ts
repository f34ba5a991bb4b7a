/** Applying manifests to a cluster, object by object. */
import { expect } from 'chai';
import { MANIFEST_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import type { KubeObject, Manifest } from '../../../../deployers/objects/manifests/model.ts';
import { apiErrorFrom, TransportError } from '../../../../src/runtime/errors.ts';
import { answer, Applying, entry, mine, ownership } from '../applying.ts';
import { configMap } from '../bench.ts';

const exists = apiErrorFrom(
  409,
  { reason: 'AlreadyExists', message: 'exists' },
  { verb: 'create', kind: 'ConfigMap' },
);
const owned = { labels: ownership.labels };

describe('one manifest', () => {
  it('with policy ignore needs no request', async () => {
    const a = new Applying();
    const { manifest: p, ...rest } = await a.one(mine('ignore'));
    expect([p.object.metadata.name, rest, a.requests]).to.deep.equal(['one', { isTouched: false }, []]);
  });

  it('that only has to exist is created, or left unchanged, and is not in the inventory', async () => {
    const a = new Applying();
    const made = await a.one(mine('ensure'));
    expect([made.isTouched, made.live?.metadata.name, made.entry]).to.deep.equal([true, 'one', undefined]);
    const { manifest: _, ...left } = await a.one(mine('ensure'));
    expect(left).to.deep.equal({ isTouched: false });
    a.refuse({ create: answer(403) });
    expect(await a.failure(mine('ensure'))).to.be.instanceOf(Error);
  });

  for (const policy of ['manage', 'keep'] as const) {
    it(`is applied by the server without a read if its policy is ${policy}`, async () => {
      const a = new Applying();
      a.strategy = 'apply';
      await a.one(mine(policy));
      expect(a.sent.map(({ verb }) => verb)).to.deep.equal(['apply']);
      expect(a.sent[0]).to.deep.include({ manager: 'm', force: true });
    });
  }

  for (const [title, manifest] of [
    ['a policy that depends on the existing object', mine('fallback')],
    ['annotations for new objects', mine('manage', { annotateBeforeCreate: { born: 'now' } })],
  ] as const) {
    it(`is not applied without a read with ${title}`, async () => {
      const a = new Applying();
      a.strategy = 'apply';
      a.cluster.put(configMap('one', { a: 'old' }, owned));
      await a.one(manifest, entry('u'));
      expect(a.requests).to.deep.equal(['get', 'apply']);
    });
  }

  it('is read first only if the object is known to exist', async () => {
    const a = new Applying();
    await a.one(mine(), entry(''));
    expect(a.requests).to.deep.equal(['create']);
    await a.one(mine(), entry('u'));
    expect(a.requests).to.deep.equal(['get']);
    a.cluster.drop('ConfigMap', 'app/one');
    await a.one(mine(), entry('u'));
    expect(a.requests).to.deep.equal(['get', 'create']);
  });

  const refused = [
    ['exists', exists],
    ['is incomplete', answer(422)],
    ['may not be created', answer(403)],
  ] as const;
  for (const [title, error] of refused) {
    it(`is an update if the object ${title}`, async () => {
      const a = new Applying();
      a.cluster.put(configMap('one', { a: 'old' }));
      a.refuse({ create: error });
      const { entry: noted, isTouched } = await a.one(mine());
      expect([a.live?.['data'], isTouched, noted?.resource.uid]).to.deep.equal([
        { a: 'new' },
        true,
        a.live?.metadata.uid,
      ]);
    });

    it(`fails with the first rejection if the object ${title} and does not exist`, async () => {
      const a = new Applying();
      a.refuse({ create: error });
      expect(await a.failure(mine())).to.equal(error);
      expect(a.requests).to.deep.equal(['create', 'get']);
    });
  }

  it('is not read after any other rejection', async () => {
    const a = new Applying();
    const error = answer(500);
    a.refuse({ create: error });
    expect(await a.failure(mine())).to.equal(error);
    expect(a.requests).to.deep.equal(['create']);
  });

  const [forbidden, unread, cut] = [
    answer(403),
    answer(403, 'get'),
    new TransportError({ message: 'cut', safeToRepeat: false }),
  ];
  for (const [title, create, get, told] of [
    ['neither created nor read', forbidden, unread, forbidden],
    ['of another owner and not readable', exists, unread, unread],
    ['not created, and the read gets no response', forbidden, cut, cut],
  ] as const) {
    it(`reports the more useful of two rejections if it can be ${title}`, async () => {
      const a = new Applying();
      a.refuse({ create, get });
      expect(await a.failure(mine())).to.equal(told);
    });
  }

  it('gets its annotations for new objects again if a crash happened before it was recorded', async () => {
    const manifest = mine('manage', { annotateBeforeCreate: { born: 'now' } });
    for (const [metadata, known, isNoted] of [
      [owned, entry(''), true],
      [{}, entry(''), false],
      [owned, undefined, false],
    ] as const) {
      const a = new Applying();
      a.cluster.put(configMap('one', { a: 'old' }, metadata));
      await a.one(manifest, known);
      expect(a.live?.metadata.annotations).to.deep.equal(isNoted ? { born: 'now' } : undefined);
    }
  });

  it('with policy fallback leaves an object of another owner unchanged, and changes its own', async () => {
    const a = new Applying();
    a.cluster.put(configMap('one', { a: 'old' }));
    const { manifest: _, live, ...rest } = await a.one(mine('fallback'));
    expect([live?.metadata.name, rest]).to.deep.equal(['one', { isTouched: false }]);
    a.cluster.put(configMap('one', { a: 'old' }, owned));
    expect((await a.one(mine('fallback'))).isTouched).to.equal(true);
  });

  it('with policy immutable is never changed, and warns of an object of another owner', async () => {
    const a = new Applying();
    a.cluster.put(configMap('one', { a: 'old' }));
    const { entry: noted, isTouched } = await a.one(mine('immutable'));
    expect([noted?.resource.uid, isTouched]).to.deep.equal([a.live?.metadata.uid, false]);
    expect(a.warnings).to.have.length(1);
    expect(a.warnings[0]).to.match(/^ForeignObject: ConfigMap app\/one was not created by this item/);
    a.cluster.put(configMap('one', { a: 'old' }, owned));
    await a.one(mine('immutable'));
    expect(a.warnings).to.have.length(1);
    expect(a.live?.['data']).to.deep.equal({ a: 'old' });
  });

  describe('with concurrent changes of others', () => {
    /** The first `times` updates conflict with a newer version. */
    function contested(times: number): Applying {
      const a = new Applying();
      a.cluster.put(configMap('one', { a: 'old' }));
      let left = times;
      a.cluster.fail = (verb) => {
        if (verb === 'replace' && left-- > 0)
          a.cluster.edit('ConfigMap', 'app/one', { data: { n: String(left) } });
      };
      return a;
    }

    it('is compared with the new version', async () => {
      const a = contested(2);
      expect((await a.one(mine(), entry('u'))).isTouched).to.equal(true);
      expect(a.requests).to.deep.equal(['get', 'replace', 'get', 'replace', 'get', 'replace']);
      expect(a.live?.['data']).to.deep.equal({ a: 'new' });
    });

    it('is given up after three attempts', async () => {
      const a = contested(3);
      expect(await a.failure(mine(), entry('u'))).to.be.instanceOf(Error);
      expect(a.requests.filter((verb) => verb === 'replace')).to.have.length(3);
    });

    it('fails if the object is deleted meanwhile, or if the rejection has another reason', async () => {
      const a = new Applying();
      a.cluster.put(configMap('one', { a: 'old' }));
      const conflict = answer(409);
      a.cluster.fail = (verb) => {
        if (verb !== 'replace') return;
        a.cluster.drop('ConfigMap', 'app/one');
        throw conflict;
      };
      expect(await a.failure(mine(), entry('u'))).to.equal(conflict);
      a.cluster.put(configMap('one', { a: 'old' }));
      const error = answer(500);
      a.refuse({ replace: error });
      expect(await a.failure(mine(), entry('u'))).to.equal(error);
      expect(a.requests).to.deep.equal(['get', 'replace']);
    });
  });

  const named = (metadata: object): Manifest =>
    mine('manage', { object: { ...configMap('x'), metadata } as KubeObject });
  for (const [metadata, message] of [
    [{ namespace: 'app' }, 'the manifest has no metadata.name'],
    [{ name: '', namespace: 'app' }, 'the manifest has no metadata.name'],
    [{ name: 5, namespace: 'app' }, 'the manifest has no metadata.name'],
    [{ name: 'a/b', namespace: 'app' }, 'metadata.name must not contain a slash'],
    [{ name: 'a' }, 'the manifest has no namespace, and there is no default namespace'],
  ] as const) {
    it(`is not sent with metadata ${JSON.stringify(metadata)}`, async () => {
      const a = new Applying();
      expect(await a.failure(named(metadata)))
        .to.have.property('message')
        .that.contains(message);
      expect(a.sent).to.deep.equal([]);
    });
  }
});

describe('the label of an item', () => {
  it('is set on every object that it manages', async () => {
    const a = new Applying();
    await a.one(mine());
    expect(a.live?.metadata.labels?.[MANIFEST_LABEL]).to.equal('web');
  });
});
