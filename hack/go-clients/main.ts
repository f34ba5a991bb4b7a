/** Builds the programs that test/clients runs, unless they exist: Go clients, helm, and an evaluator of CEL. */
import { ensureHelm, HelmUnavailable } from '../helm/binary.ts';
import { ensureCelEvaluator } from '../gitops/evaluator.ts';
import { ensureGoClients, GoClientsUnavailable } from './binary.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
try {
  process.stdout.write(`${ensureGoClients(say)}\n${ensureHelm(say)}\n${ensureCelEvaluator()}\n`);
} catch (error) {
  if (!(error instanceof GoClientsUnavailable || error instanceof HelmUnavailable)) throw error;
  say(error.message);
  process.exitCode = 3;
}
