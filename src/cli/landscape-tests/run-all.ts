/** Runs cases: in this process, or in several processes at the same time. Results keep the order of the files. */
import { workerRunners } from '../../blueprint/workers/runner.ts';
import { ChildProgram, programBeside } from '../../lib/child-program.ts';
import { systemClock } from '../../lib/clock.ts';
import { CommandError } from '../errors.ts';
import { runCase, type CaseResult } from './case.ts';
import type { LoadedSuite } from './file/load.ts';
import type { CaseAnswer, CaseRequest } from './worker/messages.ts';

interface RunOptions {
  /** Number of processes; with 1, everything runs in this one. */
  readonly jobs: number;
  /** How long each case may take on this machine. */
  readonly realMs: number;
  readonly update: boolean;
  /** See `runCase`. */
  readonly coverage: boolean;
  /** Only cases whose name contains it. */
  readonly filter?: string | undefined;
}

/** @param onResult called in the order of the files. @throws CommandError if a process ends */
export async function runAll(
  suites: readonly LoadedSuite[],
  { jobs, filter = '', ...options }: RunOptions,
  onResult: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  const cases = suites.flatMap((suite) =>
    suite.file.suite.cases.flatMap(({ name }, index) => (name.includes(filter) ? [{ suite, index }] : [])),
  );
  const workers = Math.min(jobs, cases.length);
  if (workers > 1) {
    const requests = cases.map(({ suite, index }) => ({ file: suite.file.file, index, ...options }));
    return inProcesses(requests, workers, onResult);
  }
  const runners = workerRunners({ clock: systemClock });
  const results: CaseResult[] = [];
  try {
    for (const { suite, index } of cases) {
      const result = await runCase(suite.file, index, suite.documents, { ...options, runnerOf: runners.of });
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    await runners.close();
  }
}

async function inProcesses(
  requests: readonly CaseRequest[],
  workers: number,
  onResult: (result: CaseResult) => void,
): Promise<readonly CaseResult[]> {
  const results = new Array<CaseResult | undefined>(requests.length);
  let [next, shown] = [0, 0];
  const work = async (): Promise<void> => {
    const worker = new CaseWorker();
    try {
      for (let i = next++; i < requests.length; i = next++) {
        const request = requests[i];
        if (!request) return;
        results[i] = await worker.run(request);
        for (let ready = results[shown]; ready; ready = results[++shown]) onResult(ready);
      }
    } finally {
      await worker.stop();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results.filter((result) => result !== undefined);
}

const MEMORY_MIB = 2048;
/** A process that does not even report that a case takes too long is stuck. */
const GRACE_MS = 10_000;

class CaseWorker {
  readonly #program: ChildProgram;
  #answer: ((answer: CaseAnswer) => void) | undefined;

  constructor() {
    this.#program = new ChildProgram(
      { entry: programBeside(import.meta.url, 'worker/entry'), memoryMiB: MEMORY_MIB },
      {
        onMessage: (message) => this.#answer?.(message as CaseAnswer),
        onEnd: ({ cause }) => this.#answer?.({ bug: cause.message }),
      },
    );
  }

  /** @throws CommandError */
  async run(request: CaseRequest): Promise<CaseResult> {
    this.#program.hold();
    const answer = await new Promise<CaseAnswer>((resolve) => {
      const cancel = systemClock.at(systemClock.now() + request.realMs + GRACE_MS, () => {
        resolve({ bug: 'the process does not respond' });
      });
      this.#answer = (given) => {
        cancel();
        resolve(given);
      };
      this.#program.send(request);
    });
    if ('result' in answer) return answer.result;
    throw new CommandError(`a case of ${request.file} could not be run: ${answer.bug}`);
  }

  stop(): Promise<void> {
    return this.#program.stop();
  }
}
