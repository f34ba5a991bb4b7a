/** The scripted deployer, a plugin of the real SDK, and the external system on which it installs. */
import {
  passthrough,
  done,
  fail,
  retry,
  wait,
  type DeployerPlugin,
  type Outcome,
  type DeployContext,
} from '../../../deployers/sdk/index.ts';
import type { Host } from '../../../src/testing/network/exchange.ts';
import type { Item } from '../cluster/objects.ts';
import type { Scheduler } from '../../../src/testing/engine/scheduler.ts';
import { NOBODYS_TYPE, SCRIPT_TYPE } from './render.ts';
import type { Behaviour } from './model.ts';

interface Script {
  readonly behaviour: Behaviour;
  readonly looks: number;
  readonly gives: boolean;
  readonly value: string;
}

/** What is installed on the targets: it outlives every process. */
export class Outside {
  /** Values by uid of the item that they were installed for. */
  readonly installed = new Map<string, string>();
  /**
   * Items that are deleted without uninstall: their deployer may notice the end of a job late, and install all the
   * same.
   */
  readonly #forgotten = new Set<string>();
  /** Reconciles of an item so far, by uid and job. */
  readonly looks = new Map<string, number>();
  /** From now on everything works. */
  isHealed = false;
  /** Called when a deployer begins to install something. */
  onApply: (item: Item) => void = () => undefined;

  install(uid: string, value: string): void {
    if (!this.#forgotten.has(uid)) this.installed.set(uid, value);
  }

  forget(uid: string): void {
    this.#forgotten.add(uid);
    this.installed.delete(uid);
  }
}

const problem = (message: string) => ({ operation: 'script', reason: 'Scripted', message });

/** An item that hangs ends at its timeout; see render.ts. */
const ASK_AGAIN_MS = 15_000;

export function scriptedDeployers(
  outside: Outside,
  scheduler: Scheduler,
  host: Host,
  types: readonly string[] = [SCRIPT_TYPE, NOBODYS_TYPE],
): DeployerPlugin[] {
  /** An external operation takes time; a process that is killed meanwhile does not see its end. */
  const act = (what: () => void, note: string): Promise<void> =>
    new Promise((resolve) => {
      scheduler.add(() => {
        if (!host.isAlive) return;
        scheduler.trace.note(() => `${host.name}   = ${note}`);
        what();
        resolve();
      });
    });

  const nextLook = ({ item }: DeployContext): number => {
    const id = `${item.metadata.uid ?? ''} ${item.status?.jobID ?? ''} ${item.metadata.deletionTimestamp ?? ''}`;
    const count = (outside.looks.get(id) ?? 0) + 1;
    outside.looks.set(id, count);
    return count;
  };

  const apply = async (ctx: DeployContext): Promise<Outcome> => {
    const { behaviour, looks, gives, value } = ctx.config as Script;
    outside.onApply(ctx.item);
    const how = outside.isHealed ? 'ok' : behaviour;
    const count = nextLook(ctx);
    const { uid = '', name } = ctx.item.metadata;
    if (how === 'fails') return fail(problem('this item always fails'));
    if (how === 'hangs') return wait({ requeueAfterMs: ASK_AGAIN_MS, onTimeout: problem('it hangs') });
    if (how === 'flaky' && count <= looks) return retry(problem('not yet'));
    if (how === 'slow') await ctx.begin();
    await act(() => outside.install(uid, value), `installs ${name}`);
    if (how === 'slow' && count <= looks) return wait({ requeueAfterMs: 1_500 });
    return done(gives ? { exports: { value: { v: value } } } : {});
  };

  const remove = async (ctx: DeployContext): Promise<Outcome> => {
    const { behaviour = 'ok', looks = 0 } = (ctx.config ?? {}) as Partial<Script>;
    const how = outside.isHealed ? 'ok' : behaviour;
    const count = nextLook(ctx);
    const { uid = '', name } = ctx.item.metadata;
    if (how === 'cannot-go') return fail(problem('this item cannot be uninstalled'));
    if (how === 'flaky' && count <= looks) return retry(problem('not yet gone'));
    if (how === 'slow' && count <= looks) return wait({ requeueAfterMs: 1_500 });
    await act(() => outside.installed.delete(uid), `uninstalls ${name}`);
    return done();
  };

  return types.map((type) => ({
    type,
    name: type.split('/')[1] ?? type,
    version: '1',
    config: passthrough,
    apply,
    remove,
  }));
}
