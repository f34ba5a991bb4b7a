/** Where our Spiff is allowed to differ from the original, each with the reason. The comparison counts them apart. */

export interface SpiffDifference {
  readonly why: string;
  /** Of the document and both answers, as they are printed. */
  readonly pattern: RegExp;
}

export const knownSpiffDifferences: readonly SpiffDifference[] = [
  {
    why: 'the original panics or finds no end',
    pattern: /\n {2}Go: {3}ERR panic: [^]*\n {2}ours: (?!ERR crash)/,
  },
  { why: 'the original shows the address of a function', pattern: /ERR %!s\(func\(.*format must be string/ },
  {
    why: 'the original cannot write null as YAML',
    pattern: /(asyaml|encrypt)\([^]*Go: {3}ERR .*reflect: call of reflect\.Value\.Type on zero Value/,
  },
  { why: 'maps are merged by the evaluator', pattern: /<<[^]*x: \(\( parse/ },
  {
    why: 'what is wrong with YAML is said in other words',
    pattern: /Go: {3}ERR (error parsing file .*): yaml: .*\n {2}ours: ERR \1: yaml/,
  },
  {
    why: 'the original shows the insides of a list or a map',
    pattern: /Go: {3}ERR map key \(.*(\{\[\] false|map\[).*\n {2}ours: ERR map key \((list|map)\) must be/,
  },
  {
    why: 'errors in lambdas are worded by the evaluator',
    pattern: /Go: {3}ERR .*\n?\t*(\.\.\. )?.*evaluation of lambda expression failed[^]*ours: ERR /,
  },
  {
    why: 'the original counts no addresses in networks of IPv6',
    pattern: /(num_ip|ipset)\([^]*Go: {3}(0\n|ERR ip index.* out of range \(0 IP)/,
  },
  { why: 'the original says nothing', pattern: /x: \(\( join\(\) \)\)/ },
  {
    why: 'the original shows the insides of what is no text',
    pattern:
      /Go: {3}ERR semvervalidate: [^"][^]*: (semvervalidate requires .*)\n {2}ours: ERR semvervalidate: \w+: \1/,
  },
  {
    why: 'a private key must not be in an error',
    pattern: /wgpublickey\([^]*Go: {3}ERR error parsing key "/,
  },
  {
    why: 'hexadecimal forms of doubles are not printed',
    pattern: /x: \(\( format\([^]*Go: {3}"[^]*0[xX]1?[.p]/,
  },
  {
    why: 'values of arguments must not be in an error',
    pattern:
      /Go: {3}ERR unresolved[^]*evaluation of lambda expression failed: [^]*: \{\w+: [^]*ours: ERR unresolved/,
  },
  {
    why: 'the original loses the reason behind -or and -and',
    pattern: / -(or|and) [^\n]*\tin template\t[^\n]*\t\(\)\n[^]*ours: ERR unresolved/,
  },
];
