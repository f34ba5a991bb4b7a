/** Where our templates and YAML may differ from Go's. The comparison counts these apart. */
import type { KnownDifference } from '../comparison.ts';

export const knownDifferences: readonly KnownDifference[] = [
  {
    why: 'both refuse, a function of sprig, in words of its own',
    pattern: /ERR .*error calling (\w+): .*\n.*ERR .*error calling \1: /s,
  },
  {
    why: 'comparing with an imported number: the error tells that those are floating point',
    pattern: /imported numbers are floating point/,
  },
  {
    why: 'hexadecimal forms of doubles are not printed',
    pattern: /%[^ ]*[xXb].*\n.*0[xX]1?\.?|%!\w?[xXb]\(float64/s,
  },
  { why: 'copies keep the type of a version, which upstream loses', pattern: /[dD]eepCopy.*semver/ },
  { why: 'upstream panics when nil is merged', pattern: /[mM]erge(Overwrite)? nil/ },
  { why: 'there are no complex numbers', pattern: /[0-9]i\b/ },
  {
    why: 'Go refuses some addresses that the URL standard takes',
    pattern: /(urlParse|urlJoin).*\n {2}Go: {3}ERR .*\n {2}ours: (?!ERR)/s,
  },
  { why: 'ours has limits', pattern: /TemplateLimitExceeded|more than|exceeded/ },
  {
    why: 'what follows a flow collection at the top of a document is refused by us, dropped by Go',
    pattern: /(fromYaml|"yaml":"(\\[nrt]|\s)*[[{]).*\n {2}Go: {3}(?!ERR).*\n {2}ours: ERR/s,
  },
  {
    why: 'a broken document of which Go reads an empty block scalar and drops the rest',
    pattern: /"yaml":".*[|>].*\n {2}Go: {3}"\\"\\""\n {2}ours: ERR/s,
  },
  {
    why: 'rounded to a hundred places: powers of ten that large are a little off, in Go another way',
    pattern: /\bround .* 100\b/,
  },
  {
    why: 'lists of Go have room behind their end, which slice hands out, depending on how they came about',
    pattern: /ours: ERR .*error calling (mustS|s)lice: reflect\.Value\.Slice: slice index out of bounds/,
  },
  { why: 'halves of surrogate pairs are no text in Go', pattern: /[\ud800-\udfff]|U\+D[89A-F]/ },
  {
    why: 'control characters that nospace uncovers are refused in YAML',
    pattern: /nospace.*\n {2}Go: {3}(?!ERR).*\n {2}ours: ERR/s,
  },
  {
    why: 'upstream leaves the order of keys that look like numbers to chance',
    pattern: /"toYaml":.*(\d{19}|"0\w+")|toYaml \(dict .*\\"1ä\\"/,
  },
  { why: 'local mean time, before zones were agreed on, is known by another name', pattern: / LMT / },
  {
    why: 'a time that a layout can read in two ways',
    pattern: /[tT]oDate (?!\\"2006-01-02(T15:04:05Z07:00)?\\")/,
  },
];
