/** Keys, certificates, hashes and secrets for calls of Spiff functions, by kind. */
import { generateKeyPairSync } from 'node:crypto';
import { standardFunctions } from '../../../src/templating/spiff/functions/index.ts';
import type { SpiffValue } from '../../../src/templating/spiff/value.ts';
import { world } from './environment.ts';

const made = (name: string, ...args: SpiffValue[]): string =>
  standardFunctions[name]?.(args, world(1)) as string;

const rsa = made('x509genkey', 1024n);
const ec = made('x509genkey', 'P256');
const large = made('x509genkey', 'P521');
const certificate = (fields: Readonly<Record<string, SpiffValue>>): string =>
  made('x509cert', new Map(Object.entries(fields)));
const ca = certificate({
  usage: ['CertSign'],
  organization: ['ACME', 'x'],
  commonName: 'ca',
  privateKey: rsa,
});
const leaf = certificate({
  usage: ['Signature', 'keyencipherment', 'ServerAuth', 'clientauth', 'ipsecuser'],
  organization: 'Größe',
  country: ['DE'],
  commonName: 'web',
  hosts: ['a.example', '10.0.0.1', '::1'],
  publicKey: made('x509publickey', ec),
  caCert: ca,
  caPrivateKey: rsa,
  validFrom: 'Jan 2 15:04:05 2024',
  validity: 24n * 365n * 100n,
});
const strange = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;

export const CRYPTO_POOLS = {
  hash: [made('bcrypt', 'abc', 4n), '$2a$04$short', 'x', made('bcrypt', '', 4n)],
  apr: [made('md5crypt', 'abc'), made('md5crypt', 'foobar'), '$1$salt$x', 'a$b', '$apr1$x$y'],
  secret: [
    made('encrypt', 'text', 'key'),
    made('encrypt', new Map([['a', [1n, 'x']]]), 'key'),
    'zz',
    '00112233445566',
    made('encrypt', 'text', 'a much longer key than the others'),
  ],
  key: ['key', 'other', '3DES', '', 'a much longer key than the others'],
  pem: [
    rsa,
    ec,
    large,
    ca,
    leaf,
    made('x509publickey', rsa),
    made('x509publickey', ec, 'pkix'),
    strange,
    '-----BEGIN X-----\nAAAA\n-----END X-----\n',
    'x',
  ],
  publicFormat: ['pem', 'ssh', 'PKIX', 'x'],
  curve: ['P224', 'P256', 'P384', 'P521', 'P1', '1024', 1024n],
  fields: [
    new Map<string, SpiffValue>([
      ['usage', 'CertSign'],
      ['organization', 'x'],
      ['privateKey', ec],
    ]),
    new Map<string, SpiffValue>([
      ['usage', ['nope']],
      ['organization', 'x'],
      ['privateKey', ec],
    ]),
    new Map<string, SpiffValue>([
      ['usage', new Map()],
      ['organization', 'x'],
    ]),
    new Map<string, SpiffValue>([
      ['organization', 'x'],
      ['usage', []],
    ]),
    new Map<string, SpiffValue>([['privateKey', 'x']]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['validity', 'x'],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['isCA', 'x'],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['isCA', []],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['validity', []],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['hosts', [1.5]],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['commonName', []],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['caCert', ca],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['caCert', rsa],
    ]),
    new Map<string, SpiffValue>([
      ['privateKey', ec],
      ['validFrom', 'Jan 2 15:04:05 2024'],
    ]),
    new Map<string, SpiffValue>([['publicKey', made('x509publickey', ec)]]),
    new Map<string, SpiffValue>([
      ['publicKey', made('x509publickey', ec)],
      ['caCert', ca],
      ['caPrivateKey', ec],
    ]),
  ],
  wireguard: [made('wggenkey'), 'AAAA', 'x', '####'],
  wireguardKind: ['private', 'preshared', 'x'],
};
