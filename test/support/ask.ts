/** Returns the decision of a phase, as the loop gets it, and names each of its effects in a few words. */
import type { Decision, Effect } from '../../src/machine/decision.ts';
import type { Phase, StatusOf } from '../../src/machine/phase.ts';

/** The answer of the first step that has one. @throws Error when none has */
export function ask<Snapshot extends object>(
  phase: Phase<Snapshot>,
  snapshot: Partial<Snapshot>,
): Decision<string, StatusOf<Snapshot>> {
  for (const step of phase.steps) {
    const decision = step.decide(snapshot as Snapshot);
    if (decision) return decision;
  }
  throw new Error('no step decided');
}

/** `create NAME`, `delete NAME`, `job NAME`, `strip NAME`, `status NAME` or `patch NAME`, in order. */
export const effectsOf = (decision: { readonly effects: readonly Effect[] }): string[] =>
  decision.effects.map((effect) => {
    const name = effect.do === 'create' ? effect.object.metadata.name : effect.target.metadata.name;
    return `${verbOf(effect)} ${name}`;
  });

function verbOf(effect: Effect): string {
  if (effect.do !== 'patch') return effect.do;
  const body = effect.body as { status?: { jobID?: string }; metadata?: { finalizers?: unknown } };
  if (body.status?.jobID !== undefined) return 'job';
  if (body.metadata?.finalizers !== undefined) return 'strip';
  return effect.sub === 'status' ? 'status' : 'patch';
}
