/**
 * Compares Spiff's functions with the original's, over made-up calls.
 *
 *     node --import tsx hack/go-oracle/spiff.ts [SEED] [CALLS OF EACH FUNCTION]
 *
 * Needs Go and its module proxy. Prints each difference that is not known; exit code 1 when there is one.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goJson } from '../../src/lib/gojson.ts';
import { seededRng } from '../../src/lib/rng.ts';
import { Unresolvable } from '../../src/templating/spiff/function.ts';
import { standardFunctions } from '../../src/templating/spiff/functions/index.ts';
import { plain, type SpiffAnswer, type SpiffRequest } from './spiff-answers.ts';
import { documentOf, spiffCalls, world, type SpiffCall } from './spiff-calls.ts';
import { compareDocuments } from './spiff-documents.ts';
import { knownSpiffDifferences } from './spiff-known.ts';

/** The same shape as that of the other comparisons. */
export interface SpiffComparison {
  readonly cases: number;
  readonly differences: readonly string[];
  /** How often each known difference was met. */
  readonly known: ReadonlyMap<string, number>;
}

function askGo(binary: string, requests: readonly SpiffRequest[]): readonly SpiffAnswer[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { stdout } = spawnSync(binary, ['spiff'], { input, maxBuffer: 2 ** 30, timeout: 120_000 });
  const lines = stdout.toString('utf8').trimEnd().split('\n');
  if (lines.length !== requests.length) {
    throw new Error(`Go gave up at ${JSON.stringify(requests[lines.length - 1])}`);
  }
  return lines.map((line) => JSON.parse(line) as SpiffAnswer);
}

/** @param each calls of each function */
export async function compareSpiff(seed: number, each: number): Promise<SpiffComparison> {
  const folder = mkdtempSync(join(tmpdir(), 'go-oracle-'));
  try {
    const binary = join(folder, 'oracle');
    const built = spawnSync('go', ['build', '-o', binary, '.'], {
      cwd: import.meta.dirname,
      stdio: 'inherit',
    });
    if (built.status !== 0) throw new Error('go build failed; is Go installed?');
    const calls = spiffCalls(seededRng(seed), each);
    const answers = askGo(
      binary,
      calls.map((call) => ({ document: documentOf(call) })),
    );
    const texts = calls.map((call, i) => difference(call, answers[i] as SpiffAnswer));
    const documents = await compareDocuments(seededRng(seed), (requests) => askGo(binary, requests));
    return count(calls.length + documents.length, [...texts, ...documents]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function count(cases: number, texts: readonly (string | undefined)[]): SpiffComparison {
  const known = new Map<string, number>();
  const differences: string[] = [];
  for (const text of texts) {
    if (text === undefined) continue;
    const why = knownSpiffDifferences.find(({ pattern }) => pattern.test(text))?.why;
    if (why === undefined) differences.push(text);
    else known.set(why, (known.get(why) ?? 0) + 1);
  }
  return { cases, differences, known };
}

/** Functions whose results are of chance: only errors and the kind of the result can be compared. */
const CHANCE = new Set(['rand', 'bcrypt', 'md5crypt', 'encrypt', 'x509genkey', 'x509cert', 'wggenkey']);

/** The text of a difference; undefined when both agree. */
function difference(call: SpiffCall, go: SpiffAnswer): string | undefined {
  const goes = resultOf(go);
  const is = evaluate(call);
  const theirs = shown(call, goes);
  const ours = shown(call, is);
  if (theirs === ours || areClose(goes.value, is.value)) return undefined;
  const document = documentOf(call)
    .trimEnd()
    .replaceAll(/[A-Za-z0-9+/]{60,}/g, '…');
  return `${document}\n  Go:   ${theirs}\n  ours: ${ours}`;
}

/** Whether two doubles differ in nothing but the last bits: processors and libraries round in their own ways. */
const areClose = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= Math.abs(a) * 1e-12;

interface Result {
  readonly value?: unknown;
  readonly error?: string;
}

/** What Go says about `x`. */
function resultOf({ output, error }: SpiffAnswer): Result {
  if (error === undefined) return { value: (JSON.parse(output ?? 'null') as { x: unknown }).x };
  return { error: /^unresolved nodes:\n\t.*?\tin template\tx\t\(\)\t[*@]([^]*)$/.exec(error)?.[1] ?? error };
}

function evaluate({ name, args }: SpiffCall): Result {
  try {
    const value = standardFunctions[name]?.(args, world(1)) ?? null;
    return { value: JSON.parse(goJson(plain(value))) as unknown };
  } catch (error) {
    if (error instanceof Unresolvable) {
      const { message, cause } = error;
      return { error: cause instanceof Unresolvable ? `${message}\n\t\t... ${cause.message}` : message };
    }
    return { error: `crash: ${(error as Error).stack ?? ''}` };
  }
}

function shown({ name }: SpiffCall, { value, error }: Result): string {
  if (error !== undefined) return `ERR ${error}`;
  if (!CHANCE.has(name)) return goJson(value);
  return typeof value === 'string' && name !== 'x509cert' && name !== 'x509genkey'
    ? `a text of ${String(value.length)}`
    : `a ${typeof value}`;
}

if (process.argv[1] === import.meta.filename) {
  const [seed = '1', each = '40'] = process.argv.slice(2);
  const { cases, differences, known } = await compareSpiff(Number(seed), Number(each));
  for (const text of differences.slice(0, 60)) process.stdout.write(`${text}\n`);
  for (const [why, times] of known) process.stdout.write(`known, ${String(times)} times: ${why}\n`);
  process.stdout.write(
    `spiff: ${String(cases)} cases, ${String(differences.length)} differ (seed ${seed})\n`,
  );
  process.exitCode = differences.length > 0 ? 1 : 0;
}
