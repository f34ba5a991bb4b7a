/**
 * Writes down what the original Spiff answers to calls of its functions, for the unit tests.
 *
 *     node --import tsx hack/go-oracle/spiff-record.ts
 *
 * Needs Go and its module proxy. The calls are those that the file holds already: add one there with an empty answer.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SpiffAnswer } from './spiff-answers.ts';

interface Recorded {
  /** `join(args.[0], 5)` */
  readonly call: string;
  /** YAML on one line. */
  readonly args: string;
  readonly result?: unknown;
  readonly error?: string;
}

const file = new URL('../../test/unit/templating/spiff/functions/recorded.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, readonly Recorded[]>;
const folder = mkdtempSync(join(tmpdir(), 'go-oracle-'));
try {
  const binary = join(folder, 'oracle');
  const built = spawnSync('go', ['build', '-o', binary, '.'], { cwd: import.meta.dirname, stdio: 'inherit' });
  if (built.status !== 0) throw new Error('go build failed; is Go installed?');
  const calls = Object.values(recorded).flat();
  const input = calls.map(({ call, args }) =>
    JSON.stringify({ document: `args: ${args}\nx: (( ${call} ))\n` }),
  );
  const { stdout } = spawnSync(binary, ['spiff'], { input: `${input.join('\n')}\n` });
  const answers = stdout.toString('utf8').trimEnd().split('\n');
  let at = 0;
  const next = ({ call, args }: Recorded): Recorded => {
    const { output, error } = JSON.parse(answers[at++] ?? '{}') as SpiffAnswer;
    if (error === undefined) return { call, args, result: (JSON.parse(output ?? '{}') as { x: unknown }).x };
    return { call, args, error: /\tx\t\(\)\t\*([^]*)$/.exec(error)?.[1] ?? error };
  };
  const answered = Object.fromEntries(
    Object.entries(recorded).map(([topic, list]) => [topic, list.map(next)]),
  );
  writeFileSync(file, `${JSON.stringify(answered, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
