/** Reads all facts for the phases of an installation; no other file reads them. */
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { defaultLimits } from '../../../src/api/limits.ts';
import type { Gatherers } from '../../../src/machine/phase.ts';
import type { View } from '../../../src/runtime/types.ts';
import type { Snapshot } from '../snapshot.ts';
import { exportFacts } from './exports.ts';
import { importFacts } from './imports.ts';
import { contextOf, type Sources } from './gather-context.ts';
import { relatedFacts } from './related.ts';
import { renderingFacts } from './rendering.ts';

export type { Sources } from './gather-context.ts';

export const gather =
  (sources: Sources) =>
  (self: View<Installation>, now: string): Gatherers<Snapshot> => {
    const { limits = defaultLimits, isStrict = false } = sources;
    const ctx = contextOf(sources, limits, self);
    return {
      self: () => self,
      now: () => now,
      limits: () => limits,
      isStrict: () => isStrict,
      ...relatedFacts(ctx, sources),
      ...importFacts(ctx),
      ...renderingFacts(ctx, sources),
      ...exportFacts(ctx),
    };
  };
