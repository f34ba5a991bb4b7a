/** Generates requests to Go: calls of every function, formats, YAML, and templates with a few changed characters. */
import { readFileSync } from 'node:fs';
import type { Rng } from '../../../src/lib/rng.ts';
import { standardFunctions } from '../../../src/templating/gotemplate/template.ts';
import { pick, times, words } from '../random-parts.ts';
import type { TemplateRequest, YamlRequest } from '../oracle.ts';
import { UNCERTAIN } from './nondeterministic.ts';
import { PRINTED, VALUES } from './values.ts';

interface Recorded {
  readonly values: unknown;
  readonly groups: Readonly<Record<string, Readonly<Record<string, { readonly template: string }>>>>;
}

const recorded = JSON.parse(
  readFileSync(
    new URL('../../../test/unit/templating/gotemplate/upstream-results.json', import.meta.url),
    'utf8',
  ),
) as Recorded;

const STRINGS = words(
  '"abc" ~ "äöü" ~ "" ~ .s ~ .name ~ .uni ~ .lines ~ "a,b,c" ~ "Foo Bar-baz_qux HTTPServer2x" ~ "-" ~ "12" ~ "0x1f" ~ "1.5" ~ "a/b/../c.txt" ~ "aGk=" ~ "[0-9]+" ~ "(a|b)*" ~ "1.2.3" ~ "^1.2" ~ "https://u:p@h:80/p?q=1#f" ~ "  x  " ~ "<a&b>" ~ "1h30m" ~ "2006-01-02" ~ "2024-02-29" ~ "{\\"a\\": [1, 2.5, null]}" ~ "UTC" ~ "map" ~ "$1x"',
);
const INTEGERS = words('0 ~ 1 ~ 2 ~ -1 ~ 5 ~ 7 ~ 100 ~ 2.0 ~ (len .l)');
const ANY = [
  ...STRINGS,
  ...INTEGERS,
  ...words(
    '2.5 ~ -0.5 ~ 1e3 ~ 1e21 ~ nil ~ true ~ false ~ .nope ~ .nul ~ .deep.x ~ .num ~ .big ~ .f ~ .zero ~ .neg ~ .l ~ .nums ~ .m ~ .deep ~ .objs ~ .mixed ~ (list) ~ (dict) ~ (list 1 "a" nil) ~ (dict "k" 1) ~ (int64 3) ~ (until 3) ~ (splitList "," "a,b") ~ (split "/" "a/b") ~ (add 1 2) ~ (float64 3) ~ (index "abc" 0) ~ (list 1 (list 2)) ~ (semver "1.2.3-a+b") ~ (first .objs)',
  ),
];
const MAPS = words(
  '.m ~ .deep ~ (dict "a" 9 "c" (dict "x" 1)) ~ (dict) ~ (first .objs) ~ (dict "k" nil) ~ (dict "y" (dict "q" 2))',
);
const TIMES = words(
  '(toDate "2006-01-02" "2024-02-29") ~ (toDate "2006-01-02T15:04:05Z07:00" "2024-02-28T23:30:00+02:00")',
);
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: STRINGS,
  int: INTEGERS,
  int64: INTEGERS,
  uint32: ['1', '2'],
  float64: ['0.5', '2'],
  bool: ['true', 'false', '.yes'],
  map: MAPS,
  'time.Time': TIMES,
};
const SHOWN = words(
  '{{ CALL }} ~ {{ (CALL) | toJson }} ~ {{ printf "%v|%T" (CALL) (CALL) }} ~ {{ printf "%q" (CALL) }} ~ {{ toString (CALL) }} ~ {{ toYaml (CALL) }} ~ {{ with CALL }}{{ . }}{{ else }}none{{ end }} ~ {{ range CALL }}<{{ . }}>{{ end }} ~ {{ (CALL).x }}',
);
export function functionCalls(rng: Rng, each: number): TemplateRequest[] {
  const names = Object.entries(standardFunctions).filter(([name]) => !UNCERTAIN.test(name));
  return names.flatMap(([name, { params, variadic }]) =>
    times(each, () => {
      const extra = variadic === undefined ? 0 : Math.floor(rng.next() * 4);
      const types = [...params, ...Array<string>(extra).fill(variadic ?? 'any')];
      const isWild = rng.next() < 0.15;
      const args = types.map((type) => pick(rng, isWild ? ANY : (BY_TYPE[type] ?? ANY)));
      const last = args.at(-1);
      const isPiped = last !== undefined && last !== 'nil' && rng.next() < 0.3;
      const call = isPiped
        ? `${last} | ${[name, ...args.slice(0, -1)].join(' ')}`
        : [name, ...args].join(' ');
      return { template: pick(rng, SHOWN).replaceAll('CALL', () => call), values: VALUES };
    }),
  );
}

