import { expect } from 'chai';
import type { TargetSync } from '../../../src/api/kinds/targetsync.ts';
import { isShootGone, openSource, SourceUnavailable } from '../../../src/landscape/source-cluster.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Client, Key, Kind } from '../../../src/runtime/types.ts';

/** The objects of a server for each kind and key, or path; a number is an error code. */
type Answers = Readonly<Record<string, object | number>>;

function serverWith(answers: Answers): Client {
  const answer = async (what: string): Promise<unknown> => {
    await Promise.resolve();
    const found = answers[what] ?? 404;
    if (typeof found !== 'number') return found;
    throw apiErrorFrom(found, { message: 'no' }, { verb: 'get', kind: what });
  };
  return {
    get: ({ kind }: Kind, key: Key) => answer(`${kind} ${key}`),
    raw: (method: string, path: string) => answer(`${method} ${path}`),
  } as unknown as Client;
}

const caught = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe('the access to the source cluster', () => {
  const sync = (secretRef: object): TargetSync =>
    ({ metadata: { name: 'sync', namespace: 'demo' }, spec: { secretRef } }) as unknown as TargetSync;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const open = (secretRef: object, answers: Answers, source: Client = serverWith({})) => {
    const opened: string[] = [];
    const sources = {
      open(kubeconfig: string) {
        opened.push(kubeconfig);
        return Promise.resolve(source);
      },
      close: () => Promise.resolve(),
    };
    const end = caught(openSource({ client: serverWith(answers), sources }, sync(secretRef)));
    return { opened, end };
  };

  const access = { 'Secret demo/access': { data: { kubeconfig: base64('größer'), other: base64('two') } } };

  it('is the kubeconfig of the secret that the TargetSync names', async () => {
    const { opened, end } = open({ name: 'access', key: 'other' }, access);
    expect(await end).to.include({ kubeconfig: 'two', key: 'other', secret: access['Secret demo/access'] });
    expect(opened).to.deep.equal(['two']);
  });

  it('is under the key kubeconfig if no key is named', async () => {
    for (const secretRef of [{ name: 'access' }, { name: 'access', key: '' }])
      expect(await open(secretRef, access).end).to.include({ kubeconfig: 'größer', key: 'kubeconfig' });
  });

  it('leads to a server whose messages are marked as its own', async () => {
    const { end } = open({ name: 'access' }, access, serverWith({ 'GET /x': 403 }));
    const { client } = (await end) as { client: Client };
    expect(await caught(client.raw('GET', '/x')))
      .to.have.property('message')
      .that.contains('the source cluster from secret demo/access answered: no');
  });

  const rows: readonly (readonly [string, object, Answers, RegExp])[] = [
    ['the secret does not exist', { name: 'gone' }, {}, /^secret demo\/gone not found; it must contain the kubeconfig/],
    ['the secret has no such key', { name: 'access', key: 'x' }, access, /^no kubeconfig in secret demo\/access under key "x"$/],
    ['the secret is empty', { name: 'empty' }, { 'Secret demo/empty': {} }, /^no kubeconfig in secret demo\/empty under key "kubeconfig"$/],
  ]; // prettier-ignore
  for (const [title, secretRef, answers, sentence] of rows) {
    it(`does not exist if ${title}, and the message says what to repair`, async () => {
      const { opened, end } = open(secretRef, answers);
      const error = await end;
      expect(error).to.be.instanceOf(SourceUnavailable).with.property('message').that.matches(sentence);
      expect(error).to.have.property('name', 'SourceUnavailable');
      expect(opened).to.deep.equal([]);
    });
  }

  it('is unknown if the secret cannot be read', async () => {
    expect(await open({ name: 'access' }, { 'Secret demo/access': 500 }).end).to.have.property('status', 500);
  });
});

describe('whether a shoot is gone', () => {
  const SHOOT = 'Shoot garden/s';
  const LIST = 'GET /apis/core.gardener.cloud/v1beta1';
  const PLACE = 'Namespace garden';
  const serves = { [LIST]: { resources: [{ name: 'seeds' }, { name: 'shoots' }] } };
  const there = { [PLACE]: {} };
  const rows: readonly (readonly [string, Answers, boolean | number])[] = [
    ['no, if it exists', { [SHOOT]: { metadata: {} } }, false],
    ['yes, if it is being deleted', { [SHOOT]: { metadata: { deletionTimestamp: 'now' } } }, true],
    ['yes, if the cluster serves shoots and has the namespace, but not the shoot', { ...serves, ...there }, true],
    ['yes, if the namespace may not be read', { ...serves, [PLACE]: 403 }, true],
    ['no, if the cluster does not have the namespace', serves, false],
    ['no, if the cluster does not serve the group', there, false],
    ['no, if the group has other resources', { [LIST]: { resources: [{ name: 'seeds' }] }, ...there }, false],
    ['no, if the group has no resources', { [LIST]: {}, ...there }, false],
    ['unknown, if the shoot cannot be read', { [SHOOT]: 403, ...serves, ...there }, 403],
    ['unknown, if the resources cannot be read', { [LIST]: 500, ...there }, 500],
    ['unknown, if the server fails to read the namespace', { ...serves, [PLACE]: 500 }, 500],
  ]; // prettier-ignore
  for (const [title, answers, answer] of rows) {
    it(`is determined: ${title}`, async () => {
      const found = await caught(isShootGone(serverWith(answers), 'garden', 's'));
      expect(typeof found === 'boolean' ? found : (found as { status: number }).status).to.equal(answer);
    });
  }
});
