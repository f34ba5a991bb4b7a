/** Keys and certificates: those of the original can be read, and have the same properties here. */
import { expect } from 'chai';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SpiffValue } from '../../../../../src/templating/spiff/value.ts';
import { call, complaint } from './support.ts';

/** Created by the original in one run. */
const original = JSON.parse(readFileSync(new URL('./keys.json', import.meta.url), 'utf8')) as {
  key: string;
  publicKey: string;
  ssh: string;
  certificate: string;
  parsed: Record<string, unknown>;
  wireguard: string;
  wireguardPublic: string;
};

const fields = (more: Readonly<Record<string, SpiffValue>>): SpiffValue =>
  new Map(Object.entries({ usage: ['Signature', 'ServerAuth'], organization: ['ACME'], ...more }));

const certificate = (more: Readonly<Record<string, SpiffValue>>): X509Certificate =>
  new X509Certificate(call('x509cert', fields(more)) as string);

describe('keys', () => {
  it('of the original have the same public keys', () => {
    expect(call('x509publickey', original.key)).to.equal(original.publicKey);
    expect(call('x509publickey', original.key, 'ssh')).to.equal(original.ssh);
    expect(call('x509publickey', original.certificate)).to.equal(original.publicKey);
    expect(call('wgpublickey', original.wireguard)).to.equal(original.wireguardPublic);
  });
  for (const kind of ['P224', 'P256', 'P384', 'P521', 1024n]) {
    it(`of kind ${String(kind)} can be created, and their public keys read`, () => {
      const key = call('x509genkey', kind) as string;
      expect(key).to.match(/^-----BEGIN (EC|RSA) PRIVATE KEY-----\n/);
      const general = call('x509publickey', key, 'pkix') as string;
      expect(call('x509publickey', general)).to.equal(call('x509publickey', key));
      expect(createPublicKey(key).asymmetricKeyType).to.be.oneOf(['ec', 'rsa']);
    });
  }
  it('with so many bits that they take minutes are rejected', () => {
    expect(complaint('x509genkey', 100_000n)).to.match(/a key must have 1024 to 8192 bits$/);
  });
  it('cannot be created with numbers that are too large, or with names of inherited properties', () => {
    for (const kind of ['99999999999999999999', 'constructor']) {
      expect(complaint('x509genkey', kind)).to.equal(`Unrecognized elliptic curve: "${kind}"`);
    }
    expect(complaint('x509publickey', original.key, 'constructor')).to.equal(
      'invalid format for x509publickey: constructor',
    );
  });
  it('are never shown in error messages', () => {
    expect(complaint('wgpublickey', 'c2VjcmV0')).to.equal('error parsing key: incorrect key size: 6');
    const broken = '-----BEGIN EC PRIVATE KEY-----\nc2VjcmV0\n-----END EC PRIVATE KEY-----\n';
    expect(complaint('x509publickey', broken)).to.not.include('c2VjcmV0');
  });
});

describe('certificates', () => {
  it('of the original are read with the same result', () => {
    const { validity, ...rest } = Object.fromEntries(
      call('x509parsecert', original.certificate) as ReadonlyMap<string, SpiffValue>,
    );
    expect(rest).to.deep.equal(original.parsed);
    expect(validity).to.be.a('bigint');
  });
  it('with invalid extensions are an error of the caller', () => {
    const { raw } = new X509Certificate(original.certificate);
    const keyUsage = Buffer.from('03020780', 'hex');
    raw.writeUInt8(0x63, raw.indexOf(keyUsage) + 1);
    const broken = `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`;
    expect(complaint('x509parsecert', broken)).to.match(
      /^argument for x509parsecert must be a certificate in pem format: an element is longer/,
    );
  });
  it('can be self-signed', () => {
    const made = certificate({
      privateKey: original.key,
      commonName: 'web',
      hosts: ['a.example', '10.0.0.1', '::1'],
    });
    expect(made.verify(made.publicKey)).to.equal(true);
    expect(made.subject).to.equal('O=ACME\nCN=web');
    expect(made.checkHost('a.example')).to.equal('a.example');
    expect(made.checkIP('10.0.0.1')).to.equal('10.0.0.1');
    expect(made.ca).to.equal(false);
    const criticalKeyUsage = Buffer.from('0603551d0f0101ff', 'hex');
    expect(made.raw.includes(criticalKeyUsage), 'clients must obey the key usage').to.equal(true);
  });
  it('are signed by an authority', () => {
    const caKey = call('x509genkey', 'P384');
    const caCert = call(
      'x509cert',
      fields({ usage: 'CertSign', commonName: 'ca', privateKey: caKey }),
    ) as string;
    const ca = new X509Certificate(caCert);
    const leaf = certificate({
      commonName: 'leaf',
      publicKey: original.publicKey,
      caCert,
      caPrivateKey: caKey,
    });
    expect(ca.ca).to.equal(true);
    expect(leaf.checkIssued(ca)).to.equal(true);
    expect(leaf.verify(ca.publicKey)).to.equal(true);
  });
  it('cannot be created with the key of another authority', () => {
    const other = call('x509genkey', 1024n);
    const wrong = fields({ privateKey: original.key, caCert: original.certificate, caPrivateKey: other });
    expect(complaint('x509cert', wrong)).to.match(/doesn't match parent's PublicKey$/);
  });
  it('are valid for a year from now by default', () => {
    const made = certificate({ privateKey: original.key });
    const hours = (Date.parse(made.validTo) - Date.parse(made.validFrom)) / 3_600_000;
    expect(hours).to.equal(8760);
    const dated = certificate({ privateKey: original.key, validFrom: 'Jan 2 15:04:05 2024', validity: 48n });
    expect(dated.validFrom).to.equal('Jan  2 15:04:05 2024 GMT');
    expect(dated.validTo).to.equal('Jan  4 15:04:05 2024 GMT');
  });
});
