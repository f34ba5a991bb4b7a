/** Builds the helm program for tests if it is missing, and prints its path. */
import { ensureHelm } from './binary.ts';

try {
  process.stdout.write(`${ensureHelm((line) => void process.stderr.write(`${line}\n`))}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 3;
}
