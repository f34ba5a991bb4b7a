/** The specifications with numbered scenarios: the prefix of their numbers, and the folders of their tests. */

/** A specification whose scenarios are numbered without gaps. */
export interface Book {
  /** Prefix of its numbers, as in CORE-15. */
  readonly prefix: 'CORE' | 'DF' | 'DEP' | 'RUN';
  readonly title: string;
  readonly last: number;
  /** Folders with tests that need a server. */
  readonly played: readonly string[];
  /** Folders with tests that need no server. */
  readonly values: readonly string[];
  /** The label of such tests on the page. */
  readonly without: 'values' | 'simulated';
  /** Numbers that tests of another book cover, and which ones. */
  readonly elsewhere?: Readonly<Record<number, string>>;
}

const scenarios = (...suites: readonly string[]) => suites.map((suite) => `test/scenario/${suite}`);
const units = (...suites: readonly string[]) => suites.map((suite) => `test/unit/${suite}`);

export const books: readonly Book[] = [
  {
    prefix: 'CORE',
    title: 'The core',
    last: 122,
    played: scenarios('core', 'targetsync', 'health', 'webhooks'),
    values: units('controllers', 'machine'),
    without: 'values',
  },
  {
    prefix: 'DF',
    title: 'The data flow',
    last: 169,
    played: scenarios('dataflow', 'components'),
    values: units('blueprint', 'dataflow', 'templating', 'components'),
    without: 'values',
  },
  {
    prefix: 'DEP',
    title: 'Deployers, targets and the command line',
    last: 96,
    played: scenarios('deployers', 'cli'),
    values: units('deployers', 'cli'),
    without: 'values',
    elsewhere: { 88: 'CORE-108 to CORE-111' },
  },
  {
    prefix: 'RUN',
    title: 'The runtime for operators',
    last: 127,
    played: [...scenarios('operators'), 'test/conformance/runtime', 'test/conformance/workflow'],
    values: [...units('runtime', 'workflow'), 'test/large'],
    without: 'simulated',
  },
];
