/** Which deploy items no deployer picks up; their executions say so. Pure. */
import type { DeployItem } from '../../api/kinds/deployitem.ts';
import { isFinished } from '../../api/job.ts';
import { labels } from '../../api/labels.ts';
import { named } from '../../machine/decision.ts';
import { notPickedUpMessage } from '../../machine/obstacles.ts';
import { joinKey, keyOf } from '../../runtime/keys.ts';
import type { View } from '../../runtime/types.ts';
import type { Collected } from '../tree/collect.ts';

/** Finds the message of the execution about an item; it names one item at a time. */
export function notPickedUpIn({
  executions,
}: Pick<Collected, 'executions'>): (item: View<DeployItem>) => string | undefined {
  const messages = new Map(
    executions.map((one) => [keyOf(one), isFinished(one) ? undefined : notPickedUpMessage(one.status)]),
  );
  return (item) => {
    const { namespace, labels: own } = item.metadata;
    const message = messages.get(joinKey(namespace, own?.[labels.executionManagedBy] ?? ''));
    return message?.startsWith(`${named(item)} `) ? message : undefined;
  };
}
