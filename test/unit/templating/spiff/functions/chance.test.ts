import { expect } from 'chai';
import { standardFunctions } from '../../../../../src/templating/spiff/functions/index.ts';
import type { SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { call, complaint, world } from './support.ts';

/** `encrypt("text", "key")` of the original. */
const RECORDED =
  'c65e2a00dfa7319794419380bf4b13aeba4c48f25e78506c40c09f220adf589f69f705dabd1177ab85cbf2cab44b12d5';

const seeded = (seed: number, name: string, ...args: SpiffValue[]): SpiffValue =>
  standardFunctions[name]?.(args, world(undefined, seed)) ?? null;

describe('rand', () => {
  it('uses only the given source of randomness', () => {
    expect(seeded(1, 'rand', '[:alnum:]', 12n)).to.equal(seeded(1, 'rand', '[:alnum:]', 12n));
    expect(seeded(1, 'rand', '[:alnum:]', 12n)).to.not.equal(seeded(2, 'rand', '[:alnum:]', 12n));
  });
  it('creates strings of the characters of a set', () => {
    expect(seeded(1, 'rand', '[:alnum:]', 1000n)).to.match(/^[A-Za-z0-9]{1000}$/);
    expect(seeded(1, 'rand', 'a-c', 200n)).to.match(/^[abc]{200}$/);
    expect(seeded(1, 'rand', 'äö', 20n)).to.match(/^[äö]{20}$/);
  });
  it('creates integers up to a limit, also negative ones', () => {
    for (let seed = 0; seed < 50; seed++) {
      expect(Number(seeded(seed, 'rand', 3n))).to.be.within(0, 2);
      expect(Number(seeded(seed, 'rand', -3n))).to.be.within(-2, 0);
      expect((seeded(seed, 'rand') as bigint) >= 0n).to.equal(true);
    }
  });
  it('creates booleans', () => {
    const drawn = Array.from({ length: 50 }, (_, seed) => seeded(seed, 'rand', true));
    expect(drawn).to.include(true).and.to.include(false);
  });
  it('fails if no character can be found, or too many are requested', () => {
    expect(complaint('rand', '^\\x{0}-\\x{10ffff}')).to.match(/^rand: no character is in the set/);
    expect(complaint('rand', 'a', 10n ** 9n)).to.equal('rand length must not be over 100000');
  });
});

describe('hashes of passwords', () => {
  it('are verified with the password', () => {
    const hash = call('bcrypt', 'p', 4n);
    expect(hash).to.match(/^\$2a\$04\$/);
    expect(call('bcrypt_check', 'p', hash)).to.equal(true);
    expect(call('bcrypt_check', 'q', hash)).to.equal(false);
    const apache = call('md5crypt', 'p');
    expect(apache).to.match(/^\$apr1\$.{8}\$.{22}$/);
    expect(call('md5crypt_check', 'p', apache)).to.equal(true);
    expect(call('md5crypt_check', 'q', apache)).to.equal(false);
  });
  it('that take hours are rejected', () => {
    expect(complaint('bcrypt', 'p', 20n)).to.equal('bcrypt error: a cost over 14 takes too long');
  });
});

describe('encrypt', () => {
  const value = new Map<string, SpiffValue>([['a', [1n, 'x', 2.5, null]]]);

  it('is reversed by decrypt', () => {
    const hidden = call('encrypt', value, 'key');
    expect(hidden).to.match(/^[0-9a-f]+$/);
    expect(call('decrypt', hidden, 'key')).to.deep.equal(value);
    expect(call('decrypt', call('encrypt', 'text', 'key', '3DES'), 'key', '3DES')).to.equal('text');
  });
  it('is not reversed with another key', () => {
    expect(complaint('decrypt', call('encrypt', 'text', 'key'), 'other')).to.match(/^invalid key: /);
  });
  it('decrypts values that the original has encrypted', () => {
    expect(call('decrypt', RECORDED, 'key')).to.equal('text');
  });
});
