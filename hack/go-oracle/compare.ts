/**
 * Compares our template engines with the original Go implementations, over some thousand generated cases. Prints
 * the first unknown difference, and the seed to reproduce it. Exit code 1 if there is one, 3 if Go is not
 * available.
 */
import { parseArgs } from 'node:util';
import type { Comparison } from './comparison.ts';
import { GoUnavailable } from '../go/build.ts';
import { openOracle, type Oracle } from './oracle.ts';
import { compareSpiff } from './spiff/compare.ts';
import { compareTemplates } from './templates/compare.ts';

process.env['TZ'] = 'UTC';

/** The comparisons by name. */
const engines: Readonly<Record<string, (ask: Oracle, seed: number, size: number) => Comparison>> = {
  templates: compareTemplates,
  spiff: compareSpiff,
};

const HELP = `Compares GoTemplate and Spiff with the originals, over generated cases. Needs Go.

  make test-go-oracle [SEED=42] [ARGS="…"]

ARGS   ${Object.keys(engines).join(' or ')}, to compare only one of the two
       --all         print every difference, not only the first
       --cases N     cases per kind, default 2000
       --report      print differences, but exit with 0: for new random seeds
SEED   generates the same cases again; default: a random seed, which is printed

Exit code 0: no difference; 1: a difference; 3: Go is not available, nothing was compared.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    cases: { type: 'string', default: '2000' },
    help: { type: 'boolean', short: 'h', default: false },
    report: { type: 'boolean', default: false },
    seed: { type: 'string' },
  },
});

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function compareAll(ask: Oracle): number {
  const seed = Number(values.seed || process.env['SEED'] || Math.floor(Math.random() * 2 ** 31));
  let passed = 0;
  let failed = 0;
  for (const name of positionals.length === 0 ? Object.keys(engines) : positionals) {
    const compare = engines[name];
    if (!compare)
      throw new Error(`there is no engine "${name}"; the engines are ${Object.keys(engines).join(', ')}`);
    const { cases, differences, known } = compare(ask, seed, Number(values.cases));
    passed += cases - differences.length;
    failed += differences.length;
    for (const text of values.all ? differences : differences.slice(0, 1)) print(text);
    for (const [why, count] of known) print(`known, ${String(count)} times: ${why}`);
    print(`${name}: ${String(cases)} cases, ${String(differences.length)} differ`);
  }
  print(`seed ${String(seed)}; repeat with: make test-go-oracle SEED=${String(seed)}`);
  if (values.report && failed > 0) {
    print(
      `reported: ${String(failed)} differences with a new seed; not counted as failures; reproduce with the seed above`,
    );
    failed = 0;
  }
  print(`${String(passed)} passed, ${String(failed)} failed`);
  return failed > 0 ? 1 : 0;
}

try {
  if (values.help) print(HELP.trimEnd());
  else process.exitCode = compareAll(openOracle(print));
} catch (error) {
  if (!(error instanceof GoUnavailable)) throw error;
  print(error.message);
  process.exitCode = 3;
}