const TIME_CALLS = words(
  '.Format "Mon Jan _2 2006 15:04:05.000000 -07:00" ~ .Year ~ .Month ~ .Day ~ .YearDay ~ .Weekday ~ .Hour ~ .Minute ~ .Second ~ .Nanosecond ~ .Unix ~ .UnixMilli ~ .UnixMicro ~ .UnixNano ~ .IsZero ~ .IsDST ~ .UTC ~ .String ~ .Add 5400000000000 ~ .Add DURATION ~ .AddDate 0 1 0 ~ .AddDate 1 -2 33 ~ .AddDate 14 0 -1 ~ .Sub MOMENT ~ .After MOMENT ~ .Before MOMENT ~ .Equal MOMENT ~ .Compare MOMENT ~ .Truncate 3600000000000 ~ .Truncate DURATION ~ .Truncate 0 ~ .Round 3600000000000 ~ .Round 7 ~ .Round DURATION ~ .MarshalJSON ~ .MarshalText ~ .Nope ~ .Year 1 ~ .Add "1h" ~ .Add 1.5 ~ .AddDate 1 ~ .Sub 1',
);
const DURATION_CALLS = words(
  ' ~ .Hours ~ .Minutes ~ .Seconds ~ .Milliseconds ~ .Microseconds ~ .Nanoseconds ~ .String ~ .Abs ~ .Truncate 60000000000 ~ .Round 60000000000 ~ .Round 7 ~ .Round 0 ~ .Truncate -5',
);
const MOMENTS = [
  ...TIMES,
  ...words(
    '(toDate "2006-01-02 15:04:05.999999999" "1969-12-31 23:59:58.123456789") ~ (toDate "2006-01-02" "x") ~ (toDate "2006-01-02" "0999-10-31") ~ (toDate "2006-01-02T15:04:05-07:00" "2023-12-31T23:59:59-11:30")',
  ),
];
const TIME_SHOWN = words(
  '{{ CALL }} ~ {{ (CALL) | toJson }} ~ {{ printf "%v|%T|%s" (CALL) (CALL) (CALL) }} ~ {{ printf "%q %5s" (CALL) (CALL) }} ~ {{ toString (CALL) }} ~ {{ toYaml (list (CALL)) }} ~ {{ kindOf (CALL) }} {{ typeOf (CALL) }} ~ {{ CALL | quote }} {{ if CALL }}yes{{ end }} ~ {{ int (CALL) }} {{ int64 (CALL) }} {{ float64 (CALL) }} ~ {{ add (CALL) 1 }} {{ div (CALL) 2 }} {{ max 1 (CALL) }} ~ {{ eq (CALL) 11 }} ~ {{ lt (CALL) (CALL) }} {{ eq (CALL) (CALL) }} ~ {{ durationRound (CALL) }} {{ duration (CALL) }} ~ {{ cat (CALL) "x" }} {{ list (CALL) | join "," }} ~ {{ ternary "a" "b" (deepEqual (CALL) (CALL)) }} ~ {{ default 1 (CALL) }} {{ print (CALL) (CALL) }} {{ has (CALL) (list (CALL)) }}',
);

/** Methods of times and durations. */
export const timeMethods = (rng: Rng, count: number): TemplateRequest[] =>
  times(count, () => {
    const time = pick(rng, MOMENTS);
    const call = `${time}${pick(rng, TIME_CALLS)}`;
    const duration = `(${time}.Sub ${pick(rng, MOMENTS)})`;
    const chosen = rng.next() < 0.3 ? `${duration}${pick(rng, DURATION_CALLS)}` : call;
    const whole = chosen.replace('DURATION', () => duration).replace('MOMENT', () => pick(rng, MOMENTS));
    return { template: pick(rng, TIME_SHOWN).replaceAll('CALL', () => whole), values: VALUES };
  });

