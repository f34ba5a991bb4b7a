/**
 * Builds all programs in Go that tests run, except for those of a node, so that later steps find them. Each takes
 * minutes, once. Exit code 3 if one cannot be built.
 */
import { ensureBinaries, EnvtestUnavailable } from '../envtest/binaries.ts';
import { fileDeployer, goClients } from '../go-clients/programs.ts';
import { goOracle } from '../go-oracle/oracle.ts';
import { celEvaluator } from '../gitops/evaluator.ts';
import { ensureHelm } from '../helm/binary.ts';
import { buildRegistry, findRegistry } from '../registry/binary.ts';
import { GoUnavailable } from './build.ts';
import { ensureGoModule } from './module.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** In the order in which they are built. */
const programs: readonly (() => string)[] = [
  () => ensureBinaries(say).apiserver,
  () => ensureHelm(say),
  () => findRegistry() ?? buildRegistry(say),
  ...[goClients, fileDeployer, celEvaluator, goOracle].map((module) => () => ensureGoModule(module, say)),
];

for (const build of programs) {
  const started = Date.now();
  try {
    process.stdout.write(`${build()} after ${String(Math.round((Date.now() - started) / 1000))} s\n`);
  } catch (error) {
    if (!(error instanceof GoUnavailable || error instanceof EnvtestUnavailable)) throw error;
    say(error.message);
    process.exitCode = 3;
  }
}
