/** Builds the registry for tests if it is missing, and prints its path. */
import { buildRegistry, findRegistry } from './binary.ts';

try {
  process.stdout.write(
    `${findRegistry() ?? buildRegistry((line) => void process.stderr.write(`${line}\n`))}\n`,
  );
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 3;
}
