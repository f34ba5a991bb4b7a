/** The addresses that the clients of a tenant may connect to, and how many logins and authorities are kept. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Authorization } from '../../../src/components/authorization.ts';
import { CredentialReader } from '../../../src/components/credentials.ts';
import { RepositoryUnusable } from '../../../src/components/errors.ts';
import type { Transport } from '../../../src/components/transport.ts';
import { Trust } from '../../../src/components/trust.ts';
import { FakeClock } from '../../support/clock.ts';

describe('the address of a request', () => {
  const rows = [
    ['named', 'https://a.example', 'https://a.example', 'user'],
    ['named', 'https://b.example', 'https://a.example', 'redirect'],
    ['named', 'http://127.0.0.1:1', 'http://127.0.0.1:1', 'user'],
    ['named', 'http://127.0.0.1:2', 'http://127.0.0.1:1', 'user'],
    ['named', 'http://127.0.0.1:2', 'https://a.example', undefined],
    ['none', 'https://a.example', 'https://a.example', 'redirect'],
    ['none', 'http://127.0.0.1:1', 'http://127.0.0.1:1', undefined],
    ['all', 'http://127.0.0.1:2', 'https://a.example', 'redirect'],
  ] as const;
  for (const [local, url, first, chosenBy] of rows)
    it(`${url} after ${first}, with ${local} local addresses, is ${chosenBy ? `that of a ${chosenBy}` : 'refused'}`, () => {
      const choose = () => new Trust({ local }).chooserOf(new URL(url), new URL(first));
      if (chosenBy === undefined) expect(choose).to.throw('is an address of this machine or of its link');
      else expect(choose()).to.equal(chosenBy);
    });
});

describe('a process that uses registries', () => {
  it('keeps the authorities that it used last, up to twenty, and parses them once', () => {
    const pem = readFileSync(new URL('../../fixtures/signing/authority.pem', import.meta.url), 'utf8');
    const trust = new Trust();
    const at = (i: number) => trust.with(`${pem}${'\n'.repeat(i)}`)?.context;
    const [first, second] = [at(0), at(1)];
    for (let i = 2; i < 20; i++) at(i);
    expect(at(0), 'used again').to.equal(first);
    at(20);
    expect(at(0)).to.equal(first);
    expect(at(1), 'the one that was not used for longest').to.not.equal(second);
  });

  it('keeps the logins that it used last, up to five hundred', async () => {
    const authorization = new Authorization({ clock: new FakeClock() } as unknown as Transport);
    const login = {
      used: { username: 'u', password: 'p' },
      authorities: undefined,
      problems: [],
      registry: new URL('https://r.example'),
    };
    const answer = (key: number) =>
      authorization.answer(String(key), { scheme: 'basic' } as never, login, 'scope');
    for (let i = 0; i < 500; i++) await answer(i);
    await answer(0);
    await answer(500);
    const known = [0, 1, 2, 500].map((key) => authorization.known(String(key)) !== undefined);
    expect(known).to.deep.equal([true, false, true, true]);
  });
});

describe('the pull secrets of a Context', () => {
  it('are at most a hundred', () => {
    expect(() => new CredentialReader(100, 'the Context c')).to.not.throw();
    expect(() => new CredentialReader(101, 'the Context c')).to.throw(
      RepositoryUnusable,
      'the Context c references 101 pull secrets; the limit of 100 is fixed',
    );
  });

  it('have at most 256 KiB of credentials together, in both formats', () => {
    const docker = (bytes: number) => ({ '.dockerconfigjson': '{"auths":{}}'.padEnd(bytes) });
    const reader = new CredentialReader(3, 'c');
    reader.add(docker(200 * 2 ** 10), 'secret a');
    reader.add(docker(56 * 2 ** 10), 'secret b');
    expect(() => {
      reader.add(docker(1), 'secret c');
    }).to.throw(RepositoryUnusable, 'with secret c the pull secrets have more than 262144 bytes');
    const ocm = new CredentialReader(1, 'c');
    expect(() => {
      ocm.add({ '.ocmcredentialconfig': ' '.repeat(2 ** 18 + 1) }, 'secret d');
    }).to.throw('with secret d the pull secrets have more than');
  });
});
