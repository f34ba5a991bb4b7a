/** The deploy item controller: ends the job of items that no deployer takes up, or could, or that a user interrupts. */
import { hasOperation, isFinished } from '../../src/api/job.ts';
import { operations } from '../../src/api/labels.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import { timestamp, type Clock } from '../../src/lib/clock.ts';
import { Applier } from '../../src/machine/apply.ts';
import { isPickedUp } from '../../src/machine/pickup.ts';
import type { World } from '../../src/machine/world.ts';
import type { ControllerSpec } from '../../src/runtime/controller.ts';
import type { Client, View } from '../../src/runtime/types.ts';
import { interruptAsked, judgePickup } from './decide.ts';

export interface DeployItemPorts {
  readonly world: World;
  readonly client: Client;
  readonly clock: Clock;
  /** 0 switches the check off. */
  readonly pickupTimeoutMs: number;
  readonly workers?: number;
}

export function deployItemController(ports: DeployItemPorts): ControllerSpec<DeployItem> {
  const { world, client, clock, pickupTimeoutMs } = ports;
  return {
    name: 'deployitem',
    kind: deployItemKind,
    finalizer: 'author',
    generation: 'off',
    retry: 'growing',
    ...(ports.workers && { maxConcurrent: ports.workers }),
    filter: { add: hasWork, update: (_old, item) => hasWork(item) },
    reconciler: {
      async reconcile(self, ctx) {
        const now = timestamp(clock);
        const read = (...[kind, key]: Parameters<Client['get']>) => client.get(kind, key, ctx.signal);
        const applier = new Applier({ write: ctx.write, read, signal: ctx.signal });
        const interrupt = interruptAsked({ self, now });
        if (interrupt) {
          for (const effect of interrupt) await applier.carryOut(effect);
          return { write: 'none' };
        }
        const target = self.spec.target && `${self.metadata.namespace ?? ''}/${self.spec.target.name}`;
        const verdict = judgePickup({
          self,
          now,
          pickupTimeoutMs,
          isTargetMissing: target !== undefined && world.targets.get(target) === undefined,
        });
        if (verdict.do === 'look-again') return { write: 'none', again: verdict.afterMs };
        if (verdict.do === 'fail') {
          await applier.carryOut(verdict.effect);
          ctx.event('Warning', verdict.problem.reason, verdict.problem.message);
        }
        return { write: 'none' };
      },
    },
  };
}

const hasWork = (self: View<DeployItem>): boolean =>
  (!isFinished(self) && !isPickedUp(self)) || hasOperation(self.metadata, operations.interrupt);
