/** Allowed differences between our templates and YAML and Go's. The comparison counts them separately. */
import type { KnownDifference } from '../comparison.ts';

/** Begins the text of a difference if Go's answers to the same request differ, and one of them is ours. */
export const RANDOM = 'random in Go:';

export const knownDifferences: readonly KnownDifference[] = [
  { why: 'Go answers differently each time, once as we do', pattern: new RegExp(`^${RANDOM} `) },
  {
    why: 'both fail, sprig with another message',
    pattern: /ERR .*error calling (\w+): .*\n.*ERR .*error calling \1: /s,
  },
  {
    why: 'comparison with an imported number: our error says that it is floating point',
    pattern: /imported numbers are floating point/,
  },
  {
    why: 'hexadecimal forms of doubles are not printed',
    pattern: /%[^ ]*[xXb].*\n.*0[xX]1?\.?|%!\w?[xXb]\(float64/s,
  },
  { why: 'copies keep the type of a version, which upstream loses', pattern: /[dD]eepCopy.*semver/ },
  { why: 'upstream panics when nil is merged', pattern: /[mM]erge(Overwrite)? nil/ },
  { why: 'complex numbers are not supported', pattern: /[0-9]i\b/ },
  {
    why: 'Go refuses some addresses that the URL standard accepts',
    pattern: /(urlParse|urlJoin).*\n {2}Go: {3}ERR .*\n {2}ours: (?!ERR)/s,
  },
  { why: 'our implementation has limits', pattern: /TemplateLimitExceeded|more than|exceeded/ },
  {
    why: 'we refuse content after a top-level flow collection, Go ignores it',
    pattern: /(fromYaml|"yaml":"(\\[nrt]|\s)*[[{]).*\n {2}Go: {3}(?!ERR).*\n {2}ours: ERR/s,
  },
  {
    why: 'an invalid document: Go reads an empty block scalar and ignores the rest',
    pattern: /"yaml":".*[|>].*\n {2}Go: {3}"\\"\\""\n {2}ours: ERR/s,
  },
  {
    why: 'rounding to a hundred digits: large powers of ten are inexact, in Go in another way',
    pattern: /\bround .* 100\b/,
  },
  {
    why: 'slice in Go returns elements beyond the length, depending on the capacity of the list',
    pattern: /ours: ERR .*error calling (mustS|s)lice: reflect\.Value\.Slice: slice index out of bounds/,
  },
  { why: 'lone surrogates are not valid strings in Go', pattern: /[\ud800-\udfff]|U\+D[89A-F]/ },
  {
    why: 'control characters that remain after nospace are refused in YAML',
    pattern: /nospace.*\n {2}Go: {3}(?!ERR).*\n {2}ours: ERR/s,
  },
  {
    why: 'the order of keys that look like numbers is random in upstream',
    pattern: /"toYaml":.*(\d{19}|"0\w+")|toYaml \(dict .*\\"1ä\\"/,
  },
  { why: 'local mean time, before standard time zones, has another name', pattern: / LMT / },
  {
    why: 'a time that a layout can parse in two ways',
    pattern: /[tT]oDate (?!\\"2006-01-02(T15:04:05Z07:00)?\\")/,
  },
];
