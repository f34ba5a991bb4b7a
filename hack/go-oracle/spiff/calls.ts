/** Generates calls of every Spiff function, with valid and invalid arguments. */
import type { Rng } from '../../../src/lib/rng.ts';
import { standardFunctions } from '../../../src/templating/spiff/functions/index.ts';
import { isSpiffList, isSpiffMap, type SpiffValue } from '../../../src/templating/spiff/value.ts';
import { pick, times } from '../random-parts.ts';
import { POOLS, type Kind } from './pools.ts';
import { KnownLambda } from './environment.ts';

export interface SpiffCall {
  readonly name: string;
  readonly args: readonly SpiffValue[];
}

const ANYTHING: readonly Kind[] = ['str', 'int', 'float', 'bool', 'nil', 'list', 'map', 'maps'];

/** Kinds of arguments by function; `|` separates alternatives, `any` means any kind. */
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

function argument(rng: Rng, kinds: string): SpiffValue {
  const isWild = kinds === 'any' || rng.next() < 0.12;
  const kind = isWild ? pick(rng, ANYTHING) : (pick(rng, kinds.split('|')) as Kind);
  return pick<SpiffValue>(rng, POOLS[kind]);
}

/** @throws Error for a function without a signature */
export function spiffCalls(rng: Rng, each: number): SpiffCall[] {
  return Object.keys(standardFunctions).flatMap((name) => {
    const signatures = SIGNATURES[name];
    if (!signatures) throw new Error(`calls.ts has no signature for "${name}"`);
    return times(each, () => {
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

/** The value as YAML on one line that the original parses to the same value. */
function literal(value: SpiffValue): string {
  if (isSpiffList(value)) return `[${value.map(literal).join(', ')}]`;
  if (isSpiffMap(value)) {
    return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}: ${literal(item)}`).join(', ')}}`;
  }
  if (value === null) return '~';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'number') throw new Error('only data can be a literal');
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
