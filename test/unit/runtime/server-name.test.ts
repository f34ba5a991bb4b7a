import { expect } from 'chai';
import { apiErrorFrom, Forbidden, TransportError } from '../../../src/runtime/errors.ts';
import { withServerName } from '../../../src/runtime/transport/server-name.ts';
import type { Client, Kind } from '../../../src/runtime/types.ts';

const kind: Kind = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const ref = { verb: 'get', kind: 'ConfigMap', namespace: 'n', name: 'a' };

/** A client whose requests all end with this error. */
function failing(error: Error): Client {
  const fails = (): Promise<never> => Promise.reject(error);
  const failsInTurn = async function* (): AsyncGenerator<never> {
    yield await fails();
  };
  return { get: fails, list: failsInTurn, watch: failsInTurn, send: fails, raw: fails, close: fails };
}

const signal = new AbortController().signal;
const verbs: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  get: (client) => client.get(kind, 'n/a'),
  list: (client) => client.list(kind, {})[Symbol.asyncIterator]().next(),
  watch: (client) => client.watch(kind, { resourceVersion: '1' }, signal)[Symbol.asyncIterator]().next(),
  send: (client) => client.send({ verb: 'delete', kind, key: 'n/a' }),
  raw: (client) => client.raw('GET', '/version'),
};

const thrownBy = async (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('nothing was thrown'),
    (error: unknown) => error as Error,
  );

describe("the message of a target's server", () => {
  for (const [verb, ask] of Object.entries(verbs)) {
    it(`is marked as its own: ${verb}`, async () => {
      const error = apiErrorFrom(403, { message: 'configmaps is forbidden', reason: 'Forbidden' }, ref);
      const thrown = await thrownBy(ask(withServerName(failing(error), 'the server of target x')));
      expect(thrown).to.be.instanceOf(Forbidden);
      expect(thrown.message).to.equal(
        'cannot get ConfigMap n/a: the server of target x answered: configmaps is forbidden',
      );
    });
  }

  const said = async (message: string): Promise<string> => {
    const error = apiErrorFrom(500, { message }, ref);
    return (await thrownBy(verbs['get']!(withServerName(failing(error), 'the server of target x')))).message;
  };

  it('is shortened to 1024 characters, and its end stays', async () => {
    const message = await said(`first ${'word '.repeat(1 << 18)}last`);
    expect(message).to.have.length.below(1024 + 100);
    expect(message).to.match(/answered: first (word )+ … ( word)* ?last$/);
  });

  it('is never cut within a word, because masks do not recognise half of a secret', async () => {
    const secret = `hunter-${'z'.repeat(200)}`;
    for (const words of [`first ${secret.repeat(9)} last`, `${`${secret} `.repeat(99)}last`]) {
      const message = await said(words);
      expect(message.replaceAll(secret, '')).to.not.match(/hunter|zz/);
      expect(message).to.match(/last$/);
    }
  });

  it('has no line breaks, escape sequences, or bidirectional control characters', async () => {
    const message = await said('all is well\n\u001B[2Jroot: \u202Edone\u0000\u2028now');
    expect(message).to.match(/answered: all is well \[2Jroot: done now$/);
  });

  it('is not invented if there is none', async () => {
    const error = apiErrorFrom(503, undefined, ref);
    const thrown = await thrownBy(verbs['get']!(withServerName(failing(error), 'the server of target x')));
    expect(thrown.message).to.equal('cannot get ConfigMap n/a: the server answered 503');
  });

  it('does not include connection errors', async () => {
    const error = new TransportError({ message: 'connection reset', safeToRepeat: true });
    expect(await thrownBy(verbs['get']!(withServerName(failing(error), 'x')))).to.equal(error);
  });
});
