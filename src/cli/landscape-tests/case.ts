/** Runs one case: applies the landscape, takes the steps, and checks what is expected. */
import { hasOperation, isBeingDeleted, isFinished, isSuspended } from '../../api/job.ts';
import { operations } from '../../api/labels.ts';
import type { Place } from '../../blueprint/lint/source.ts';
import type { RunnerOf } from '../../blueprint/work.ts';
import { hintFor } from '../../lib/closest.ts';
import { systemClock } from '../../lib/clock.ts';
import { append } from '../../lib/lists.ts';
import { formatGoDuration, parseDuration } from '../../lib/duration.ts';
import { EspalierError } from '../../runtime/errors.ts';
import { CommandError } from '../errors.ts';
import type { PreparedDocument } from '../commands/apply/prepare.ts';
import type { Collected } from '../tree/collect.ts';
import { recordingBranches } from './coverage/branches.ts';
import type { Touched } from './coverage/coverage.ts';
import { checkThen } from './expect/check.ts';
import type { Problem, ProblemPlace } from './expect/problem.ts';
import { snapshotFile } from './expect/snapshot.ts';
import type { SuiteFile } from './file/read.ts';
import type { Given, Step } from './file/schema.ts';
import { homeOf, withAdditions } from './stage/landscape.ts';
import { nodesByPath } from './stage/paths.ts';
import { startStage, type Stage } from './stage/stage.ts';
import { takeStep } from './stage/steps.ts';
import { OutOfRealTime } from './time/driver.ts';

interface CaseOptions {
  /** How long the case may take on the machine's clock. */
  readonly realMs: number;
  /** Whether snapshots are written instead of compared. */
  readonly update: boolean;
  /** Whether branches of templates are recorded, which renders everything twice. */
  readonly coverage: boolean;
  readonly runnerOf: RunnerOf;
}

/** Plain data. */
export interface CaseResult {
  readonly file: string;
  readonly name: string;
  readonly line: number;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it is skipped. */
  readonly note?: string;
  readonly realMs: number;
  /** What passed for the controllers. */
  readonly virtualMs: number;
  readonly problems: readonly Problem[];
  readonly touched: Touched;
}

const NOTHING: Touched = { started: [], succeeded: [], imports: [], branches: [] };
const START = Date.parse('2026-01-01T00:00:00Z');
/** Virtual time after which jobs should have ended. The timeout of a deploy item is ten minutes by default. */
const SETTLE_MS = 3_600_000;

/** Never rejects because of the landscape. */
export async function runCase(
  file: SuiteFile,
  index: number,
  documents: readonly PreparedDocument[],
  options: CaseOptions,
): Promise<CaseResult> {
  const { suite, document } = file;
  const one = suite.cases[index];
  if (!one) throw new TypeError(`there is no case ${String(index)} in ${file.file}`);
  const startedAt = systemClock.now();
  const { line } = document.at(['cases', index]);
  const result = { file: file.file, name: one.name, line, virtualMs: 0, problems: [], touched: NOTHING };
  if (one.skip !== undefined) return { ...result, outcome: 'skipped', note: one.skip, realMs: 0 };
  const problems: Problem[] = [];
  let [virtualMs, touched] = [0, NOTHING];
  const branches = new Set<string>();
  let stage: Stage | undefined;
  let run: CaseRun | undefined;
  try {
    stage = await startStage({
      startedAt: suite.time === undefined ? START : Date.parse(suite.time),
      home: suite.namespace ?? homeOf(documents),
      realMs: options.realMs,
      types: [...(suite.given?.types ?? []), ...(one.given?.types ?? [])],
      runnerOf: options.coverage ? recordingBranches(options.runnerOf, branches) : options.runnerOf,
    });
    run = new CaseRun(file, index, stage, documents, options, problems);
    await run.run();
  } catch (error) {
    problems.push({ ...failureOf(error, stage, options), place: run?.place });
  } finally {
    // To stop takes virtual time as well.
    if (stage) {
      virtualMs = stage.clock.now();
      touched = { ...stage.history.touched, branches: [...branches] };
    }
    await stage?.close();
  }
  const outcome = problems.length > 0 ? 'failed' : 'passed';
  return { ...result, outcome, realMs: systemClock.now() - startedAt, virtualMs, problems, touched };
}

class CaseRun {
  readonly #file: SuiteFile;
  readonly #index: number;
  readonly #stage: Stage;
  readonly #documents: readonly PreparedDocument[];
  readonly #options: CaseOptions;
  readonly #problems: Problem[];
  #checkedEvents = 0;
  #snapshots = 0;
  #place: Place;

  constructor(
    file: SuiteFile,
    index: number,
    stage: Stage,
    documents: readonly PreparedDocument[],
    options: CaseOptions,
    problems: Problem[],
  ) {
    this.#file = file;
    this.#index = index;
    this.#stage = stage;
    this.#options = options;
    this.#problems = problems;
    this.#place = file.document.at(['cases', index]);
    this.#documents = withAdditions(documents, additionsOf(file.suite.given, this.#case.given), stage.home);
  }

