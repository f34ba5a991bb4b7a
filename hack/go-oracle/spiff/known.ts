/** Allowed differences between our Spiff and the original. The comparison counts them separately. */
import type { KnownDifference } from '../comparison.ts';

export const knownSpiffDifferences: readonly KnownDifference[] = [
  {
    why: 'the original panics or does not end',
    pattern: /\n {2}Go: {3}ERR panic: [^]*\n {2}ours: (?!ERR crash)/,
  },
  { why: 'the original prints the address of a function', pattern: /ERR %!s\(func\(.*format must be string/ },
  {
    why: 'the original cannot write null as YAML',
    pattern: /(asyaml|encrypt)\([^]*Go: {3}ERR .*reflect: call of reflect\.Value\.Type on zero Value/,
  },
  {
    why: 'YAML errors have other messages',
    pattern: /Go: {3}ERR (error parsing file .*): yaml: .*\n {2}ours: ERR \1: yaml/,
  },
  {
    why: 'the original prints the internals of a list or a map',
    pattern: /Go: {3}ERR map key \(.*(\{\[\] false|map\[).*\n {2}ours: ERR map key \((list|map)\) must be/,
  },
  {
    why: 'errors in lambdas have the message of the evaluator',
    pattern: /Go: {3}ERR .*\n?\t*(\.\.\. )?.*evaluation of lambda expression failed[^]*ours: ERR /,
  },
  {
    why: 'the original does not count addresses in IPv6 networks',
    pattern: /(num_ip|ipset)\([^]*Go: {3}(0\n|ERR ip index.* out of range \(0 IP)/,
  },
  { why: 'the original has no message', pattern: /x: \(\( join\(\) \)\)/ },
  {
    why: 'the original prints the internals of values that are not strings',
    pattern:
      /Go: {3}ERR semvervalidate: [^"][^]*: (semvervalidate requires .*)\n {2}ours: ERR semvervalidate: \w+: \1/,
  },
  {
    why: 'a private key must not be in an error',
    pattern: /wgpublickey\([^]*Go: {3}ERR error parsing key "/,
  },
  {
    why: 'hexadecimal forms of doubles are not printed',
    pattern: /x: \(\( format\([^]*Go: {3}"[^]*0[xX][01]?[.p]/,
  },
  {
    why: 'values of arguments must not be in an error',
    pattern:
      /Go: {3}ERR unresolved[^]*evaluation of lambda expression failed: [^]*: \{\w+: [^]*ours: ERR unresolved/,
  },
  {
    why: 'the original loses the reason behind -or and -and, or reports an earlier one',
    pattern:
      / -(or|and) [^\n]*\tin template\t[^\n]*\t\(\)(\n|\t\*'[^\n]*' (?:unresolved|not complete)\n)[^]*ours: ERR unresolved/,
  },
  {
    why: 'the original loses the reason behind -or and -and in a catch',
    pattern: /\bcatch\([^\n]* -(or|and) [^]*Go: {3}\{[^\n]*"error":"","valid":false/,
  },
  {
    why: 'an error that a template can read must not contain values of arguments',
    pattern:
      /Go: {3}\{.*"error":"evaluation of lambda expression failed: .*\{\w+: .*\n {2}ours: \{.*"error":"evaluation of lambda expression failed: /,
  },
  {
    why: 'the original needs another pass for catch, which does not happen for a nested catch',
    pattern:
      / {2}Go: {3}ERR unresolved nodes:[^]*\n\t\(\( .*\bcatch\(.* \)\)\tin template\t[^\t]*\t\(\)(\n|$|\t@)/,
  },
  {
    why: 'the original drops unresolved nodes next to ~~, and a catch is unresolved',
    pattern: /\(\( [^\n]*(~~[^\n]*\bcatch\(|\bcatch\([^\n]*~~)[^\n]* \)\)/,
  },
  {
    why: 'the message about valid key sizes is ours',
    pattern:
      /x509genkey\([^]*Go: {3}ERR (failed to generate private key): crypto\/rsa: -?\d+-bit keys are insecure.*\n {2}ours: ERR \1: a key must have /,
  },
  {
    why: 'a value must not be in an error',
    pattern: /Go: {3}ERR unresolved[^]*\n\t%!s\([^]*ours: ERR unresolved[^]*\n\t<value>\tin/,
  },
  {
    why: 'the original cannot parse its own result if it contains << of a template',
    pattern: /Go: {3}ERR yaml: map merge requires map or sequence of maps as the value\n {2}ours: (?!ERR)/,
  },
  {
    why: 'the original draws random bytes, some of which form one character',
    pattern: /args: \["\^a"[^]*x: \(\( rand\([^]*Go: {3}a text of \d+\n {2}ours: a text of /,
  },
];
