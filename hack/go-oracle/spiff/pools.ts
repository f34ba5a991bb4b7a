/** Values that functions of Spiff are called with, by kind. */
import { generateKeyPairSync } from 'node:crypto';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { noFiles } from '../../../src/templating/files.ts';
import { Unresolvable, type FunctionWorld } from '../../../src/templating/spiff/function.ts';
import { standardFunctions } from '../../../src/templating/spiff/functions/index.ts';
import { SpiffCallable, type SpiffValue } from '../../../src/templating/spiff/value.ts';

/** A lambda in both languages. */
export class KnownLambda extends SpiffCallable {
  readonly text: string;
  readonly call: (args: readonly SpiffValue[]) => SpiffValue;

  constructor(source: string, call: (args: readonly SpiffValue[]) => SpiffValue) {
    super();
    this.text = `lambda${source}`;
    this.call = call;
  }
}

export const world = (seed: number): FunctionWorld => ({
  clock: systemClock,
  rng: seededRng(seed),
  files: noFiles,
  call(callable, args) {
    if (callable instanceof KnownLambda) return callable.call(args);
    throw new Error('only lambdas made here can be called');
  },
});

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

/** Values by kind. A function names the kinds it wants; now and then it gets something else. */
export const POOLS = {
  str: [
    'abc',
    '',
    'foobar',
    'a,b,,c',
    'Grüße, ß',
    '  x\t ',
    'xxaxx',
    'line\nsecond\n',
    '12',
    '-7',
    'tRue',
    '0x1f',
    '1e3',
    '%d %s|%v',
    'ÄÖÜ',
    'a',
    '\\',
    '"q"',
    '9223372036854775808',
    '1_000',
    ' 5',
  ],
  part: ['a', 'o', ',', '', 'b', 'ü', 'xx', ' '],
  int: [0n, 1n, 2n, 3n, -1n, 5n, 20n, -3n, 100n, 9223372036854775807n],
  small: [0n, 1n, 2n, 3n, 4n, -1n, -2n],
  float: [1.5, 2, -0.25, 1e6, 20971520, 1e21, 1e-7, 0, 123456789.125],
  bool: [true, false],
  nil: [null],
  list: [
    [],
    ['b', 'a', 'c'],
    [3n, 1n, 2n],
    ['a', 1n],
    [1n, 1n, '1'],
    [1.5, 1.5],
    ['x', null, '', [], new Map(), 'y'],
    [['a'], ['a']],
    [' p', 'q '],
    [true, 'true', 1n],
    ['1.10.0', '1.9.0', 'v1.9.0-a'],
  ],
  map: [
    new Map(),
    new Map<string, SpiffValue>([
      ['b', 2n],
      ['a', 1n],
    ]),
    new Map<string, SpiffValue>([
      ['x', null],
      ['y', new Map([['z', 'end']])],
      ['f', 2.5],
    ]),
    new Map<string, SpiffValue>([
      ['key', 'k'],
      ['value', 1n],
    ]),
  ],
  maps: [
    [
      new Map<string, SpiffValue>([
        ['name', 'p'],
        ['v', 1n],
      ]),
      new Map<string, SpiffValue>([['name', 'q']]),
    ],
    [
      new Map<string, SpiffValue>([
        ['key', 'a'],
        ['value', 'x'],
      ]),
      new Map<string, SpiffValue>([
        ['key', 1n],
        ['value', null],
      ]),
    ],
    [
      new Map<string, SpiffValue>([
        ['key', 1.5],
        ['value', 1n],
      ]),
    ],
    [new Map<string, SpiffValue>([['id', 5n]])],
    [new Map<string, SpiffValue>([['key', true]])],
  ],
  name: ['name', 'key', 'id', 'v', 'nope'],
  regex: [
    '[0-9]+',
    '(f.*)(b.*)',
    'o',
    '^a',
    '',
    'x*',
    '(',
    '(?P<n>b)|c',
    '[[:alpha:]]',
    'b|$',
    '.',
    '\\bfoo',
  ],
  template: ['#', '$1', '${n}-$0', '', '[$2]', '$$'],
  set: ['[:alnum:]', 'a-c', '0-9', '^a', '(', 'x'],
  base64: ['aGk=', 'aGk', 'aMOp', '####', '', 'aG\nk=', '/+8='],
  algorithm: [
    'md5',
    'sha1',
    'sha224',
    'sha256',
    'sha384',
    'sha512',
    'sha512/224',
    'sha512/256',
    'md4',
    'crc',
  ],
  format: [
    '%s %d',
    '%05.2f|%q',
    '%v %v',
    '%x',
    '%T %T',
    '%%',
    '%5s|%-5s|',
    '%[2]v %[1]v',
    'plain',
    '%d',
    '%t',
    '%+d %e',
  ],
  url: [
    'https://u:p@example.org:8443/a/b?q=1&q=2&r=a+b%20c&s#frag',
    'a/b/c.txt',
    '/',
    '',
    'http://h',
    '/a/b/',
    'x://[::1]:80/p',
    'http://a b',
    'mailto:x@y',
    '%zz',
    'a',
    '..',
    'http://h?x;y=1&z',
    '//h/p',
    'a//b/../c/',
  ],
  version: [
    '1.2.3',
    'v1.2',
    '1',
    '1.2.3-beta.1',
    '1.0.0+b',
    '2.3.4-rc.1+m',
    '0.2.3',
    '0.0.3',
    'x',
    '1.2.3.4',
    '01.2.3',
    '1.2.3-01',
    '2.0.0',
  ],
  constraint: [
    '^1',
    '~1.2',
    '>=1, <2',
    '1.x || >=3',
    '!=1.2.3',
    '<1.0.0-0',
    '*',
    'nope',
    '1.2 - 2',
    '=1.2.3',
    '^0.2',
    '^0.0.3',
    '>1',
    '<=1.2',
    '>=2.0.0-0 || ^0',
    '~0.2.3',
    '!=1.x',
  ],
  pre: ['beta', '', 'a.1', '01', 'x y', 'a..b'],
  cidr: [
    '10.0.0.0/24',
    '192.168.1.77/30',
    '0.0.0.0/0',
    '10.0.0.1/32',
    '10.0.0.0',
    '10.0.0.0/33',
    'fd00::/120',
    'x',
    '10.0.0.0/08',
    '::ffff:10.0.0.0/120',
  ],
  ip: [
    '10.0.0.5',
    '10.0.1.0',
    '::1',
    '256.1.1.1',
    'x',
    '192.168.1.78',
    'fd00::5',
    '::ffff:10.0.0.7',
    '2001:db8:0:0:1::1',
  ],
  range: [
    '10.0.0.0/28',
    '10.0.0.1-10.0.0.4',
    '10.0.0.9 - 10.0.0.1',
    '10.0.0.1',
    'x',
    '10.0.0.1-x',
    'fd00::1-fd00::9',
  ],
  ranges: [['10.0.0.1', '10.0.1.0/30'], ['10.0.0.250-10.0.1.3'], [1n], []],
  places: [[0n, 2n], [1n, [3n, null]], [-1n], ['x'], []],
  lambda: [
    new KnownLambda('|a,b|->a > b', ([a, b]) => greater(a, b)),
    new KnownLambda('|a,b|->-1', () => -1n),
    new KnownLambda('|a,b|->"x"', () => 'x'),
  ],
  one: [
    new KnownLambda('|m|->"<" m.[0] ">"', ([m]) => `<${String((m as readonly string[])[0])}>`),
    new KnownLambda('|m|->5', () => 5n),
  ],
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
  yaml: [
    'a: [1, yes]\nb: x',
    '{"a": 1}',
    '',
    'a: b: c',
    '1: x',
    'x: 2.0\ny: !!str 5\nz: ~',
    '- 0o17\n- 1_0.5\n- +.inf\n- 08',
    'a: 1\n---\nb: 2',
    'a: &q [1]\nb: *q',
    '[a:b]',
    "a: 'it''s'\nb: |\n  x\n  y\nc: >-\n  x\n  y",
    'y: 1',
    '{<<: {a: 1}}',
    '? [a]\n: 1',
    '.5',
    '-',
    '~',
    'tRue',
  ],
  mode: ['import', 'importmulti', 'text', 'binary', 'none', '.import'],
} satisfies Readonly<Record<string, readonly SpiffValue[]>>;

export type Kind = keyof typeof POOLS;

function greater(a: SpiffValue | undefined, b: SpiffValue | undefined): SpiffValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a > b;
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0;
  if (typeof a === 'bigint' || typeof a === 'string') throw new Unresolvable('not comparable');
  return false;
}
