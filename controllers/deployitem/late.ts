/** Deploy items that were created after their execution was gone, so no execution gives them a job. */
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../src/api/kinds/execution.ts';
import { missedExecution } from '../../src/landscape/abandoned.ts';
import type { World } from '../../src/landscape/world.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Client, View } from '../../src/runtime/types.ts';

/** Judged from the cache, which may not have seen the execution yet. */
export function lacksExecution({ executions }: Pick<World, 'executions'>, self: View<DeployItem>): boolean {
  const missed = missedExecution(self);
  if (!missed) return false;
  return executions.get(joinKey(self.metadata.namespace, missed.name))?.metadata.uid !== missed.uid;
}

/** Asks the API server, if the cache lacks the execution. */
export async function isLate(
  { world, client }: { readonly world: Pick<World, 'executions'>; readonly client: Client },
  self: View<DeployItem>,
  signal: AbortSignal,
): Promise<boolean> {
  const missed = missedExecution(self);
  if (!missed || !lacksExecution(world, self)) return false;
  const execution = await getIfThere(
    client,
    executionKind,
    joinKey(self.metadata.namespace, missed.name),
    signal,
  );
  return execution?.metadata.uid !== missed.uid;
}
