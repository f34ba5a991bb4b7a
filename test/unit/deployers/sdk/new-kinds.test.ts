/** Objects whose kind is defined by a CustomResourceDefinition in the same job. */
import { expect } from 'chai';
import type { ApplyResult } from '../../../../deployers/objects/manifests/apply.ts';
import type { Manifest } from '../../../../deployers/objects/manifests/model.ts';
import { settle } from '../../../support/clock.ts';
import { answer, Applying, mine } from '../applying.ts';
import { configMap } from '../bench.ts';
import { CRD, crd } from './definitions.ts';

const NAME = 'gadgets.g.test';
const definition = mine('manage', { object: crd('Gadget') });
const gadget: Manifest = mine('manage', {
  object: { ...configMap('g'), apiVersion: 'g.test/v1', kind: 'Gadget' },
});
const condition = (type: string, status: string, reason = '', message = '') => ({
  status: { conditions: [{ type, status, reason, message }] },
});
const established = condition('Established', 'True');

describe('objects of kinds that the same job defines', () => {
  /** Starts applying; the definitions are not established by themselves. */
  function begin(manifests: readonly Manifest[] = [definition, gadget]) {
    const a = new Applying();
    a.cluster.establishes = false;
    const setStatus = (status: object) => a.cluster.edit(CRD, NAME, status);
    const isApplied = () => a.cluster.find('Gadget', 'app/g') !== undefined;
    return { a, setStatus, isApplied, start: () => a.all(manifests) };
  }

  it('are applied at once if the definition is established at once', async () => {
    const a = new Applying();
    expect((await a.all([definition, gadget])).problem).to.equal(undefined);
    expect(a.cluster.takeRequests()).to.deep.equal([
      `create ${CRD} ${NAME}`,
      'GET /apis/g.test/v1',
      'create Gadget app/g',
    ]);
    expect(a.clock.now()).to.equal(0);
  });

  it('are applied after the definition is established, and discovery has the kind', async () => {
    const { a, setStatus, isApplied, start } = begin();
    a.cluster.discovers = false;
    const result = start();
    await a.clock.advance(4_000);
    setStatus(established);
    await a.clock.advance(4_000);
    expect(isApplied()).to.equal(false);
    a.cluster.discovers = true;
    await a.clock.advance(2_000);
    expect((await result).problem).to.equal(undefined);
    expect(isApplied()).to.equal(true);
    expect(a.clock.pending).to.equal(0);
  });

  it('are applied if the definition is established at the end of the limit', async () => {
    const { a, setStatus, isApplied, start } = begin();
    const result = start();
    await a.clock.advance(59_999);
    setStatus(established);
    await a.clock.advance(1);
    expect((await result).problem).to.equal(undefined);
    expect(isApplied()).to.equal(true);
  });

  it('are left out after the limit, with an error that names the definition and its condition; others are applied', async () => {
    const { a, setStatus, isApplied, start } = begin([definition, gadget, mine()]);
    const result = start();
    await a.clock.advance(1_000);
    setStatus(condition('Established', 'False', 'Installing', 'the initial names are being checked'));
    await a.clock.advance(58_999);
    let isOver = false;
    void result.then(() => (isOver = true));
    await settle();
    expect(isOver).to.equal(false);
    await a.clock.advance(1);
    const { problem, managed }: ApplyResult = await result;
    expect(problem).to.deep.equal({
      operation: 'ApplyObjects',
      reason: 'ApplyNewObject',
      codes: [],
      message: `${CRD} ${NAME} on target cluster-a: the kind is not served after 1m0s: its condition Established is False: Installing: the initial names are being checked`,
    });
    expect(isApplied()).to.equal(false);
    expect(a.live).not.to.equal(undefined);
    expect(managed.map(({ resource }) => [resource.name, resource.uid])).to.deep.equal([
      [NAME, a.cluster.find(CRD, NAME)?.metadata.uid],
      ['one', a.live?.metadata.uid],
    ]);
    expect(a.clock.pending).to.equal(0);
  });

  for (const [title, status, message] of [
    ['has no condition', {}, 'it has no condition Established'],
    [
      'is established, but not in discovery',
      established,
      'the API server does not serve Gadget in g.test/v1',
    ],
  ] as const)
    it(`are left out after the limit if the definition ${title}`, async () => {
      const { a, setStatus, start } = begin();
      a.cluster.discovers = false;
      const result = start();
      await a.clock.advance(0);
      setStatus(status);
      await a.clock.advance(60_000);
      expect((await result).problem?.message).to.contain(`not served after 1m0s: ${message}`);
    });

  it('are left out at once if the names of the definition are not accepted', async () => {
    const { a, setStatus, isApplied, start } = begin();
    const result = start();
    await a.clock.advance(50);
    setStatus(condition('NamesAccepted', 'False', 'KindConflict', '"Gadget" is already in use'));
    await a.clock.advance(100);
    expect((await result).problem?.message).to.equal(
      `${CRD} ${NAME} on target cluster-a: the definition is not established, its condition NamesAccepted is False: ` +
        'KindConflict: "Gadget" is already in use; choose other names, or delete the definition that has them',
    );
    expect(isApplied()).to.equal(false);
    expect(a.clock.pending).to.equal(0);
  });

  it('are not applied after the job is interrupted', async () => {
    const { a, isApplied, start } = begin([definition, gadget, mine()]);
    const result = start().catch((error: unknown) => error);
    await a.clock.advance(3_000);
    const reason = new Error('interrupted');
    a.life.abort(reason);
    expect(await result).to.equal(reason);
    expect(isApplied()).to.equal(false);
    expect(a.live).to.equal(undefined);
    expect(a.clock.pending).to.equal(0);
  });

  it('are waited for again if the definition was recreated since the kind was found', async () => {
    const { a, setStatus, isApplied, start } = begin();
    const discovered = a.cluster.kindOf.bind(a.cluster);
    const kind = { group: 'g.test', version: 'v1', kind: 'Gadget', plural: 'gadgets', namespaced: true };
    a.cluster.kindOf = (apiVersion, name) =>
      name === 'Gadget' ? Promise.resolve(kind) : discovered(apiVersion, name);
    const result = start();
    await a.clock.advance(1_000);
    expect(isApplied()).to.equal(false);
    setStatus(established);
    await a.clock.advance(2_000);
    expect((await result).problem).to.equal(undefined);
    expect(isApplied()).to.equal(true);
  });

  it('cost no more requests when the kind is served already', async () => {
    const a = new Applying();
    await a.all([definition, gadget]);
    a.cluster.takeRequests();
    await a.all([definition, gadget]);
    expect(a.cluster.takeRequests().filter((request) => request.startsWith('GET'))).to.deep.equal([]);
  });

  for (const [title, manifests] of [
    ['no object needs', [definition]],
    ['only an ignored object needs', [definition, { ...gadget, policy: 'ignore' }]],
  ] as const)
    it(`do not let a definition delay the job that ${title}`, async () => {
      const { a, start } = begin(manifests);
      expect((await start()).problem).to.equal(undefined);
      expect(a.clock.pending).to.equal(0);
    });

  it('fail like the definition if it cannot be applied, without a wait', async () => {
    const { a, start } = begin();
    a.cluster.fail = (verb, what) => {
      if (verb === 'create' && what.startsWith(CRD)) throw answer(500, 'busy');
    };
    expect((await start()).problem?.message)
      .to.contain(`${CRD} ${NAME} on target cluster-a: `)
      .and.contain('busy');
    expect(a.clock.now()).to.equal(0);
  });

  for (const [title, status, message] of [
    ['a temporary error', 503, undefined],
    ['a missing permission, because discovery decides', 403, undefined],
    ['the deletion of the definition', 404, 'no'],
  ] as const)
    it(`${message === undefined ? 'are waited for despite' : 'are left out at'} ${title}`, async () => {
      const { a, setStatus, start } = begin();
      a.cluster.fail = (verb, what) => {
        if (verb === 'get' && what.startsWith(CRD) && a.clock.now() < 5_000) throw answer(status);
      };
      const result = start();
      await a.clock.advance(1_000);
      setStatus(established);
      await a.clock.advance(status === 503 ? 7_000 : 2_000);
      const { problem } = await result;
      if (message === undefined) expect(problem).to.equal(undefined);
      else expect(problem?.message).to.contain(`${CRD} ${NAME} on target cluster-a: `).and.contain(message);
    });
});
