/**
 * Builds the programs in Go that tests run, except for those of a node, so that later steps find them: all, or those
 * of the named groups. Each takes minutes, once. Exit code 3 if one cannot be built.
 *
 *     hack/go/main.ts [GROUP[,GROUP…]]
 */
import { ensureBinaries, EnvtestUnavailable } from '../envtest/binaries.ts';
import { fileDeployer, goClients } from '../go-clients/programs.ts';
import { goOracle } from '../go-oracle/oracle.ts';
import { celEvaluator } from '../gitops/evaluator.ts';
import { ensureHelm } from '../helm/binary.ts';
import { buildRegistry, findRegistry } from '../registry/binary.ts';
import { GoUnavailable } from './build.ts';
import { ensureGoModule, type GoModule } from './module.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);

const module =
  (each: GoModule): (() => string) =>
  () =>
    ensureGoModule(each, say);

const groups: Readonly<Record<string, readonly (() => string)[]>> = {
  envtest: [() => ensureBinaries(say).apiserver],
  helm: [() => ensureHelm(say)],
  registry: [() => findRegistry() ?? buildRegistry(say)],
  clients: [goClients, fileDeployer, celEvaluator].map(module),
  oracle: [module(goOracle)],
};

function build(program: () => string): void {
  const started = Date.now();
  try {
    process.stdout.write(`${program()} after ${String(Math.round((Date.now() - started) / 1000))} s\n`);
  } catch (error) {
    if (!(error instanceof GoUnavailable || error instanceof EnvtestUnavailable)) throw error;
    say(error.message);
    process.exitCode = 3;
  }
}

for (const name of process.argv[2]?.split(',') ?? Object.keys(groups)) {
  const programs = groups[name];
  if (!programs) {
    say(`there is no group ${name}; the groups are ${Object.keys(groups).join(', ')}`);
    process.exitCode = 2;
  }
  programs?.forEach(build);
}
