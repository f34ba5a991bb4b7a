/** Workflows of scripted nodes that record their calls and times, on a clock that stands still. */
import { silentLogger } from '../../../src/observability/log.ts';
import type { Context, Obj, View } from '../../../src/runtime/types.ts';
import type { Dependent } from '../../../src/workflow/dependent.ts';
import type { Conditions, NodeSpec } from '../../../src/workflow/node.ts';
import { buildWorkflow, type Workflow, type MeteredOptions } from '../../../src/workflow/workflow.ts';
import { FakeClock } from '../../support/clock.ts';
import { widgets, type Widget } from '../runtime/support/world.ts';

export const primary: View<Widget> = {
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  metadata: { namespace: 'ns', name: 'a', uid: 'uid-a', resourceVersion: '1' },
  spec: { size: 1 },
};

/** A context without a controller. */
export function contextOn(clock: FakeClock, more: Partial<Context<Widget>> = {}): Context<Widget> {
  const nothing = (what: string) => () => Promise.reject(new Error(`nobody gave this run a ${what}`));
  return {
    key: 'ns/a',
    controller: { name: 'widgets', kind: widgets, fieldManager: 'widgets' },
    clock,
    signal: new AbortController().signal,
    interrupt: new AbortController().signal,
    hasNewEvents: false,
    attempt: 0,
    lastAttempt: false,
    log: silentLogger,
    write: nothing('writer'),
    live: { get: nothing('cluster'), list: nothing('cluster') as never },
    draft: () => structuredClone(primary) as Widget,
    secondaries: () => [],
    secondary: () => undefined,
    valuesOf: () => [],
    expectations: { expect: () => undefined, resultOf: () => 'none', drop: () => undefined },
    event: () => undefined,
    ...more,
  };
}

export interface NodePlan extends Conditions<Widget> {
  readonly early?: boolean;
  readonly dependsOn?: readonly string[];
  readonly gc?: boolean;
  /** Default: it can. */
  readonly canDelete?: boolean;
  readonly fails?: 'reconcile' | 'delete';
}

const STEP_MS = 1_000;

/** Nodes that take a second for everything they do. */
export function graphOf(plans: Readonly<Record<string, NodePlan>>, options: MeteredOptions = {}) {
  const clock = new FakeClock();
  /** `1 begin reconcile 2`: the time in seconds, and the started work. */
  const log: string[] = [];
  const note = (what: string): void => void log.push(`${String(clock.now() / STEP_MS)} ${what}`);
  const work = (name: string, what: 'reconcile' | 'delete'): Promise<void> => {
    note(`begin ${what} ${name}`);
    return new Promise((resolve, reject) => {
      clock.at(clock.now() + STEP_MS, () => {
        note(`end ${what} ${name}`);
        if (plans[name]?.fails === what) reject(new Error(`cannot ${what} ${name}`));
        else resolve();
      });
    });
  };
  const dependent = (name: string, { gc, canDelete = true }: NodePlan): Dependent<Obj, Widget> => ({
    name,
    ...(gc !== undefined && { gc }),
    actual: () => Promise.resolve(undefined),
    async reconcile() {
      await work(name, 'reconcile');
      return { did: 'noop' };
    },
    ...(canDelete && { delete: () => work(name, 'delete') }),
  });
  const nodes: NodeSpec<Widget>[] = Object.entries(plans).map(([name, plan]) => {
    const { dependsOn, active, when, ready, deleted, early } = plan;
    const conditions = Object.entries({ active, when, ready, deleted }).filter(([, c]) => c !== undefined);
    return {
      use: dependent(name, plan),
      ...(dependsOn && { dependsOn }),
      ...(early && { early }),
      ...(Object.fromEntries(conditions) as Conditions<Widget>),
    };
  });
  const workflow: Workflow<Widget> = buildWorkflow(nodes, options);
  const ctx = contextOn(clock);
  const finish = async <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => undefined);
    await clock.advance(60_000);
    return promise;
  };
  return {
    clock,
    log,
    workflow,
    ctx,
    reconcile: () => finish(workflow.reconcile(primary, ctx)),
    cleanup: () => finish(workflow.cleanup(primary, ctx)),
    /** The started work in order: `reconcile 1`; work started at the same time is joined: `reconcile 2 + reconcile 3`. */
    get story(): string[] {
      const byTime = new Map<string, string[]>();
      for (const line of log) {
        const [time = '', op, ...rest] = line.split(' ');
        if (op === 'begin') byTime.set(time, [...(byTime.get(time) ?? []), rest.join(' ')]);
      }
      return [...byTime.values()].map((at) => at.sort().join(' + '));
    },
  };
}

/** 2 and 3 depend on 1, 4 on both. */
export const diamond = (more: Readonly<Record<string, NodePlan>> = {}): Record<string, NodePlan> => ({
  1: { ...more['1'] },
  2: { dependsOn: ['1'], ...more['2'] },
  3: { dependsOn: ['1'], ...more['3'] },
  4: { dependsOn: ['2', '3'], ...more['4'] },
});

/** 2 and 3 depend on 1, 4 and 5 on 3. */
export const fork = (more: Readonly<Record<string, NodePlan>> = {}): Record<string, NodePlan> => ({
  1: { ...more['1'] },
  2: { dependsOn: ['1'], ...more['2'] },
  3: { dependsOn: ['1'], ...more['3'] },
  4: { dependsOn: ['3'], ...more['4'] },
  5: { dependsOn: ['3'], ...more['5'] },
});

export const no = (): boolean => false;
export const yes = (): boolean => true;
