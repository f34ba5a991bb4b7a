/** Builds the programs that test/clients runs, unless they exist: clients and a deployer in Go, helm, and an evaluator of CEL. */
import { celEvaluator } from '../gitops/evaluator.ts';
import { GoUnavailable } from '../go/build.ts';
import { ensureGoModule } from '../go/module.ts';
import { ensureHelm } from '../helm/binary.ts';
import { fileDeployer, goClients } from './programs.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
try {
  const programs = [goClients, fileDeployer, celEvaluator].map((module) => ensureGoModule(module, say));
  process.stdout.write([...programs, ensureHelm(say), ''].join('\n'));
} catch (error) {
  if (!(error instanceof GoUnavailable)) throw error;
  say(error.message);
  process.exitCode = 3;
}
