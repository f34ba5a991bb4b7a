/**
 * Plays the numbered scenarios of the specifications and writes docs/scenarios.md: which there are, and how they end on
 * which server.
 *
 *     hack/scenarios-doc.ts [--envtest]
 *
 * With --envtest they are played on a real kube-apiserver, too. Exit code 1 when one of them fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/scenarios.md');

/** A specification whose scenarios are numbered without gaps. */
interface Book {
  /** What its numbers begin with. */
  readonly letters: string;
  readonly title: string;
  readonly last: number;
  /** Folders whose tests need a server. Others play other specifications, which have numbers of their own. */
  readonly played: readonly string[];
  /** Folders whose tests ask for values. */
  readonly values: readonly string[];
  /** Why a scenario has no test. One that is neither here nor played is listed as forgotten. */
  readonly notPlayed: Readonly<Record<string, readonly number[]>>;
}

const scenarios = (...suites: readonly string[]) => suites.map((suite) => `test/scenario/${suite}`);
const units = (...suites: readonly string[]) => suites.map((suite) => `test/unit/${suite}`);
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

const books: readonly Book[] = [
  {
    letters: 'S',
    title: 'The core',
    last: 122,
    played: scenarios('core', 'targetsync', 'health', 'webhooks'),
    values: units('controllers', 'machine'),
    notPlayed: {},
  },
  {
    letters: 'DF',
    title: 'The data flow',
    last: 169,
    played: scenarios('dataflow', 'components'),
    values: units('blueprint', 'dataflow', 'templating', 'components'),
    notPlayed: {
      'state between jobs is not there yet': [80, 81],
      'Spiff is not there yet': range(125, 143),
    },
  },
];

type Outcome = 'passes' | 'FAILS' | 'skipped';
interface Row {
  readonly book: Book;
  readonly number: number;
  /** Without the number. */
  readonly title: string;
  readonly isUnit: boolean;
  embedded?: Outcome;
  real?: Outcome;
}

interface Report {
  readonly tests: readonly { title: string; fullTitle: string; file: string; err: object }[];
  readonly pending: readonly { fullTitle: string }[];
}

async function play(suites: readonly string[], kubeconfig?: string): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-scenarios-'));
  try {
    const output = join(folder, 'report.json');
    const mocha = [
      join(root, 'node_modules/mocha/bin/mocha.js'),
      '--grep',
      ` (${books.map(({ letters }) => letters).join('|')})-\\d`,
    ];
    const reporter = ['--reporter', 'json', '--reporter-option', `output=${output}`];
    const child = spawn(process.execPath, [...mocha, ...reporter, ...suites], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, ...(kubeconfig !== undefined && { ESPALIER_TEST_KUBECONFIG: kubeconfig }) },
    });
    await once(child, 'exit');
    return JSON.parse(readFileSync(output, 'utf8')) as Report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function playOnRealServer(): Promise<Report> {
  const { startEnvtest } = await import('../test/support/envtest.ts');
  const server = await startEnvtest();
  try {
    return await play(playedSuites, server.kubeconfigFile);
  } finally {
    await server.stop();
  }
}

/** The book of a test and its number there; undefined for tests without one. */
function placeOf(file: string, title: string): Pick<Row, 'book' | 'number' | 'title'> | undefined {
  const [all = '', letters, number] = /^([A-Z]+)-(\d+)[a-z]?\b:?\s*/.exec(title) ?? [];
  const book = books.find((b) => b.letters === letters);
  const isIn = [...(book?.played ?? []), ...(book?.values ?? [])].some((suite) =>
    file.includes(`/${suite}/`),
  );
  return book && isIn ? { book, number: Number(number), title: title.slice(all.length) } : undefined;
}

