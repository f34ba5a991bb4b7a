/**
 * Plays the numbered scenarios of the specifications and writes docs/scenarios.md: which there are, and how they end on
 * which server.
 *
 *     hack/scenarios-doc.ts [--envtest] [CHAPTER…]
 *
 * With --envtest they are played on a real kube-apiserver, too. With chapters, named by a word of their titles, only those
 * are played, and the others stay as they are in the page. Exit code 1 when one of them fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/scenarios.md');

/** A specification whose scenarios are numbered without gaps. */
interface Book {
  /** What its numbers begin with; two books may begin alike, and are told apart by their folders. */
  readonly letters: 'S-' | 'DF-' | 'S';
  readonly title: string;
  readonly last: number;
  /** Folders whose tests need a server. Others play other specifications, which have numbers of their own. */
  readonly played: readonly string[];
  /** Folders whose tests need none. */
  readonly values: readonly string[];
  /** What the page calls those. */
  readonly without: 'values' | 'simulated';
  /** Numbers that tests of another book play, and which ones. */
  readonly elsewhere?: Readonly<Record<number, string>>;
}

const scenarios = (...suites: readonly string[]) => suites.map((suite) => `test/scenario/${suite}`);
const units = (...suites: readonly string[]) => suites.map((suite) => `test/unit/${suite}`);

const books: readonly Book[] = [
  {
    letters: 'S-',
    title: 'The core',
    last: 122,
    played: scenarios('core', 'targetsync', 'health', 'webhooks'),
    values: units('controllers', 'machine'),
    without: 'values',
  },
  {
    letters: 'DF-',
    title: 'The data flow',
    last: 169,
    played: scenarios('dataflow', 'components'),
    values: units('blueprint', 'dataflow', 'templating', 'components'),
    without: 'values',
  },
  {
    letters: 'S-',
    title: 'Deployers, targets and the command line',
    last: 96,
    played: scenarios('deployers', 'cli'),
    values: units('deployers', 'cli'),
    without: 'values',
    elsewhere: { 88: 'S-108 to S-111 of the core' },
  },
  {
    letters: 'S',
    title: 'The runtime for operators',
    last: 127,
    played: [...scenarios('operators'), 'test/conformance/runtime', 'test/conformance/workflow'],
    values: [...units('runtime', 'workflow'), 'test/large'],
    without: 'simulated',
  },
];

type Outcome = 'passes' | 'FAILS' | 'skipped';

/** What hack/mocha-outcomes.mjs tells of a test. */
interface Played {
  readonly title: string;
  readonly fullTitle: string;
  readonly file: string;
  readonly outcome: Outcome;
  /** Why it was skipped. */
  readonly reason?: string;
}

interface Row {
  readonly book: Book;
  readonly number: number;
  /** Without the number. */
  readonly title: string;
  readonly fullTitle: string;
  readonly isUnit: boolean;
  embedded?: Played;
  real?: Played;
}

/** What titles of numbered tests look like, whole: the number is that of the test, or of what it is a part of. */
const NUMBERED = '(^| )((S|DF)-[0-9]|S[0-9]+[:,–])';

