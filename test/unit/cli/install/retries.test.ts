/** Installing and uninstalling on a server that rejects a write: they retry, and report if that is in vain. */
import { expect } from 'chai';
import { applyProduct } from '../../../../src/cli/commands/install/apply.ts';
import { productObjects } from '../../../../src/cli/commands/install/objects.ts';
import { deleteIfThere } from '../../../../src/cli/commands/install/retries.ts';
import { configMapKind } from '../../../../src/cli/commands/install/kinds.ts';
import { settingsFrom } from '../../../../src/cli/commands/install/settings.ts';
import { CommandError } from '../../../../src/cli/errors.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { TransportError } from '../../../../src/runtime/errors.ts';
import type { Client, Obj, Write } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { ScriptedApi, statusError } from '../../../support/scripted-api.ts';

const settings = settingsFrom({
  image: 'registry.example.org/espalier:0.1.0',
  namespace: 'ls-system',
  allNamespaces: true,
  replicas: 2,
  crds: false,
});
const count = productObjects(settings).length;
const reset = new TransportError({
  message: 'lost the connection',
  safeToRepeat: true,
  cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }),
});

/** An empty server; `refuse` returns the error of a write, by its number from 0 on. */
function emptyServer(refuse: (write: number) => Error | undefined): {
  readonly client: Client;
  readonly writes: Write<Obj>[];
} {
  const api = new ScriptedApi();
  api.admit = (object) => object;
  const { writes } = api;
  const client: Client = {
    get: () => Promise.reject(statusError(404, 'NotFound')),
    list: () => ({
      async *[Symbol.asyncIterator]() {
        await Promise.resolve();
        yield { items: [], resourceVersion: '1' };
      },
    }),
    watch: (kind, query, signal) => api.watch(kind, query, signal),
    async send(write) {
      const error = refuse(writes.length);
      if (error) api.faults.send.push(error);
      return api.send(write);
    },
    raw: () => Promise.resolve({}),
    close: () => Promise.resolve(),
  };
  return { client, writes };
}

async function install(refuse: (write: number) => Error | undefined, ms: number) {
  const clock = new FakeClock();
  const { client, writes } = emptyServer(refuse);
  const told: string[] = [];
  let outcome: unknown;
  applyProduct(settings, { client, clock, report: (_, what) => told.push(what), rng: seededRng(1) }).then(
    () => (outcome = 'installed'),
    (error: unknown) => (outcome = error),
  );
  await settle();
  await clock.advance(ms);
  return { outcome, told, writes };
}

describe('installing on a server that rejects a write', () => {
  for (const [what, error] of [
    ['a conflict', statusError(409, 'Conflict')],
    ['a response from a stale cache', statusError(410, 'Expired')],
    ['a busy server', statusError(429)],
    ['an error of the server', statusError(500)],
    ['a server that is starting', statusError(503)],
    ['a broken connection', reset],
  ] as const) {
    it(`continues after ${what}, for any object`, async () => {
      for (let nth = 0; nth < count; nth++) {
        const { outcome, told, writes } = await install((i) => (i === nth ? error : undefined), 300);
        expect(outcome, `write ${String(nth)}`).to.equal('installed');
        expect(told).to.have.length(count);
        expect(writes).to.have.length(count + 1);
      }
    });
  }

  it('ends at once if a write is forbidden', async () => {
    const refusal = statusError(403, 'Forbidden');
    const { outcome, writes } = await install((i) => (i === 1 ? refusal : undefined), 300);
    expect(outcome).to.equal(refusal);
    expect(writes).to.have.length(2);
  });

  it('gives up after nine attempts and reports the object, the reason, and a remedy', async () => {
    const { outcome, writes } = await install(() => statusError(409, 'Conflict'), 30_000);
    expect(outcome).to.be.instanceOf(CommandError);
    expect((outcome as Error).message)
      .to.match(/^cannot apply Namespace ls-system, gave up after 9 attempts: .*said 409/u)
      .and.to.contain('run the command again');
    expect(writes).to.have.length(9);
  });
});

describe('deleting on a server that rejects a write', () => {
  const rows: readonly {
    readonly title: string;
    readonly errors: readonly Error[];
    readonly answer: boolean;
  }[] = [
    { title: 'continues after a conflict', errors: [statusError(409, 'Conflict')], answer: true },
    { title: 'reports that an object did not exist', errors: [statusError(404, 'NotFound')], answer: false },
    {
      title: 'counts an object as deleted if it is gone after a lost response',
      errors: [reset, statusError(404, 'NotFound')],
      answer: true,
    },
  ];
  for (const { title, errors, answer } of rows) {
    it(title, async () => {
      const clock = new FakeClock();
      let sent = 0;
      const client = {
        send: () => {
          const error = errors[sent++];
          return error ? Promise.reject(error) : Promise.resolve({});
        },
      } as unknown as Client;
      let outcome: boolean | undefined;
      void deleteIfThere(
        { verb: 'delete', kind: configMapKind, key: 'a/b' },
        { client, clock, rng: seededRng(1) },
      ).then((was) => (outcome = was));
      await clock.advance(300);
      expect(outcome).to.equal(answer);
    });
  }
});
