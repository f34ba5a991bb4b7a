/**
 * Which tests are run against the mutants of a folder: its unit tests, and scenario tests where a rule is only seen from
 * outside. A test that reads the source code as text does not belong here, since it sees Stryker's version of it.
 */
export interface Suite {
  /** Folder of the product, as the table of docs/testing.md names it. */
  readonly folder: string;
  /** Test folders and files. */
  readonly tests: readonly string[];
}

const controller = (...names: readonly string[]): readonly string[] =>
  names.map((name) => `test/unit/controllers/${name}.test.ts`);
const CONTROLLERS = ['test/unit/controllers', 'test/unit/machine'];
/** The deployers on the SDK show its rules for objects, their ownership and the status; helm is slower and adds little. */
const DEPLOYERS = [
  'test/unit/deployers/sdk',
  'test/unit/deployers/manifest',
  'test/unit/deployers/mock',
  'test/unit/deployers/kept-objects.test.ts',
  'test/scenario/deployers/own-process.test.ts',
];

/** One row each, because together they take more than an hour. */
const RUNTIME = [
  'cache',
  'controller',
  'errors.ts',
  'external',
  'fleet',
  'keys.ts',
  'manager',
  'queue',
  'sources',
  'transport',
] as const;

/** The folders that `make mutate` measures without SUITES. */
export const SUITES: readonly Suite[] = [
  { folder: 'src/dataflow', tests: ['test/unit/dataflow'] },
  {
    folder: 'controllers/execution',
    tests: controller(
      ...[
        'clusters',
        'duplicates',
        'execution',
        'execution-classify',
        'execution-clusters',
        'execution-exports',
      ],
      ...['execution-items', 'execution-life', 'execution-phases', 'execution-templates'],
    ),
  },
  { folder: 'controllers/installation', tests: CONTROLLERS },
  { folder: 'controllers/context', tests: controller('context') },
  { folder: 'controllers/deployitem', tests: controller('deployitem', 'shared-objects') },
  { folder: 'controllers/syncobject', tests: controller('syncobject') },
  { folder: 'controllers/health', tests: controller('health', 'health-check') },
  { folder: 'controllers/targetsync', tests: ['test/unit/controllers'] },
  { folder: 'src/machine', tests: ['test/unit/machine'] },
  { folder: 'src/landscape', tests: CONTROLLERS },
  { folder: 'src/workflow', tests: ['test/unit/workflow'] },
  { folder: 'deployers/sdk', tests: DEPLOYERS },
  { folder: 'deployers/objects', tests: DEPLOYERS },
  // The other tests of operators run them as programs.
  { folder: 'src/runtime/operator', tests: ['test/scenario/operators/run-operator.test.ts'] },
  ...RUNTIME.map((part) => ({ folder: `src/runtime/${part}`, tests: ['test/unit/runtime'] })),
];

/** Tests that read the source code as text; under Stryker they see instrumented code. */
export const READ_SOURCE_CODE: readonly string[] = ['test/unit/workflow/one-planner.test.ts'];

/**
 * Tests that take seconds each. They run against mutants of the files that they import, and not against those of others:
 * with them a mutant of code that everything passes through takes a minute.
 */
export const SLOW: readonly string[] = [
  ...['cache-worlds', 'canary', 'concurrency', 'fleet/fleet'].map(
    (name) => `test/unit/runtime/${name}.test.ts`,
  ),
  'test/scenario/deployers/own-process.test.ts',
];