  get #case() {
    const one = this.#file.suite.cases[this.#index];
    if (!one) throw new TypeError('the case does not exist');
    return one;
  }

  /** The position of the current step. */
  get place(): ProblemPlace {
    const { file, line, column } = this.#place;
    return { file, line, column };
  }

  async run(): Promise<void> {
    const { answers } = this.#stage;
    answers.set(this.#file.suite.given?.answers, this.#case.given?.answers);
    const steps = this.#case.when ?? [];
    if (!steps.some(({ install }) => install !== undefined)) await this.#take({ install: [] });
    for (const [i, step] of steps.entries()) {
      this.#place = this.#file.document.at(['cases', this.#index, 'when', i]);
      if (step.then) await this.#check(step.then, ['when', i, 'then']);
      else await this.#take(step);
    }
    if (this.#case.then) await this.#check(this.#case.then, ['then']);
    this.#reportUnused();
  }

  async #take(step: Step): Promise<void> {
    const { driver, clock } = this.#stage;
    const layers = [this.#file.suite.given?.answers, this.#case.given?.answers];
    const settles = await driver.during(takeStep(step, this.#stage, this.#documents, layers));
    if (step.wait !== undefined) await driver.run(clock.now() + parseDuration(step.wait));
    else if (step.for !== undefined) await driver.run(clock.now() + parseDuration(step.for));
    else if (settles) await this.#settle();
  }

  async #settle(): Promise<void> {
    const { driver, clock } = this.#stage;
    const isDone = await driver.run(clock.now() + SETTLE_MS, () => unfinished(this.#stage).length === 0);
    if (isDone) return;
    throw new CommandError(
      `not finished after ${formatGoDuration(SETTLE_MS)} of virtual time:\n${unfinished(this.#stage).join('\n')}`,
    );
  }

  async #check(then: NonNullable<Step['then']>, path: readonly (string | number)[]): Promise<void> {
    const { history } = this.#stage;
    const below = this.#file.document.below(['cases', this.#index, ...path]);
    const events = history.events.slice(this.#checkedEvents);
    this.#checkedEvents = history.events.length;
    const checking = checkThen(then, {
      stage: this.#stage,
      document: below,
      events,
      snapshotFile: () => snapshotFile(this.#file.file, this.#case.name, ++this.#snapshots),
      update: this.#options.update,
    });
    append(this.#problems, await this.#stage.driver.during(checking));
  }

  /** An answer that no item has asked for is probably misspelt. */
  #reportUnused(): void {
    const own = this.#case.given?.answers ?? {};
    const items = [...nodesByPath(this.#stage.current(), this.#stage.home)]
      .filter(([, node]) => node.kind === 'DeployItem')
      .map(([path]) => path);
    // If the landscape did not reach its items, the answers are not the problem.
    if (items.length === 0) return;
    for (const pattern of this.#stage.answers.unused.filter((one) => Object.hasOwn(own, one))) {
      const found = this.#file.document.at(['cases', this.#index, 'given', 'answers', pattern], 'key');
      const place = { file: found.file, line: found.line, column: found.column };
      const hint = hintFor(pattern, items, `there are ${items.join(', ')}`);
      const title = `no deploy item matched the answer for "${pattern}"; ${hint}`;
      this.#problems.push({ place, title, details: [] });
    }
  }
}

const additionsOf = (...layers: readonly (Given | undefined)[]) => ({
  objects: layers.flatMap((given) => given?.objects ?? []),
  imports: Object.assign({}, ...layers.map((given) => given?.imports ?? {})) as Record<string, unknown>,
  targets: layers.flatMap((given) => given?.targets ?? []),
});

/** A line for each object whose job has not ended. */
function unfinished(stage: Stage): readonly string[] {
  const current = stage.current();
  const lines: string[] = [];
  for (const [path, node] of nodesByPath(current, stage.home)) {
    const { metadata } = node.object;
    const isRequested =
      node.kind === 'Installation' && hasOperation(metadata, operations.reconcile) && !isSuspended(metadata);
    if (isFinished(node.object) && !isPendingDeletion(node) && !isRequested) continue;
    lines.push(
      `${path}: ${node.phase || 'no job yet'}${node.message === undefined ? '' : `, ${node.message}`}`,
    );
  }
  return lines.length > 0 ? lines : unfinishedExecutions(current);
}

const isPendingDeletion = ({ object, phase }: { object: { metadata: object }; phase: string }): boolean =>
  isBeingDeleted(object.metadata) && phase !== 'DeleteFailed';

const unfinishedExecutions = ({ executions, installations }: Collected): readonly string[] => [
  ...executions.filter((one) => !isFinished(one)).map(({ metadata }) => `execution ${metadata.name}`),
  ...installations
    .filter(({ status }) => (status?.dependentsToTrigger ?? []).length > 0)
    .map(({ metadata }) => `${metadata.name} starts the installations that import from it`),
];

function failureOf(error: unknown, stage: Stage | undefined, { realMs }: CaseOptions): Problem {
  if (error instanceof OutOfRealTime) {
    const left = stage ? unfinished(stage) : [];
    return {
      title: `the case took longer than ${formatGoDuration(realMs)}, at ${formatGoDuration(stage?.clock.now() ?? 0)} of virtual time; allow more with --timeout`,
      details: left.length > 0 ? ['still awaited:', ...left] : [],
    };
  }
  if (!(error instanceof CommandError) && !(error instanceof EspalierError)) throw error;
  const [title = '', ...details] = error.message.split('\n');
  return { title, details };
}
