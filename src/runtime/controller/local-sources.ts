/** Sources that controllers cannot use if replicas share the work. */
import { DefinitionError } from '../errors.ts';
import type { Source } from '../sources/sources.ts';
import type { Obj } from '../types.ts';

/** @throws DefinitionError if the events of the source reach only one of the replicas */
export function refuseLocal<P extends Obj>(source: Source<P>, controller: string): void {
  if (!source.isLocal) return;
  throw new DefinitionError({
    message: `controller ${controller}: source ${source.name} raises events in one process only, so replicas that share the work would lose most of them; deliver its events to every replica and create it with { everyReplica: true }, or write the event to the primary, for example as an annotation`,
  });
}
