/** Runs the original Go implementations: one program for both engines, one line per request. */
import { spawnSync } from 'node:child_process';
import { ensureGoModule, type GoModule } from '../go/module.ts';

/** A GoTemplate. */
export interface TemplateRequest {
  readonly template: string;
  readonly values?: unknown;
  /** Measures the time of this number of executions instead. */
  readonly rounds?: number;
}

/** A Spiff document. */
export interface SpiffRequest {
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

export type OracleRequest = TemplateRequest | SpiffRequest | YamlRequest;

export interface Answer {
  /** A string; for Spiff and for parsed YAML, it is JSON. */
  readonly output?: string;
  readonly error?: string;
}

/** Sends requests to the originals; the answers are in the same order. */
export type Oracle = (requests: readonly OracleRequest[]) => readonly Answer[];

const MINUTES = 4;

export const goOracle: GoModule = { name: 'go-oracle', folder: import.meta.dirname };

/**
 * @param say called before the originals are built
 * @throws GoUnavailable
 */
export function openOracle(say: (line: string) => void): Oracle {
  const binary = ensureGoModule(goOracle, say);
  return (requests) => answers(binary, requests);
}

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
