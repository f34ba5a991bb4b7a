/**
 * Plans: what a job would change. The plugin receives the same context as in the job, but its clients write nothing.
 */
import type { Logger } from '../../src/observability/log.ts';
import { readOnly } from '../../src/runtime/transport/read-only.ts';
import type { View } from '../../src/runtime/types.ts';
import type { KubeAccess } from './access.ts';
import { ConfigurationError } from './errors.ts';
import { isLeftInPlace, type Direction } from './intake.ts';
import { InventoryBinding } from './inventory-cluster.ts';
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
import { describeUnread, unreadProblem } from './unread.ts';

/** The same access, with dry runs instead of writes. */
export const withoutWrites = (access: KubeAccess): KubeAccess => ({
  client: readOnly(access.client),
  server: access.server,
  kindOf: (apiVersion, kind) => access.kindOf(apiVersion, kind),
  close: () => access.close(),
});

/** The deploy item of a plan, and its environment. */
export interface PlanAt {
  /** The item as it would be in the job: with its new spec, and with the last provider status. */
  readonly item: View<DeployItem>;
  readonly direction: Direction;
  /** Undefined for a deploy item without a target. */
  readonly target: View<Target> | undefined;
  /** Whether unknown fields of the configuration fail the job; default: no. */
  readonly isStrict?: boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * What a job of a deploy item would change. The plugin receives clients that write nothing.
 * @param ports its reader of targets must use `withoutWrites`
 * @returns undefined when the plugin has no `plan`
 * @throws errors with which the job would fail or which would be retried
 */
export async function planItem(at: PlanAt, ports: DeployContextPorts): Promise<ItemPlan | undefined> {
  const { plugin } = ports;
  const { item, signal } = at;
  const isApply = at.direction === 'apply';
  const operation = isApply ? 'reconcile' : 'delete';
  if (!isApply && isLeftInPlace(item)) {
    return { objects: [], notes: ['nothing is uninstalled: the item is deleted without uninstalling'] };
  }
  const unread = isApply ? (plugin.config.unread?.(item.spec.config) ?? []) : [];
  if (at.isStrict && unread.length > 0) throw new ConfigurationError(unreadProblem(plugin, unread));
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
  const notes: string[] = unread.length > 0 ? [`unknown fields ${describeUnread(unread)}`] : [];
  return askPlugin(at, { target, context, notes, bounds }, guarded);
}

/** @param facts.notes remarks, to which those about the inventory and the events of the plugin are added */
async function askPlugin(
  { item, direction, log, signal }: PlanAt,
  facts: Parameters<typeof deployContextOf>[3] & { readonly notes: string[]; readonly bounds: Bounds },
  ports: DeployContextPorts,
): Promise<ItemPlan | undefined> {
  const { target, notes, bounds } = facts;
  const { plugin } = ports;
  const inventory = plugin.hasInventory
    ? await InventoryBinding.of({ item, direction, target, plugin, signal })
    : undefined;
  for (const note of inventory?.notes ?? []) notes.push(note);
  if (direction === 'remove' && inventory?.isEmpty) return { objects: [], notes };
  const subject = {
    item: inventory?.item ?? item,
    log,
    scratch: new Map<string, unknown>(),
    begin: () => Promise.resolve(),
    event: (_type: string, _reason: string, note: string) => {
      notes.push(note);
    },
  };
  const plan = await plugin.plan?.(deployContextOf(subject, ports, bounds, facts), direction);
  return plan && { ...plan, notes: [...plan.notes, ...notes] };
}
