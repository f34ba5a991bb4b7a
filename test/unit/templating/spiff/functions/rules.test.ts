/** Rules of single functions: numbers of arguments, ranges, formats that other programs define. */
import { expect } from 'chai';
import { parseInteger } from '../../../../../src/templating/spiff/functions/arguments.ts';
import type { SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { call, complaint } from './support.ts';

describe('functions of Spiff', () => {
  const refused: readonly (readonly [name: string, args: readonly SpiffValue[], message: string])[] = [
    ['parseurl', ['http://a', 'b'], 'invalid argument count for parseurl'],
    ['parseurl', [], 'invalid argument count for parseurl'],
    ['features', ['a', 'b'], 'features acctepts a maximum of one arguments'],
    ['bcrypt_check', ['a'], 'bcrypt_check takes two arguments'],
    ['bcrypt_check', ['a', 'b', 'c'], 'bcrypt_check takes two arguments'],
    ['ipset', ['10.0.0.0-10.0.0.9', -1n], 'ipset: the number of IPs must be from 0 to 100000'],
    ['ipset', ['10.0.0.0-10.9.0.9', 100_001n], 'ipset: the number of IPs must be from 0 to 100000'],
    ['wggenkey', ['public'], 'invalid key type "public", use private or preshared'],
  ];
  for (const [name, args, message] of refused)
    it(`${name} with ${String(args.length)} arguments says: ${message}`, () => {
      expect(complaint(name, ...args)).to.equal(message);
    });

  it('ipset returns no addresses on request', () => {
    expect(call('ipset', '10.0.0.0-10.0.0.9', 0n)).to.deep.equal([]);
  });

  it('wggenkey clears and sets the bits that Curve25519 requires of private keys only', () => {
    const bytesOf = (kind: string): Buffer => Buffer.from(call('wggenkey', kind) as string, 'base64');
    const bits = (bytes: Buffer): readonly number[] => [bytes.readUInt8(0) & 7, bytes.readUInt8(31) & 192];
    expect(bits(bytesOf('private'))).to.deep.equal([0, 64]);
    expect(bits(bytesOf('preshared'))).not.to.deep.equal([0, 64]);
  });

  it('md5crypt_check accepts what other programs have written', () => {
    const hash = '$apr1$abcdefgh$PhlwRoUF/GFgdE/NH6UgX0';
    expect(call('md5crypt_check', 'secret-word', hash)).to.equal(true);
    expect(call('md5crypt_check', 'secret-words', hash)).to.equal(false);
  });

  it('semversort takes a list, or versions', () => {
    expect(call('semversort', ['2.0.0', '1.0.0'])).to.deep.equal(['1.0.0', '2.0.0']);
    expect(call('semversort', '2.0.0', '1.0.0')).to.deep.equal(['1.0.0', '2.0.0']);
    expect(call('semversort')).to.deep.equal([]);
  });

  it('read all integers of 64 bits, and no others', () => {
    for (const text of ['9223372036854775807', '-9223372036854775808'])
      expect(String(parseInteger(text))).to.equal(text);
    for (const text of ['9223372036854775808', '-9223372036854775809'])
      expect(() => parseInteger(text)).to.throw('value out of range');
  });

  it('match stops after too many matches', () => {
    expect(complaint('match', 'a', 'a'.repeat(100_001), -1n)).to.contain('more than 100000 matches');
  });
});
