/** The entry point of a process that runs cases, one after the other. */
import { workerRunners } from '../../../blueprint/workers/runner.ts';
import { listenToParent, sendToParent } from '../../../lib/child-channel.ts';
import { systemClock } from '../../../lib/clock.ts';
import { runCase, type CaseResult } from '../case.ts';
import { loadSuites } from '../file/load.ts';
import type { CaseAnswer, CaseRequest } from './messages.ts';

const runners = workerRunners({ clock: systemClock, workers: 1 });
const suites = new Map<string, ReturnType<typeof loadSuites>>();

async function run({ file, index, ...options }: CaseRequest): Promise<CaseResult> {
  const loading = suites.get(file) ?? loadSuites([file]);
  suites.set(file, loading);
  const [suite] = (await loading).suites;
  if (!suite) throw new TypeError(`${file} has no cases any more`);
  return runCase(suite.file, index, suite.documents, { ...options, runnerOf: runners.of });
}

listenToParent((message) => {
  run(message as CaseRequest).then(
    (result) => {
      sendToParent({ result } satisfies CaseAnswer);
    },
    (error: unknown) => {
      const bug = error instanceof Error ? (error.stack ?? error.message) : String(error);
      sendToParent({ bug } satisfies CaseAnswer);
    },
  );
});
