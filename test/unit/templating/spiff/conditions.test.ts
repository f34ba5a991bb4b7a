/** Conditions on versions, keys and certificates, and lists with a key of their own; the results are the original's. */
import { expect } from 'chai';
import { valueOf } from './given.ts';

describe('the conditions of Spiff', () => {
  const rows: readonly (readonly [expression: string, result: unknown])[] = [
    ['check("1.2.3", "semver")', true],
    ['check("x", "semver")', false],
    ['check(5, "semver")', false],
    ['check("1.2.3", "!semver")', false],
    ['check("1.2.3", ["semver", "~1.2"])', true],
    ['check("1.2.3", ["semver", "~1.2", "^2"])', false],
    ['catch(check("1.2.3", ["semver", "nope"])).valid', false],
    ['check(key, "privatekey")', true],
    ['check(pub, "privatekey")', false],
    ['check("x", "privatekey")', false],
    ['check(pub, "publickey")', true],
    ['check(key, "publickey")', false],
    ['check("x", "publickey")', false],
    ['check(crt, "certificate")', true],
    ['check(pub, "certificate")', false],
    ['check(crt, "ca")', true],
    ['check(leaf, "ca")', false],
    ['check("x", "ca")', false],
  ];
  it('include versions, keys and certificates', () => {
    const cert = (isCA: boolean): string =>
      `(( x509cert({ "commonName"="x", "isCA"=${String(isCA)}, "usage"=["Signature"], "privateKey"=key, "validity"=10 }) ))`;
    const document = {
      key: '(( x509genkey(2048) ))',
      pub: '(( x509publickey(key) ))',
      crt: cert(true),
      leaf: cert(false),
      ...Object.fromEntries(rows.map(([expression], i) => [`r${String(i)}`, `(( ${expression} ))`])),
    };
    const found = valueOf(document) as Record<string, unknown>;
    expect(rows.map(([expression], i) => [expression, found[`r${String(i)}`]])).to.deep.equal(rows);
  });

  it('list_to_map finds entries by the key that the list itself names', () => {
    const tagged = [{ 'key:id': 'a', v: 1 }, { id: 'b' }];
    const document = {
      tagged,
      map: '(( list_to_map(tagged) ))',
      other: '(( list_to_map([{ "k"="a" }], "k") ))',
    };
    expect(valueOf(document)).to.deep.include({ map: { a: { v: 1 }, b: {} }, other: { a: {} } });
  });
});