const FLAGS = ['', '', '', '+', '-', '#', '0', ' ', '+0', '-0', '# ', '+-', '#0'];
const VERBS = ['v', 'v', 'd', 's', 'q', 'x', 'X', 'f', 'e', 'g', 'G', 't', 'T', 'c', 'U', 'o', '%', 'z'];

export function formats(rng: Rng, count: number): TemplateRequest[] {
  return times(count, () => {
    const format = times(1 + Math.floor(rng.next() * 3), () =>
      [
        pick(rng, ['', 'a ', '|']),
        '%',
        pick(rng, FLAGS),
        pick(rng, ['', '', '', '5', '12', '3', '*']),
        pick(rng, ['', '', '', '.2', '.0', '.5', '.', '.*']),
        pick(rng, ['', '', '', '', '[1]', '[2]']),
        pick(rng, VERBS),
      ].join(''),
    ).join('');
    const args = times(Math.floor(rng.next() * 4), () => pick(rng, PRINTED));
    return { template: `{{ printf ${JSON.stringify(format)} ${args.join(' ')} }}`, values: VALUES };
  });
}

const CHARACTERS = Array.from('abZ019  \n\n\t:#,[]{}&*!|>\'"%@`./\\=~+_ä世\u00a0\reyx-?').concat([
  ': ',
  ' #',
  '- ',
  '? ',
  '🌍',
  'a longer run of words ',
]);
const SCALARS = words(
  'yes ~ no ~ on ~ n ~ true ~ null ~ ~ ~ 1 ~ 1.0 ~ 1e3 ~ 0x1f ~ 0b11 ~ 0o17 ~ 0777 ~ 08 ~ 1_000 ~ .5 ~ 5. ~ +1 ~ 1:30 ~ 190:20:30 ~ 2024-01-02 ~ 2024-13-45 ~ 2024-01-02T03:04:05Z ~ = ~ << ~ --- ~ ... ~ - ~ 1e400 ~ 0x ~ 0b12 ~ _1 ~ 9223372036854775808 ~ +0x1 ~ 1.5_5 ~ .e1 ~ .. ~ 00 ~ 0o8 ~ -0 ~ Infinity ~ tRue ~ NULL ~ 1.2.3 ~ 12e03 ~ 1.e+5',
);
const NUMBERS = [
  0, 1, -1, 1.5, 1e6, 1e15, 1e20, 1e21, -1e20, 9007199254740991, 0.1, 1e-7, 12345678.9, 9223372036854776000,
];

const someText = (rng: Rng, length: number): string =>
  rng.next() < 0.35
    ? pick(rng, SCALARS)
    : times(Math.floor(rng.next() * length), () => pick(rng, CHARACTERS)).join('');

function someValue(rng: Rng, depth: number): unknown {
  const kind = rng.next();
  const count = Math.floor(rng.next() * 4);
  if (depth > 0 && kind < 0.25) return times(count, () => someValue(rng, depth - 1));
  if (depth > 0 && kind < 0.5) {
    return Object.fromEntries(times(count, () => [someText(rng, 14), someValue(rng, depth - 1)]));
  }
  return kind < 0.85 ? someText(rng, 14) : pick<unknown>(rng, [...NUMBERS, null, true, false]);
}

export const yamlToWrite = (rng: Rng, count: number): YamlRequest[] =>
  times(count, () => ({ toYaml: someValue(rng, 3) }));

const AROUND = words(
  'a: X\n ~ - X\n- [X, X]\n ~ {X: 1}\n ~ X: y\nb: 2\n ~ !!str X\n ~ "X"\n ~ a: |\n  X\n ~ a: &q X\nb: *q\n',
);

export const yamlToRead = (): YamlRequest[] =>
  SCALARS.flatMap((scalar) => AROUND.map((around) => ({ yaml: around.replaceAll('X', scalar) })));

const FRAGMENTS = words(
  'a: ~b: ~- ~- - ~? ~: ~x~"q"~\'s\'~|\n~>\n~|-\n~>+\n~[~] ~{~} ~, ~&a ~*a ~!!str ~!t ~# c~\n~\n  ~\n    ~\n ~---\n~...\n~<<: ~1~\t~ ~yes~a b~"a\n  b"~|2\n~"~: x~-~\n\n~%YAML 1.1\n~\r\n~!!int 3~"\\x41"~世~{a: b, c}~[a: b, c: d]~a: |\n  text\n  more\n'
    .split('~')
    .join(' ~ '),
);

