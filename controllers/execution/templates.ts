/**
 * Reads and validates the deploy item templates of an execution. Large lists are unpacked in a worker, and the
 * result is cached by content, so that a list is unpacked only once.
 */
import { createHash } from 'node:crypto';
import {
  readSmallDeployItems,
  UnreadableDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../src/api/kinds/execution.ts';
import type { InstallationLimits } from '../../src/api/limits.ts';
import { skipsValidation, refusalForJob } from '../../src/api/validation/index.ts';
import type { UnpackedItems } from '../../src/blueprint/unpack-items.ts';
import type { RunnerOf } from '../../src/blueprint/work.ts';
import { parseExactJson } from '../../src/lib/exact-json.ts';
import { inPortions } from '../../src/lib/portions.ts';
import type { View } from '../../src/runtime/types.ts';
import { withStoredDurations } from './classify.ts';

interface Found {
  readonly templates: readonly DeployItemTemplate[];
  readonly problem: string | undefined;
  /** Characters of the JSON text. */
  readonly size: number;
}

export interface TemplateReader {
  /** The templates with durations in the stored format. @throws UnreadableDeployItems */
  templates(self: View<Execution>): Promise<readonly DeployItemTemplate[]>;
  /** Why this execution is invalid and its job ends at once. */
  refusal(self: View<Execution>): Promise<string | undefined>;
}

/** Characters of all cached lists; in memory, they take a few times as much. */
const MAX_CACHED = 8 << 20;
const MAX_REFUSALS = 1000;

export function templateReader(runnerOf: RunnerOf, limits?: InstallationLimits): TemplateReader {
  const cached = new Map<string, Found>();
  const refused = new Map<string, UnreadableDeployItems>();
  let size = 0;

  const store = (hash: string, found: Found): void => {
    if (found.size > MAX_CACHED) return;
    cached.set(hash, found);
    size += found.size;
    for (const [oldest, { size: itsSize }] of cached) {
      if (size <= MAX_CACHED) break;
      cached.delete(oldest);
      size -= itsSize;
    }
  };

  /** @throws UnreadableDeployItems */
  const readLarge = async ({ metadata, spec }: View<Execution>): Promise<Found> => {
    const packed = spec.deployItemsCompressed ?? '';
    const hash = createHash('sha256').update(packed).digest('base64');
    const previous = cached.get(hash) ?? refused.get(hash);
    if (previous instanceof UnreadableDeployItems) throw previous;
    if (previous) return previous;
    try {
      const found = await parsed(await runnerOf(metadata.namespace ?? '').unpackItems({ packed, limits }));
      store(hash, found);
      return found;
    } catch (error) {
      if (error instanceof UnreadableDeployItems) {
        refused.set(hash, error);
        if (refused.size > MAX_REFUSALS) refused.delete(refused.keys().next().value as string);
      }
      throw error;
    }
  };

  return {
    templates: async (self) =>
      withStoredDurations(
        readSmallDeployItems(self.spec as Execution['spec'], limits) ?? (await readLarge(self)).templates,
      ),
    refusal: async (self) => {
      if (!isLarge(self, limits)) return refusalForJob('executions', self, limits);
      const spec = { ...self.spec, deployItems: undefined, deployItemsCompressed: undefined };
      const refusal = refusalForJob('executions', { ...self, spec }, limits);
      if (refusal !== undefined) return refusal;
      try {
        const { problem } = await readLarge(self);
        return skipsValidation(self) ? undefined : problem;
      } catch (error) {
        if (error instanceof UnreadableDeployItems) return error.message;
        throw error;
      }
    },
  };
}

function isLarge({ spec }: View<Execution>, limits: InstallationLimits | undefined): boolean {
  try {
    return readSmallDeployItems(spec as Execution['spec'], limits) === undefined;
  } catch (error) {
    if (error instanceof UnreadableDeployItems) return false;
    throw error;
  }
}

async function parsed({ items, problem }: UnpackedItems): Promise<Found> {
  const templates = await inPortions(
    items,
    (text) => parseExactJson(text) as DeployItemTemplate,
    (text) => text.length,
  );
  return { templates, problem, size: items.reduce((sum, { length }) => sum + length, 0) };
}
