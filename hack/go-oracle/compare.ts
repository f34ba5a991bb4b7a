/**
 * Compares an engine of this project with the one in Go, over some ten thousand made-up cases.
 *
 *     make test-go-oracle [SEED=42] [ARGS="templates --all"]
 *
 * Prints the first difference that is not known (with `--all` each), and the seed to meet it again. Exit code 1 when
 * there is one, 3 when Go is not there.
 */
import { parseArgs } from 'node:util';
import { GoMissing } from './oracle.ts';
import { compareSpiff } from './spiff.ts';
import { compareTemplates, type Comparison } from './templates.ts';

process.env['TZ'] = 'UTC';

/** By what is compared; the number is that of cases per kind. */
const halves: Readonly<Record<string, (seed: number, size: number) => Promise<Comparison>>> = {
  templates: compareTemplates,
  // Of each of its hundred functions.
  spiff: (seed, size) => compareSpiff(seed, Math.ceil(size / 50)),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean', default: false }, cases: { type: 'string', default: '2000' } },
});
const seed = Number(process.env['SEED'] || Math.floor(Math.random() * 2 ** 31));
const chosen = positionals.length === 0 ? Object.keys(halves) : positionals;

let passed = 0;
let failed = 0;
try {
  for (const name of chosen) {
    const compare = halves[name];
    if (!compare)
      throw new Error(`there is no "${name}" to compare; there is ${Object.keys(halves).join(', ')}`);
    const { cases, differences, known } = await compare(seed, Number(values.cases));
    passed += cases - differences.length;
    failed += differences.length;
    for (const text of values.all ? differences : differences.slice(0, 1)) print(text);
    for (const [why, count] of known) print(`known, ${String(count)} times: ${why}`);
    print(`${name}: ${String(cases)} cases, ${String(differences.length)} differ`);
  }
  print(`seed ${String(seed)}; once more with it: make test-go-oracle SEED=${String(seed)}`);
  print(`${String(passed)} passed, ${String(failed)} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof GoMissing)) throw error;
  print(error.message);
  process.exitCode = 3;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
