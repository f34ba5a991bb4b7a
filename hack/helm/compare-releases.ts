/**
 * Carries out stories of releases with the helm program, with this product, and with both in turn, each on its own API
 * server. After each step, message, objects and records must be the same.
 *
 *     npx tsx hack/helm/compare-releases.ts [part of a title] [--record]
 *
 * Exit code 1 if there is a difference, 3 if helm is not available and cannot be built.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { equal } from '../../src/lib/json.ts';
import { isObject } from '../../src/lib/objects.ts';
import { RELEASE } from '../../test/support/charts.ts';
import { releaseStories, type Story, type StoryStep } from '../../test/support/release-stories.ts';
import { GoUnavailable } from '../go/build.ts';
import { ensureHelm } from './binary.ts';
import { StoryRun, type Engine, type StepResult } from '../../test/support/release-runs.ts';
import {
  recordedReleases,
  sortedMessage,
  summary,
  type RecordedStep,
} from '../../test/support/release-recordings.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Which engine carries out which step. */
const patterns: readonly { readonly name: string; engine(step: number): Engine }[] = [
  { name: 'helm', engine: () => 'helm' },
  { name: 'ours', engine: () => 'ours' },
  { name: 'helm first, then in turn', engine: (step) => (step % 2 === 0 ? 'helm' : 'ours') },
  { name: 'ours first, then in turn', engine: (step) => (step % 2 === 0 ? 'ours' : 'helm') },
];

interface Played {
  readonly results: readonly StepResult[];
  /** What `helm` shows of the release at the end. */
  readonly shown: readonly string[];
}

async function play(helm: string, story: Story, engine: (step: number) => Engine): Promise<Played> {
  const run = await StoryRun.start(helm, story);
  try {
    const results: StepResult[] = [];
    for (const [i, step] of story.steps.entries()) results.push(await run.step(step, engine(i)));
    return { results, shown: await shownBy(run, results.at(-1)) };
  } finally {
    await run.close();
  }
}

async function shownBy(run: StoryRun, last: StepResult | undefined): Promise<readonly string[]> {
  const hasRecords = Object.keys(last?.state ?? {}).some((key) => key.startsWith('Secret sh.helm.release'));
  const commands = [
    ['list', '--all', '--output', 'json'],
    ...(hasRecords
      ? [
          ['status', RELEASE, '--output', 'json'],
          ['history', RELEASE, '--output', 'json'],
          ['get', 'all', RELEASE],
        ]
      : []),
  ];
  const shown: string[] = [];
  for (const command of commands) shown.push(withoutTimes(await run.read(...command)));
  return shown;
}

const withoutTimes = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^",\n]*/g, '<time>')
    .replace(/[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}/g, '<time>');

// ---------------------------------------------------------------- comparison

/** Paths at which two values differ. */
function differences(a: unknown, b: unknown, path = ''): readonly string[] {
  if (equal(a, b)) return [];
  if (isObject(a) && isObject(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) => differences(a[key], b[key], `${path}/${key}`));
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length)
    return a.flatMap((each: unknown, i) => differences(each, b[i], `${path}/${String(i)}`));
  const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 600);
  return [`${path}\n        helm: ${shown(a)}\n        else: ${shown(b)}`];
}

const describe = (step: StoryStep): string => JSON.stringify(step).slice(0, 120);

function compare(story: Story, helm: Played, other: Played): readonly string[] {
  for (const [i, step] of story.steps.entries()) {
    const [a, b] = [helm.results[i], other.results[i]];
    const found = [
      ...differences(sortedMessage(a?.message ?? ''), sortedMessage(b?.message ?? ''), 'message'),
      ...differences(a?.state, b?.state),
    ];
    if (found.length > 0) return [`step ${String(i + 1)}: ${describe(step)}`, ...found.slice(0, 8)];
  }
  return differences(helm.shown, other.shown, 'helm list, status, history, get all');
}

interface Comparison {
  /** Only stories whose title contains it. */
  readonly title?: string;
  /** Whether the results of helm are written to the file that `make test` uses. */
  readonly records?: boolean;
}

const recordings = (): Record<string, readonly RecordedStep[]> =>
  JSON.parse(readFileSync(recordedReleases, 'utf8')) as Record<string, readonly RecordedStep[]>;

/** @returns the number of differences */
export async function compareReleases(
  helm: string,
  { title = '', records = false }: Comparison = {},
): Promise<number> {
  const recording = title === '' ? {} : recordings();
  let different = 0;
  let steps = 0;
  const chosen = releaseStories.filter((story) => story.title.includes(title));
  for (const story of chosen) {
    const [first, ...others] = await Promise.all(patterns.map(({ engine }) => play(helm, story, engine)));
    recording[story.title] = summary(first?.results ?? []);
    if (title !== '')
      say(
        story.steps
          .map((step, i) => `  ${describe(step)}\n    ${first?.results[i]?.message ?? ''}`)
          .join('\n'),
      );
    for (const [i, other] of others.entries()) {
      const found = first ? compare(story, first, other) : [];
      steps += story.steps.length;
      if (found.length === 0) continue;
      different++;
      say(`✗ ${story.title} (${patterns[i + 1]?.name ?? ''})\n    ${found.join('\n    ')}`);
    }
  }
  if (records) writeFileSync(recordedReleases, `${JSON.stringify(recording, null, 1)}\n`);
  if (different === 0)
    say(
      `releases: ${String(chosen.length)} stories, ${String(steps)} steps: objects, records and messages are the same as helm's`,
    );
  return different;
}

if (process.argv[1] === import.meta.filename) {
  try {
    const helm = ensureHelm((line) => void process.stderr.write(`${line}\n`));
    const [title = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
    const records = process.argv.includes('--record');
    process.exitCode = (await compareReleases(helm, { title, records })) === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof GoUnavailable)) throw error;
    process.stderr.write(`releases are not compared: ${error.message}\n`);
    process.exitCode = 3;
  }
}
