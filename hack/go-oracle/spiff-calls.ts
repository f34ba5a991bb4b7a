/** Makes calls of every function of Spiff, with fitting and unfitting arguments. */
import { generateKeyPairSync } from 'node:crypto';
import type { Rng } from '../../src/lib/rng.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { seededRng } from '../../src/lib/rng.ts';
import { noFiles } from '../../src/templating/files.ts';
import { Unresolvable, type FunctionWorld } from '../../src/templating/spiff/function.ts';
import { standardFunctions } from '../../src/templating/spiff/functions/index.ts';
import { isSpiffList, isSpiffMap, SpiffCallable, type SpiffValue } from '../../src/templating/spiff/value.ts';

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

export interface SpiffCall {
  readonly name: string;
  readonly args: readonly SpiffValue[];
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
const POOLS = {
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

type Kind = keyof typeof POOLS;

function greater(a: SpiffValue | undefined, b: SpiffValue | undefined): SpiffValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a > b;
  if (typeof a === 'string' && typeof b === 'string')
    return Buffer.compare(Buffer.from(a), Buffer.from(b)) > 0;
  if (typeof a === 'bigint' || typeof a === 'string') throw new Unresolvable('not comparable');
  return false;
}

const ANYTHING: readonly Kind[] = ['str', 'int', 'float', 'bool', 'nil', 'list', 'map', 'maps'];

/** Kinds by function: alternatives for a place are joined by `|`, `any` is anything. */
const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  join: ['part list', 'part str|int|bool list nil', 'part'],
  split: ['part str', 'part str small', 'int str small'],
  trim: ['str', 'str part', 'list part'],
  substr: ['str small', 'str small small'],
  lower: ['str'],
  upper: ['str'],
  format: ['format', 'format any', 'format any any'],
  match: ['regex str', 'regex str|int|bool small', 'regex str bool'],
  split_match: ['regex str', 'regex str small'],
  replace: ['str part part', 'str part part small', 'str part one'],
  replace_match: ['str regex template', 'str regex template small', 'str regex one'],
  length: ['str|list|map'],
  contains: ['list any', 'str part|int|bool', 'map name'],
  index: ['list any', 'str part|int|bool'],
  lastindex: ['list any', 'str part|int|bool'],
  element: ['list small', 'map name', 'list str'],
  compact: ['list'],
  uniq: ['list'],
  sort: ['list', 'list lambda'],
  reverse: ['list'],
  intersect: ['list list', 'list nil list', 'list'],
  keys: ['map'],
  makemap: ['maps', 'str|int|bool any', 'name any name any', 'any any any'],
  list_to_map: ['maps', 'maps name'],
  type: ['any'],
  string: ['any', 'int small|int'],
  integer: ['str|int|float|bool'],
  float: ['str|int|float|bool'],
  bool: ['any'],
  abs: ['int|float'],
  floor: ['int|float|bool'],
  ceil: ['int|float|bool'],
  round: ['int|float|bool'],
  roundtoeven: ['int|float|bool'],
  base64: ['str', 'str small|int|str'],
  base64_decode: ['base64'],
  asjson: ['any'],
  asyaml: ['any'],
  md5: ['str'],
  hash: ['str', 'str algorithm'],
  bcrypt: ['str', 'str small'],
  bcrypt_check: ['str hash'],
  md5crypt: ['str'],
  md5crypt_check: ['str apr'],
  encrypt: ['any key', 'any'],
  decrypt: ['secret key', 'secret'],
  rand: ['', 'int', 'bool', 'set', 'set small', 'nil'],
  basename: ['url'],
  dirname: ['url'],
  parseurl: ['url'],
  min_ip: ['cidr'],
  max_ip: ['cidr'],
  num_ip: ['cidr'],
  contains_ip: ['cidr ip'],
  ipset: ['range small', 'ranges small', 'range small places', 'ranges small small small'],
  semver: ['version'],
  semvermajor: ['version'],
  semverminor: ['version'],
  semverpatch: ['version'],
  semverprerelease: ['version', 'version pre'],
  semvermetadata: ['version', 'version pre'],
  semverrelease: ['version', 'version version'],
  semverincmajor: ['version'],
  semverincminor: ['version'],
  semverincpatch: ['version'],
  semvercmp: ['version version'],
  semvermatch: ['version constraint', 'version constraint constraint', 'version'],
  semvervalidate: ['version constraint', 'version constraint constraint', 'version'],
  semversort: ['version version version', 'list'],
  x509genkey: ['curve'],
  x509publickey: ['pem', 'pem publicFormat'],
  x509cert: ['fields'],
  x509parsecert: ['pem'],
  wggenkey: ['', 'wireguardKind'],
  wgpublickey: ['wireguard'],
  lookup_file: ['str str'],
  lookup_dir: ['str list'],
  list_files: ['str'],
  list_dirs: ['str'],
  features: ['', 'str'],
  ...Object.fromEntries(
    ['sin', 'cos', 'sinh', 'cosh', 'asin', 'acos', 'asinh', 'acosh', 'sqrt', 'exp', 'log', 'log10'].map(
      (name) => [name, ['small|float']],
    ),
  ),
};

const pick = <T>(rng: Rng, from: readonly T[]): T => from[Math.floor(rng.next() * from.length)] as T;

function argument(rng: Rng, kinds: string): SpiffValue {
  const isWild = kinds === 'any' || rng.next() < 0.12;
  const kind = isWild ? pick(rng, ANYTHING) : (pick(rng, kinds.split('|')) as Kind);
  return pick<SpiffValue>(rng, POOLS[kind]);
}

/** @throws Error for a function of which nobody said what it wants */
export function spiffCalls(rng: Rng, each: number): SpiffCall[] {
  return Object.keys(standardFunctions).flatMap((name) => {
    const signatures = SIGNATURES[name];
    if (!signatures) throw new Error(`spiff-calls.ts does not know the arguments of "${name}"`);
    return Array.from({ length: each }, () => {
      const kinds = pick(rng, signatures)
        .split(' ')
        .filter((kind) => kind !== '');
      const chance = rng.next();
      if (chance < 0.04) kinds.pop();
      else if (chance < 0.08) kinds.push('any');
      return { name, args: kinds.map((kind) => argument(rng, kind)) };
    });
  });
}

/** The value as YAML on one line, which the original reads as the same value. */
export function literal(value: SpiffValue): string {
  if (isSpiffList(value)) return `[${value.map(literal).join(', ')}]`;
  if (isSpiffMap(value)) {
    return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}: ${literal(item)}`).join(', ')}}`;
  }
  if (value === null) return '~';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'number') throw new Error('only data can be written');
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? `${value.toFixed(0)}.0` : String(value);
}

/** A document with the arguments in a list, and the call in `x`. */
export function documentOf({ name, args }: SpiffCall): string {
  const values = args.map((arg) => (arg instanceof KnownLambda ? null : arg));
  const written = args.map((arg, i) =>
    arg instanceof KnownLambda ? arg.text.replace('lambda', '') : `args.[${String(i)}]`,
  );
  return `args: ${literal(values)}\nx: (( ${name}(${written.join(', ')}) ))\n`;
}
