/** Runs the original Go implementations: one program for both engines, built once per run, one line per request. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A GoTemplate. */
export interface TemplateRequest {
  readonly template: string;
  readonly values?: unknown;
  /** Measures the time of this number of executions instead. */
  readonly rounds?: number;
}

/** A Spiff document. */
interface SpiffRequest {
  readonly document: string;
  readonly bindings?: unknown;
  /**
   * YAML. If set, the document is an execution with stored state, and the output is `{result, state}`; otherwise it
   * is the result.
   */
  readonly stored?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** YAML to parse, or a value to format. */
export type YamlRequest = { readonly yaml: string } | { readonly toYaml: unknown };

type OracleRequest = TemplateRequest | SpiffRequest | YamlRequest;

export interface Answer {
  /** A string; for Spiff and for parsed YAML, it is JSON. */
  readonly output?: string;
  readonly error?: string;
}

/** Sends requests to the originals; the answers are in the same order. */
export type Oracle = (requests: readonly OracleRequest[]) => readonly Answer[];

export class GoMissing extends Error {}

const MINUTES = 4;

/**
 * Builds the oracle and passes it to the function.
 * @throws GoMissing with the reason if it cannot be built
 */
export async function withOracle<T>(work: (ask: Oracle) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'go-oracle-'));
  try {
    const binary = join(folder, 'oracle');
    const built = spawnSync('go', ['build', '-o', binary, '.'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    if (built.error) {
      throw new GoMissing(
        `Go is needed to compare with the originals, but "go" cannot be run (${built.error.message}); install Go ${MINIMUM} or later from https://go.dev/dl`,
      );
    }
    if (built.status !== 0) {
      const why = built.stderr.trim().split('\n').slice(-3).join('; ');
      throw new GoMissing(
        `Go cannot build the originals, which needs Go ${MINIMUM} or later and its module proxy: ${why}`,
      );
    }
    return await work((requests) => answers(binary, requests));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As in go.mod. */
const MINIMUM = '1.25';

function answers(binary: string, requests: readonly OracleRequest[]): readonly Answer[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const env = { ...process.env, TZ: 'UTC' };
  const { stdout } = spawnSync(binary, { input, maxBuffer: 2 ** 30, env, timeout: MINUTES * 60_000 });
  const lines = stdout.toString('utf8').split('\n').slice(0, -1);
  if (lines.length !== requests.length) {
    const last = JSON.stringify(requests[lines.length]);
    throw new Error(`the Go program failed, or ran for more than ${String(MINUTES)} minutes, at ${last}`);
  }
  return lines.map((line) => JSON.parse(line) as Answer);
}
