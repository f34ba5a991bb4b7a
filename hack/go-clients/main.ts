/** Builds the programs that test/clients runs, unless they exist: clients and a deployer in Go, helm, and an evaluator of CEL. */
import { ensureHelm, HelmUnavailable } from '../helm/binary.ts';
import { ensureCelEvaluator } from '../gitops/evaluator.ts';
import { ensureGoModule, GoModuleUnavailable } from '../go-module.ts';
import { fileDeployer, goClients } from './programs.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
try {
  const programs = [goClients, fileDeployer].map((module) => ensureGoModule(module, say));
  process.stdout.write([...programs, ensureHelm(say), ensureCelEvaluator(), ''].join('\n'));
} catch (error) {
  if (!(error instanceof GoModuleUnavailable || error instanceof HelmUnavailable)) throw error;
  say(error.message);
  process.exitCode = 3;
}
