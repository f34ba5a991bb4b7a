/** Fails if the results of `make mutate` are older than the code and the tests that they are about. */
import { presentRows } from './page.ts';
import { problemOf } from './results.ts';

for (const problem of presentRows().flatMap((row) => problemOf(row) ?? [])) {
  process.stdout.write(`${problem}: run "make mutate ARGS=--changed"\n`);
  process.exitCode = 1;
}