function collect(rows: Map<string, Row>, report: Report, server: 'embedded' | 'real'): void {
  const pending = new Set(report.pending.map((test) => test.fullTitle));
  for (const { title, fullTitle, file, err } of report.tests) {
    const place = placeOf(file, title);
    if (!place) continue;
    const row = rows.get(fullTitle) ?? { ...place, isUnit: file.includes('/test/unit/') };
    rows.set(fullTitle, row);
    row[server] = pending.has(fullTitle) ? 'skipped' : Object.keys(err).length > 0 ? 'FAILS' : 'passes';
  }
}

const label = ({ letters }: Book, number: number): string => `${letters}-${String(number).padStart(2, '0')}`;
const cell = (text: string): string =>
  text.replace(/[|<>]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll('\n', ' ');

function render(rows: readonly Row[], wasRealPlayed: boolean): string {
  return [
    '<!-- Generated by hack/scenarios-doc.ts from a run of the tests; do not edit. -->',
    '# Scenarios',
    '',
    'The specifications tell how a landscape behaves in numbered scenarios. These are the tests that play them,',
    'and how they ended in the last run, on the embedded API server and on a real kube-apiserver.',
    '',
    '"values" marks tests that ask the rules directly, without a server; "skipped" those that need what the server has not.',
    ...(wasRealPlayed ? [] : ['In the last run there was no real kube-apiserver.']),
    '',
    ...books.flatMap((book) =>
      chapter(
        book,
        rows.filter((row) => row.book === book),
      ),
    ),
  ].join('\n');
}

function chapter(book: Book, rows: readonly Row[]): readonly string[] {
  const played = new Set(rows.map(({ number }) => number));
  const missing = range(1, book.last).filter((number) => !played.has(number));
  const line = ({ number, title, isUnit, embedded, real }: Row): string => {
    const results = isUnit ? [`${embedded ?? ''} (values)`, ''] : [embedded ?? '', real ?? ''];
    return `| ${label(book, number)} | ${cell(title)} | ${results.join(' | ')} |`;
  };
  return [
    `## ${book.title}`,
    '',
    `${played.size} of ${book.last} scenarios are played, by ${rows.length} tests.`,
    '',
    '| | Scenario | embedded | kube-apiserver |',
    '|---|---|---|---|',
    ...rows.map(line),
    '',
    ...(missing.length === 0 ? [] : ['Not played:', '', '| | |', '|---|---|']),
    ...missing.map((number) => `| ${label(book, number)} | ${whyNot(book, number)} |`),
    ...(missing.length === 0 ? [] : ['']),
  ];
}

const whyNot = ({ notPlayed }: Book, number: number): string =>
  Object.entries(notPlayed).find(([, numbers]) => numbers.includes(number))?.[0] ?? 'no test yet';

/** Reasons for scenarios that are played after all: they would be told to nobody, and be wrong. */
const stale = (rows: readonly Row[]): readonly string[] =>
  books.flatMap((book) =>
    Object.values(book.notPlayed)
      .flat()
      .filter((number) => rows.some((row) => row.book === book && row.number === number))
      .map((number) => label(book, number)),
  );

const playedSuites = books.flatMap(({ played }) => played);
const rows = new Map<string, Row>();
collect(rows, await play([...playedSuites, ...books.flatMap(({ values }) => values)]), 'embedded');
const isReal = process.argv.includes('--envtest');
if (isReal) collect(rows, await playOnRealServer(), 'real');
const sorted = [...rows.values()].sort((a, b) => a.number - b.number);
writeFileSync(page, render(sorted, isReal));
const failed = sorted.filter((row) => row.embedded === 'FAILS' || row.real === 'FAILS');
process.stdout.write(`${sorted.length} scenario tests, ${failed.length} failed; see docs/scenarios.md\n`);
const told = stale(sorted);
if (told.length > 0) {
  process.stdout.write(`played, but with a reason why not in hack/scenarios-doc.ts: ${told.join(', ')}\n`);
}
process.exitCode = failed.length + told.length > 0 ? 1 : 0;
