/** Applying all manifests of a job to a cluster. */
import { expect } from 'chai';
import {
  inventoryAfter,
  resolveKinds,
  type ApplyResult,
} from '../../../../deployers/objects/manifests/apply.ts';
import { KeptObjects, MAX_KEPT_VALUES } from '../../../../deployers/objects/manifests/kept-objects.ts';
import type { ManagedResource, Manifest } from '../../../../deployers/objects/manifests/model.ts';
import { maskFor } from '../../../../deployers/objects/manifests/secrets.ts';
import { InvalidObjectName, ResponseTooLarge, TransportError } from '../../../../src/runtime/errors.ts';
import { answer, Applying, entry, mine } from '../applying.ts';
import { configMap } from '../bench.ts';
import { FakeCluster } from '../fake-cluster.ts';

describe('all manifests of a job', () => {
  const many = (...names: string[]): readonly Manifest[] =>
    names.map((name) => ({ policy: 'manage', object: configMap(name), origin: `m.${name}` }));
  const numbered = (count: number) =>
    many(...Array.from({ length: count }, (_, i) => `n${String(i).padStart(2, '0')}`).reverse());

  it('omit a meaningless namespace', async () => {
    const cluster = new FakeCluster();
    const object = (kind: string) => ({ ...configMap('x'), kind });
    const [inside, outside] = await resolveKinds(
      [mine('manage', { object: object('ConfigMap') }), mine('manage', { object: object('Namespace') })],
      ...([cluster, 'a'] as const),
    );
    expect(inside?.object.metadata).to.deep.equal({ name: 'x', namespace: 'app' });
    expect(outside?.object).to.deep.equal({ ...object('Namespace'), metadata: { name: 'x' } });
    expect(outside?.policy).to.equal('manage');
  });

  it('get kinds from CRDs among them, and from nothing else', async () => {
    const spec = {
      group: 'g.test',
      scope: 'Namespaced',
      versions: [{ name: 'v1' }],
      names: { kind: 'Gadget', plural: 'gadgets' },
    };
    const gadget = mine('manage', { object: { ...configMap('g'), apiVersion: 'g.test/v1', kind: 'Gadget' } });
    const like = (kind: string) => mine('manage', { object: { ...configMap('d'), kind, spec } });
    const definition = { ...like('CustomResourceDefinition').object, apiVersion: 'apiextensions.k8s.io/v1' };
    const cluster = new FakeCluster();
    const found = await resolveKinds([mine('manage', { object: definition }), gadget], cluster, 'a');
    expect(found[1]?.kind.plural).to.equal('gadgets');
    const failure = await resolveKinds([like('ConfigMap'), gadget], cluster, 'a').catch(
      (error: unknown) => error,
    );
    expect(failure).to.have.property('reason', 'GetApiResourceList');
  });

  it('are reported by name if they fail, ten at most', async () => {
    for (const [count, rest] of [
      [10, ''],
      [11, '; and 1 more objects'],
    ] as const) {
      const a = new Applying();
      a.refuse({ create: answer(500, 'busy') });
      const { problem } = await a.all(numbered(count));
      const shown = Array.from(
        { length: 10 },
        (_, i) =>
          `ConfigMap app/n0${String(i)} (m.n0${String(i)}) on target cluster-a: cannot create ConfigMap: busy`,
      );
      expect(problem).to.deep.equal({
        operation: 'ApplyObjects',
        reason: 'ApplyNewObject',
        codes: [],
        message: shown.join('; ') + rest,
      });
    }
  });

  const tooLarge = new ResponseTooLarge({ message: 'too large', excess: 'bytes', isFinal: false });
  const definite = new InvalidObjectName({ message: 'no name' });
  for (const [title, error, codes] of [
    ['rejected credentials', answer(401), ['ERR_UNAUTHORIZED']],
    ['a permanent error', definite, ['ERR_CONFIGURATION_PROBLEM']],
    ['any other error', answer(500), []],
  ] as const) {
    it(`have the codes of ${title}, also if one of them fails with another error`, async () => {
      const a = new Applying();
      a.cluster.fail = (verb, what) => {
        if (verb === 'create') throw what.endsWith('one') ? error : answer(500);
      };
      expect((await a.all(many('one', 'two'))).problem?.codes).to.deep.equal(codes);
    });
  }

  const listed = ({ managed }: ApplyResult) => managed.map(({ resource }) => [resource.name, resource.uid]);
  for (const [title, error, isListed] of [
    ['the connection was cut', new TransportError({ message: 'cut', safeToRepeat: false }), true],
    ['the server failed', answer(500), true],
    ['the response was too large', tooLarge, true],
    ['the server rejected it', answer(403), false],
  ] as const) {
    it(`are ${isListed ? '' : 'not '}listed if ${title} and they may have been created`, async () => {
      const a = new Applying();
      a.refuse({ create: error });
      expect(listed(await a.all(many('one')))).to.deep.equal(isListed ? [['one', '']] : []);
    });
  }

  it('stay listed as they were, and the others with them', async () => {
    const a = new Applying();
    a.refuse({ get: answer(403) });
    const gone: ManagedResource = { resource: { ...entry('v').resource, name: 'gone' } };
    const old = [entry('u'), gone];
    const result = await a.all(many('one', 'two'), old);
    expect(listed(result)).to.deep.equal([
      ['one', 'u'],
      ['two', a.cluster.find('ConfigMap', 'app/two')?.metadata.uid],
    ]);
    expect(inventoryAfter(old, result).map(({ resource }) => resource.name)).to.deep.equal([
      'one',
      'two',
      'gone',
    ]);
  });

  it('end with the signal of the reconcile', async () => {
    const a = new Applying();
    const ended = new Error('ended');
    a.refuse({ create: ended });
    a.life.abort();
    expect(await a.all(many('one')).catch((error: unknown) => error)).to.equal(ended);
  });

  it('cache the responses of the cluster while there is room', async () => {
    const a = new Applying();
    const big = configMap('big', { text: 'x'.repeat(64 * MAX_KEPT_VALUES) });
    const { applied } = await a.all([...many('one'), { policy: 'manage', object: big }, mine('ignore')]);
    const kept = applied.map(({ manifest: p, live }) => `${p.object.metadata.name} ${live ? 'kept' : '-'}`);
    expect(kept).to.have.members(['one kept', 'big -', 'one -']);
    expect(new KeptObjects().admits(Array.from({ length: MAX_KEPT_VALUES - 1 }, () => 0))).to.equal(true);
  });
});

describe('values of secrets among the manifests', () => {
  const of = (object: object): Manifest => mine('manage', { object: { ...configMap('s'), ...object } });
  const text = 'told secret-a and c2VjcmV0LWI= and secret-b';

  it('are masked in both forms, as written and decoded', () => {
    const masked = maskFor([
      of({ kind: 'Secret', data: { b: 'c2VjcmV0LWI=' }, stringData: { a: 'secret-a' } }),
    ])(text);
    expect(masked).to.not.match(/secret-a|c2VjcmV0LWI=|secret-b/);
  });

  for (const [title, type] of [
    ['another kind', { kind: 'ConfigMap' }],
    ['another API', { kind: 'Secret', apiVersion: 'g/v1' }],
  ] as const) {
    it(`are not those of ${title}`, () => {
      const values = { data: { b: 'c2VjcmV0LWI=' }, stringData: { a: 'secret-a' } };
      expect(maskFor([of({ ...type, ...values })])(text)).to.equal(text);
    });
  }
});