async function play(suites: readonly string[], kubeconfig?: string): Promise<readonly Played[]> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-scenarios-'));
  try {
    const output = join(folder, 'report.json');
    const mocha = [join(root, 'node_modules/mocha/bin/mocha.js'), '--grep', NUMBERED];
    const reporter = [
      ...['--reporter', join(root, 'hack/mocha-outcomes.mjs')],
      ...['--reporter-option', `output=${output}`],
    ];
    const child = spawn(process.execPath, [...mocha, ...reporter, ...suites], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...(kubeconfig !== undefined && { ESPALIER_TEST_KUBECONFIG: kubeconfig }) },
    });
    await once(child, 'exit');
    return JSON.parse(readFileSync(output, 'utf8')) as Played[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function playOnRealServer(): Promise<readonly Played[]> {
  const { startEnvtest } = await import('../test/support/envtest.ts');
  const server = await startEnvtest();
  try {
    return await play(playedSuites, server.kubeconfigFile);
  } finally {
    await server.stop();
  }
}

type Place = Pick<Row, 'book' | 'number' | 'title'>;

/** The book of a test and its numbers there, as in `DF-129, 139: exports …`; none for tests without one. */
function placesOf(test: Played): readonly Place[] {
  const book = chosen.find((b) =>
    [...b.played, ...b.values].some((suite) => test.file.includes(`/${suite}/`)),
  );
  if (!book) return [];
  return book.letters === 'S' ? undashed(book, test) : dashed(book, test.title);
}

function dashed(book: Book, title: string): readonly Place[] {
  const [all = '', letters, numbers = ''] =
    /^([A-Z]+-)(\d+[a-z]?(?:, (?:[A-Z]+-)?\d+)*)\b:?\s*/.exec(title) ?? [];
  if (letters !== book.letters) return [];
  return numbers.split(', ').map((number) => ({
    book,
    number: parseInt(number.replace(/^[A-Z]+-/, '')),
    title: title.slice(all.length),
  }));
}

/** `S53, S55: is created …`, or `S97–S101: …`, or a test inside of a block of that title. */
function undashed(book: Book, { title, fullTitle }: Played): readonly Place[] {
  const pattern = /(?:^| )S(\d+)(?:–S(\d+)|((?:, S\d+)*)):\s*/;
  const own = pattern.exec(title);
  const match = own ?? pattern.exec(fullTitle);
  if (!match) return [];
  const [all, first = '', last, others = ''] = match;
  const rest = (own ? title : fullTitle).slice(match.index + all.length);
  const numbers = [Number(first), ...others.split(', S').slice(1).map(Number)];
  for (let number = Number(first) + 1; number <= Number(last ?? first); number++) numbers.push(number);
  return numbers.map((number) => ({ book, number, title: rest }));
}

function collect(rows: Map<string, Row>, played: readonly Played[], server: 'embedded' | 'real'): void {
  for (const test of played) {
    for (const place of placesOf(test)) {
      const key = `${place.book.title} ${place.number} ${test.fullTitle}`;
      const isUnit = place.book.values.some((suite) => test.file.includes(`/${suite}/`));
      const row = rows.get(key) ?? { ...place, fullTitle: test.fullTitle, isUnit };
      rows.set(key, row);
      row[server] = test;
    }
  }
}

const label = ({ letters }: Book, number: number): string =>
  letters + String(number).padStart(letters.endsWith('-') ? 2 : 1, '0');
const cell = (text: string): string =>
  text.replace(/[|<>]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll('\n', ' ');

function render(rows: readonly Row[], wasRealPlayed: boolean): string {
  const before = existsSync(page) ? readFileSync(page, 'utf8').split(/^(?=## )/m) : [];
  return [
    '<!-- Generated by hack/scenarios-doc.ts from a run of the tests; do not edit. -->',
    '# Scenarios',
    '',
    'The specifications tell how a landscape behaves in numbered scenarios. These are the tests that play them,',
    'and how they ended in the last run, on the embedded API server and on a real kube-apiserver.',
    '',
    '"values" marks tests that ask the rules directly, without a server; "simulated" those whose server, if they need one,',
    'is part of the test, with its own clock and faults; "skipped" those that need what the server has not.',
    '',
    ...books.map((book) => {
      const present = before.find((text) => text.startsWith(`## ${book.title}\n`));
      if (!chosen.includes(book) && present !== undefined) return present.trimEnd() + '\n';
      const own = rows.filter((row) => row.book === book);
      return chapter(book, own, wasRealPlayed).join('\n');
    }),
  ].join('\n');
}

function chapter(book: Book, rows: readonly Row[], wasRealPlayed: boolean): readonly string[] {
  const played = new Set(rows.map(({ number }) => number));
  const all = Array.from({ length: book.last }, (_, i) => i + 1);
  const elsewhere = Object.entries(book.elsewhere ?? {}).map(([number, where]) => ({
    number: Number(number),
    where,
  }));
  for (const { number } of elsewhere) played.add(number);
  const missing = all.filter((number) => !played.has(number)).map((number) => label(book, number));
  const ended = (test: Played | undefined): string =>
    [test?.outcome, test?.reason].filter((text) => text !== undefined).join(': ');
  const line = ({ number, title, isUnit, embedded, real }: Row): string => {
    const results = isUnit ? [`${ended(embedded)} (${book.without})`, ''] : [ended(embedded), ended(real)];
    return `| ${label(book, number)} | ${cell(title)} | ${results.map(cell).join(' | ')} |`;
  };
  return [
    `## ${book.title}`,
    '',
    `${played.size} of ${book.last} scenarios are played, by ${new Set(rows.map(({ fullTitle }) => fullTitle)).size} tests.`,
    ...(wasRealPlayed ? [] : ['In the last run there was no real kube-apiserver.']),
    '',
    '| | Scenario | embedded | kube-apiserver |',
    '|---|---|---|---|',
    ...rows.map(line),
    '',
    ...elsewhere.flatMap(({ number, where }) => [`${label(book, number)} is played by ${where}.`, '']),
    ...(missing.length === 0 ? [] : [`No test yet: ${missing.join(', ')}.`, '']),
  ];
}

const named = process.argv.slice(2).filter((arg) => !arg.startsWith('-'));
const chosen = books.filter(
  ({ title }) =>
    named.length === 0 || named.some((word) => title.toLowerCase().split(/\W+/).includes(word.toLowerCase())),
);
if (chosen.length === 0) {
  process.stderr.write(
    `no chapter has ${named.join(', ')} in its title: ${books.map((b) => b.title).join('; ')}\n`,
  );
  process.exit(2);
}
const playedSuites = chosen.flatMap(({ played }) => played);
const rows = new Map<string, Row>();
collect(rows, await play([...playedSuites, ...chosen.flatMap(({ values }) => values)]), 'embedded');
const isReal = process.argv.includes('--envtest');
if (isReal) collect(rows, await playOnRealServer(), 'real');
const sorted = [...rows.values()].sort((a, b) => a.number - b.number);
writeFileSync(page, render(sorted, isReal));
const failed = sorted.filter((row) => row.embedded?.outcome === 'FAILS' || row.real?.outcome === 'FAILS');
process.stdout.write(`${sorted.length} scenarios tested, ${failed.length} failed; see docs/scenarios.md\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
