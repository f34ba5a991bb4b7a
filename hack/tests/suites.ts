/** Which test files a suite consists of. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { usesRealServer } from '../real-server-tests.ts';

export const root = join(import.meta.dirname, '../..');

/** Suites that only run if they are named: they need programs or minutes, or measure this machine. */
export const SEPARATE = [
  'attacks',
  'clients',
  'console',
  'crashes',
  'e2e',
  'faults',
  'large',
  'node',
] as const;

export const WITH_KUBECTL = 'test/conformance/kubectl';

/** Files and folders that take minutes and concern few changes: they run only if requested, as `long` or one by one. */
const LONG: readonly string[] = [
  'conformance/apiserver/informer.test.ts',
  'scenario/core/duplicate-items.test.ts',
  'scenario/core/fleet.test.ts',
  'scenario/core/hand-over.test.ts',
  'scenario/deployers/container-conformance.test.ts',
  'scenario/deployers/container-runs.test.ts',
  'scenario/deployers/release-waits.test.ts',
  'scenario/cli/operators.test.ts',
  'scenario/cli/package.test.ts',
  'scenario/cli/plan-charts.test.ts',
  'scenario/install/namespaces.test.ts',
  'scenario/install/rights.test.ts',
  'scenario/journal/records.test.ts',
  'simulation',
  'unit/blueprint/workers-charts.test.ts',
  'unit/templating/hostile',
];

/** Files that need several seconds of processor time each, or start processes: they run only if requested, as `slow`. */
const SLOW: readonly string[] = [
  'conformance/apiserver/durable.test.ts',
  'conformance/apiserver/stored.test.ts',
  'scenario/cli/apply.test.ts',
  'scenario/cli/blueprints.test.ts',
  'scenario/cli/console-plans.test.ts',
  'scenario/cli/deployers.test.ts',
  'scenario/cli/deployitems.test.ts',
  'scenario/cli/doctor-fix.test.ts',
  'scenario/cli/installations.test.ts',
  'scenario/cli/landscape-tests.test.ts',
  'scenario/cli/plan-refusals.test.ts',
  'scenario/cli/plan-skipped.test.ts',
  'scenario/cli/plan.test.ts',
  'scenario/cli/saved-plan.test.ts',
  'scenario/cli/servers.test.ts',
  'scenario/cli/tutorial.test.ts',
  'scenario/components/registry.test.ts',
  'scenario/core/operations.test.ts',
  'scenario/core/orphans.test.ts',
  'scenario/core/tree-size.test.ts',
  'scenario/core/watches.test.ts',
  'scenario/deployers/conformance.test.ts',
  'scenario/deployers/container.test.ts',
  'scenario/deployers/helm-releases.test.ts',
  'scenario/deployers/landscapes.test.ts',
  'scenario/deployers/left-behind.test.ts',
  'scenario/deployers/release-stories.test.ts',
  'scenario/deployers/time.test.ts',
  'scenario/install/commands.test.ts',
  'scenario/install/values.test.ts',
  'scenario/observability/secrecy.test.ts',
  'scenario/observability/traces.test.ts',
  'scenario/operators/conversion-simulation.test.ts',
  'scenario/operators/database.test.ts',
  'scenario/operators/run-operator.test.ts',
  'scenario/operators/sharing-simulation.test.ts',
  'scenario/operators/sharing.test.ts',
  'scenario/operators/simulation.test.ts',
  'scenario/targetsync/faults.test.ts',
  'scenario/webhooks/server.test.ts',
  'unit/blueprint/workers-components.test.ts',
  'unit/blueprint/workers.test.ts',
  'unit/cli/install/chart.test.ts',
  'unit/cli/install/objects.test.ts',
  'unit/cli/install/retries.test.ts',
  'unit/console/changes.test.ts',
  'unit/deployers/great-numbers.test.ts',
  'unit/deployers/helm/repository-process.test.ts',
  'unit/deployers/killed.test.ts',
  'unit/hack/image.test.ts',
  'unit/hack/mocha-hooks.test.ts',
  'unit/hack/verify-node20.test.ts',
  'unit/observability/tracing/otlp.test.ts',
  'unit/runtime/cache-worlds.test.ts',
  'unit/runtime/fleet/fleet.test.ts',
  'unit/templating/helm/chart.test.ts',
  'unit/templating/worker/pool.test.ts',
  'unit/workflow/one-planner.test.ts',
];

/** What depends on the version of Node.js: everything that touches its sockets, streams, timers, workers or start. */
const NODE: readonly string[] = [
  'unit/runtime',
  'unit/apiserver',
  'unit/lib',
  'unit/observability',
  'unit/blueprint/workers.test.ts',
  'unit/templating/worker',
  'conformance/runtime',
  'scenario/cli/servers.test.ts',
  'scenario/core/watches.test.ts',
];

const LISTS: Readonly<Record<string, readonly string[]>> = { long: LONG, slow: SLOW, 'node-lts': NODE };

/** The suite does not exist; the message names those that do. */
export class UnknownSuite extends Error {
  override readonly name = 'UnknownSuite';
}

/**
 * @param suite a list (`slow`, `long`, `node-lts`), a folder of test, or a path
 * @returns its test files, relative to the repository; empty if it has none (yet)
 * @throws UnknownSuite
 */
export function filesOf(suite: string): readonly string[] {
  const list = LISTS[suite];
  if (list) return [...new Set(list.flatMap(filesOf))];
  const path = [join('test', suite), suite].find((each) => existsSync(join(root, each)));
  if (path === undefined) {
    const known = [...Object.keys(LISTS), ...readdirSync(join(root, 'test'))].join(', ');
    throw new UnknownSuite(`there is no test suite ${suite}; there are ${known}`);
  }
  if (path.endsWith('.ts')) return [path];
  return readdirSync(join(root, path), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .map((file) => join(path, file));
}

/** @returns the files that run on a real kube-apiserver as well, as they do on the embedded one */
export const filesOnRealServer = (): readonly string[] =>
  ['conformance', 'crashes', 'e2e', 'scenario'].flatMap(filesOf).filter(usesRealServer);

/** @returns the files that `make test` runs: all that need only Node.js, except for the slow and long ones */
export function defaultFiles(): readonly string[] {
  const left = new Set([...SEPARATE, 'slow', 'long', WITH_KUBECTL].flatMap(filesOf));
  return filesOf('.').filter((file) => !left.has(file));
}