/** Documents composed of fragments; most are invalid. */
export const yamlDocuments = (rng: Rng, count: number): YamlRequest[] =>
  times(count, () => ({ yaml: times(1 + Math.floor(rng.next() * 10), () => pick(rng, FRAGMENTS)).join('') }));

const PIECES = words(
  '{{ ~ }} ~ {{- ~ -}} ~ ( ~ ) ~ | ~ . ~ .x ~ $ ~ $x ~ := ~ = ~ " ~ ` ~ 1 ~ 1. ~ 0x ~ nil ~ true ~ end ~ {{end}} ~ {{else}} ~ if ~ range ~ with ~ define ~ template ~ break ~ /* ~ */ ~ , ~ # ~ ä ~ .l ~ - ~ + ~ \\ ~ _ ~ {{/* c */}} ~ {{if 1}} ~ {{range .l}}',
);
/** Date functions format the current time if a mutation gives them something else than a time. */
const UNSTABLE = /parseOCI|ociRef|derivePass|now|shuffle|keys|uuid|rand|[dD]ate|\bago\b/;
const SOURCES = [
  ...Object.values(recorded.groups).flatMap((group) => Object.values(group).map(({ template }) => template)),
  '{{ range $i, $v := .l }}{{ if eq $i 0 }}{{ continue }}{{ end }}{{ $v }}{{ else }}x{{ end }}',
  '{{ with $x := .m }}{{ $x.a }}{{ else with .l }}{{ . }}{{ else }}z{{ end }}',
  '{{ define "T" }}{{ . }}{{ end }}{{ template "T" .name }}{{ block "B" .m }}{{ .a }}{{ end }}',
  '{{ range 3 }}{{ range $.l }}{{ break }}{{ end }}{{ . }}{{ end }}',
  '{{- /* c */ -}} {{ printf "%d" (len .l) -}} \n x {{- "y" }}',
].filter((text) => !UNSTABLE.test(text));

function mutate(rng: Rng, text: string): string {
  const at = Math.floor(rng.next() * (text.length + 1));
  const kind = rng.next();
  if (kind < 0.4) return text.slice(0, at) + pick(rng, PIECES) + text.slice(at);
  if (kind < 0.7) return text.slice(0, at) + text.slice(at + 1 + Math.floor(rng.next() * 3));
  const from = Math.floor(rng.next() * (text.length + 1));
  return text.slice(0, at) + text.slice(from, from + 10) + text.slice(at);
}

/** Valid templates with random changes. */
export const mutations = (rng: Rng, count: number): TemplateRequest[] =>
  times(count, () => {
    const parts = pick(rng, SOURCES).split(/(?<=\}\})/);
    const start = Math.max(0, Math.floor(rng.next() * parts.length) - 1);
    const text = parts.slice(start, start + 4).join('');
    return { template: mutate(rng, rng.next() < 0.5 ? mutate(rng, text) : text), values: recorded.values };
  });

const VERSIONS = words(
  '1 ~ 1.2 ~ 1.2.3 ~ 0.2.3 ~ 0.0.3 ~ 2.0.0 ~ 1.2.3-alpha ~ 1.2.3-alpha.1 ~ 1.2.3-beta+x ~ v1.5 ~ 0.2 ~ 1.x ~ * ~ x ~ 1.2.x ~ 0.0 ~ 2.5.1-0 ~ 1.10.0 ~ 01.2.3 ~ 1.2.3.4 ~ 1.2-a',
);
const OPERATORS = words(' ~ = ~ != ~ > ~ < ~ >= ~ <= ~ ~ ~ ^ ~ ~> ~ =< ~ => ~ >= ');
const TOGETHER = words(',  ~ , ~   ~  ||  ~  - ');

/** Versions and constraints. */
export const versions = (rng: Rng, count: number): TemplateRequest[] =>
  times(count, () => {
    const one = (): string => pick(rng, OPERATORS).trim() + pick(rng, VERSIONS);
    const constraint = rng.next() < 0.5 ? one() : one() + pick(rng, TOGETHER) + one();
    return { template: '{{ semverCompare .c .v }}', values: { c: constraint, v: pick(rng, VERSIONS) } };
  });
