import { expect } from 'chai';
import { loadCrds } from '../../../src/api/crds.ts';
import { lineFor } from '../../../src/cli/report-error.ts';
import { sleep } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { CrdsNotApplied, CrdsNotServed, ensureCrds } from '../../../src/landscape/ensure-crds.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { ShutdownError, TransportError } from '../../../src/runtime/errors.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { ScriptedApi, statusError } from '../../support/scripted-api.ts';

const established = (object: Obj): Obj =>
  Object.assign(structuredClone(object), {
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  });

const refused = (code: string): Error =>
  new TransportError({
    message: 'cannot reach the server',
    safeToRepeat: true,
    cause: Object.assign(new Error(code), { code }),
  });

describe('installing the CustomResourceDefinitions', () => {
  // The definition of records of jobs is installed only where jobs are recorded.
  const crds = loadCrds().filter(({ metadata }) => !metadata.name.endsWith('.espalier.dev'));
  const count = crds.length;
  let api: ScriptedApi;
  let clock: FakeClock;
  let stop: AbortController;
  let outcome: unknown;

  const start = async (): Promise<void> => {
    const running = ensureCrds(api, clock, silentLogger, { rng: seededRng(1), signal: stop.signal });
    void running.then(
      () => (outcome = 'installed'),
      (error: unknown) => (outcome = error),
    );
    await settle();
  };

  beforeEach(() => {
    api = new ScriptedApi();
    api.admit = established;
    clock = new FakeClock();
    stop = new AbortController();
    outcome = undefined;
  });

  for (const [what, error] of [
    ['a conflict', statusError(409, 'Conflict')],
    ['another client that creates it at the same time', statusError(409, 'AlreadyExists')],
    ['a busy server', statusError(429)],
    ['an error of the server', statusError(500)],
    ['a server that is starting', statusError(503)],
    ['a server that cannot be reached', refused('ECONNREFUSED')],
    ['a broken connection', refused('ECONNRESET')],
  ] as const) {
    it(`retries after ${what}`, async () => {
      api.faults.send.push(error);
      await start();
      expect(outcome).to.equal(undefined);
      expect(api.writes).to.have.length(count);
      await clock.advance(300);
      expect(outcome).to.equal('installed');
      expect(api.writes).to.have.length(count + 1);
      expect(api.objects.size).to.equal(count);
    });
  }

  it('retries if it cannot read whether a CRD is served', async () => {
    api.admit = (object) => object;
    await start();
    api.faults.get.push(statusError(503), refused('ECONNREFUSED'));
    for (const [key, object] of api.objects) api.objects.set(key, established(object));
    await clock.advance(1_000);
    expect(outcome).to.equal('installed');
  });

  it('waits as long as the server requests', async () => {
    api.faults.send.push(Object.assign(statusError(429), { retryAfterMs: 7_000 }));
    await start();
    await clock.advance(6_900);
    expect(outcome).to.equal(undefined);
    await clock.advance(200);
    expect(outcome).to.equal('installed');
  });

  it('gives up after nine attempts and reports the CRD, the reason, and a remedy', async () => {
    for (let i = 0; i < 1_000; i++) api.faults.send.push(statusError(409, 'Conflict'));
    await start();
    await clock.advance(15_000);
    expect(outcome).to.equal(undefined);
    await clock.advance(10_000);
    expect(outcome).to.be.instanceOf(CrdsNotApplied);
    expect(api.writes).to.have.length(9 * count);
    expect(lineFor(outcome))
      .to.match(/^CustomResourceDefinition [a-z]+[.]landscaper[.]gardener[.]cloud cannot be installed/)
      .and.to.contain('gave up after 9 attempts: cannot watch Thing: said 409')
      .and.to.contain('--no-crds (crdManagement.deployCrd: false)');
  });

  for (const [what, error] of [
    ['is forbidden', statusError(403)],
    ['is rejected', statusError(422, 'Invalid')],
    ['does not trust the server', refused('CERT_HAS_EXPIRED')],
  ] as const) {
    it(`ends at once if it ${what}`, async () => {
      api.faults.send.push(error);
      await start();
      expect(outcome).to.equal(error);
      expect(api.writes).to.have.length(count);
    });
  }

  it('takes over fields that others have set in a CRD, with its own field manager', async () => {
    await start();
    expect(outcome).to.equal('installed');
    for (const write of api.writes) expect(write).to.include({ manager: 'espalier-crds', force: true });
  });

  const served = { type: 'Established', status: 'True' };
  const accepted = { type: 'NamesAccepted', status: 'True' };
  const rows: readonly (readonly [string, object | undefined, boolean])[] = [
    ['that are established, whatever other conditions they have', { conditions: [accepted, served] }, true],
    [
      'that are established after another condition',
      { conditions: [{ ...served, status: 'False' }, served] },
      true,
    ],
    ['that are not established yet', { conditions: [accepted, { ...served, status: 'False' }] }, false],
    ['without conditions', {}, false],
    ['without a status', undefined, false],
  ];
  for (const [what, status, isOver] of rows) {
    it(`${isOver ? 'does not wait for' : 'waits for'} CRDs ${what}`, async () => {
      api.admit = (object) => Object.assign(structuredClone(object), { status });
      await start();
      expect(outcome).to.equal(isOver ? 'installed' : undefined);
    });
  }

  it('waits for all of them, and polls twenty times a second', async () => {
    let left = 3;
    const first = crds[0]?.metadata.name;
    api.admit = (object) => (object.metadata.name === first ? object : established(object));
    const get = api.get.bind(api);
    api.get = async (kind, key) => {
      const found = await get(kind, key);
      return --left > 0 ? found : (established(found) as never);
    };
    await start();
    await clock.advance(149);
    expect(outcome).to.equal(undefined);
    await clock.advance(1);
    expect(outcome).to.equal('installed');
  });

  const clash = { type: 'NamesAccepted', status: 'False', message: '"web" is taken' };
  const reasons: readonly (readonly [string, readonly object[], RegExp])[] = [
    ['the reason is unknown', [], / is not served after 30 s$/],
    ['its name is taken', [{ ...served, status: 'False', message: 'no' }, clash], / is not served after 30 s: "web" is taken$/],
    ['its name is accepted', [{ ...clash, status: 'True' }], / is not served after 30 s$/],
  ]; // prettier-ignore
  for (const [why, conditions, sentence] of reasons) {
    it(`gives up a CRD that is not served in 30 s, and reports it if ${why}`, async () => {
      api.admit = (object) => Object.assign(structuredClone(object), { status: { conditions } });
      const get = api.get.bind(api);
      // A response takes ten seconds here, including the pause before it: otherwise this test would need 600
      // requests.
      api.get = async (kind, key) => {
        await sleep(clock, 9_950);
        return get(kind, key);
      };
      await start();
      await clock.advance(30_000);
      expect(outcome).to.equal(undefined);
      await clock.advance(10_000);
      expect(outcome).to.be.instanceOf(CrdsNotServed).with.property('message').that.matches(sentence);
    });
  }

  it('reports why it has given up', async () => {
    for (let i = 0; i < 1_000; i++) api.faults.send.push(statusError(409, 'Conflict'));
    await start();
    await clock.advance(25_000);
    expect(outcome).to.have.nested.property('cause.status', 409);
  });

  it('ends with the rejection of the server if that arrives after it was stopped', async () => {
    const refusal = statusError(403);
    api.faults.send.push(refusal);
    stop.abort();
    await start();
    expect(outcome).to.equal(refusal);
  });

  it('ends while it waits for CRDs to be served if it is stopped', async () => {
    api.admit = (object) => object;
    await start();
    stop.abort(new Error('over'));
    await settle();
    expect(outcome).to.be.instanceOf(ShutdownError).with.nested.property('cause.message', 'over');
    expect(clock.pending).to.equal(0);
  });

  it('ends during a pause if it is stopped', async () => {
    for (let i = 0; i < count; i++) api.faults.send.push(refused('ECONNREFUSED'));
    await start();
    stop.abort();
    await settle();
    expect(outcome).to.be.instanceOf(ShutdownError);
    expect(clock.pending).to.equal(0);
    expect(api.writes).to.have.length(count);
  });
});
