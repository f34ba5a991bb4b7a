/** Builds the helm that tests compare with when it is not there, and prints where it is. */
import { ensureHelm } from './binary.ts';

try {
  process.stdout.write(`${ensureHelm((line) => void process.stderr.write(`${line}\n`))}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 3;
}
