/** What helm did in the stories of releases, recorded by `make test-helm ARGS=--record`. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goJson } from '../../src/lib/gojson.ts';
import type { StepResult } from './release-runs.ts';

export const recordedReleases = join(import.meta.dirname, '../fixtures/helm-releases.json');

/** One step: its message, and the objects that it changed, each as a digest; null for a deleted one. */
export interface RecordedStep {
  readonly message: string;
  readonly changes: Readonly<Record<string, string | null>>;
}

/** Servers refuse several objects at the same time in any order. */
export const sortedMessage = (message: string): string => message.split('\n').sort().join('\n');

export function summary(results: readonly StepResult[]): readonly RecordedStep[] {
  let before = new Map<string, string>();
  return results.map(({ message, state }) => {
    const after = new Map(Object.entries(state).map(([key, object]) => [key, digest(object)]));
    const changes: Record<string, string | null> = {};
    for (const key of [...new Set([...before.keys(), ...after.keys()])].sort())
      if (before.get(key) !== after.get(key)) changes[key] = after.get(key) ?? null;
    before = after;
    return { message: sortedMessage(message), changes };
  });
}

const digest = (object: unknown): string =>
  createHash('sha256').update(goJson(object)).digest('hex').slice(0, 16);

export const recordedSteps = (title: string): readonly RecordedStep[] | undefined =>
  (JSON.parse(readFileSync(recordedReleases, 'utf8')) as Record<string, readonly RecordedStep[]>)[title];
