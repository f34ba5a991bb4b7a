/**
 * What a job would change, told without changing it. A plug-in that can tell is asked with everything it would see in
 * the job; clients that it is given write nothing, whatever it does with them.
 */
import type { Logger } from '../../src/observability/log.ts';
import { readOnly } from '../../src/runtime/transport/read-only.ts';
import type { View } from '../../src/runtime/types.ts';
import type { KubeAccess } from './access.ts';
import { ConfigurationError } from './errors.ts';
import { isLeftInPlace, type Direction } from './intake.ts';
import type { DeployItem, Target } from './kinds.ts';
import { nothingPlanned, type ItemPlan } from './item-plan.ts';
import {
  contextOf,
  neverApplied,
  refuseInvalid,
  deployContextOf,
  type Bounds,
  type DeployContextPorts,
} from './deploy-context.ts';
import { validateTarget } from './target.ts';

/** Access that reads, and asks the server what it would answer to writes. */
export const withoutWrites = (access: KubeAccess): KubeAccess => ({
  client: readOnly(access.client),
  kindOf: (apiVersion, kind) => access.kindOf(apiVersion, kind),
  close: () => access.close(),
});

/** The item to be planned for, and what is known around it. */
export interface PlanAt {
  /** As it would be in the job: with its new spec, and with the provider status of the last one. */
  readonly item: View<DeployItem>;
  readonly direction: Direction;
  /** undefined for an item without one. */
  readonly target: View<Target> | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Says what a job of an item would do, without doing it: the plug-in is asked with clients that write nothing.
 * @param ports the reader of targets must open them by `withoutWrites`
 * @returns undefined when the plug-in cannot tell
 * @throws what would end the job, or be shown while it is tried again
 */
export async function planItem(at: PlanAt, ports: DeployContextPorts): Promise<ItemPlan | undefined> {
  const { plugin } = ports;
  const { item, signal } = at;
  const isApply = at.direction === 'apply';
  const operation = isApply ? 'reconcile' : 'delete';
  if (!isApply && isLeftInPlace(item)) {
    return { objects: [], notes: ['nothing is uninstalled: the item is deleted without uninstalling'] };
  }
  if (isApply) refuseInvalid(item, at.target, operation);
  const target = at.target && (await ports.reader.resolve(at.target, signal));
  if (target) validateTarget(target, operation);
  const bounds: Bounds = { left: () => Infinity, signal, deadline: { lastStep: '' } };
  const guarded = { ...ports, client: readOnly(ports.client) };
  const context = await contextOf(item, guarded, bounds, operation);
  if (item.spec.config === undefined && isApply) {
    throw new ConfigurationError({
      operation,
      reason: 'ProviderConfigurationMissing',
      message: 'provider configuration missing',
    });
  }
  if (!isApply && neverApplied(item, plugin)) return nothingPlanned;
  const notes: string[] = [];
  const subject = {
    item,
    log: at.log,
    scratch: new Map<string, unknown>(),
    begin: () => Promise.resolve(),
    event: (_type: string, _reason: string, note: string) => {
      notes.push(note);
    },
  };
  const ctx = deployContextOf(subject, guarded, bounds, { target, context });
  const plan = await plugin.plan?.(ctx, at.direction);
  return plan && { ...plan, notes: [...plan.notes, ...notes] };
}
