/** How an operator and its workflow end: cleanups, errors, and forgotten primaries. */
import { expect } from 'chai';
import type { Obj } from '../../../src/runtime/types.ts';
import type { Dependent } from '../../../src/workflow/dependent.ts';
import { kubernetes } from '../../../src/workflow/kubernetes.ts';
import {
  addWorkflowController,
  type WorkflowControllerSpec,
  type WorkflowReconciler,
} from '../../../src/workflow/workflow-controller.ts';
import { settle } from '../../support/clock.ts';
import {
  createWorld,
  doubling,
  nothing,
  parts,
  widget,
  widgets,
  type Part,
  type Widget,
  type World,
} from '../runtime/support/world.ts';

describe('an operator', () => {
  let world: World;
  let story: string[];
  beforeEach(() => {
    world = createWorld();
    story = [];
  });
  afterEach(() => world.end());

  const node = (name: string, more: Partial<Dependent<Obj, Widget>> = {}): Dependent<Obj, Widget> => ({
    name,
    actual: () => Promise.resolve(undefined),
    async delete() {
      await Promise.resolve();
      story.push(`delete ${name}`);
    },
    ...more,
  });
  const operate = (
    workflow: WorkflowControllerSpec<Widget>['workflow'],
    reconciler: Partial<WorkflowReconciler<Widget>> = {},
  ) =>
    addWorkflowController<Widget>(world.manager, {
      name: 'widgets',
      kind: widgets,
      retry: doubling,
      generation: 'off' as const,
      syncPeriodMs: 0,
      workflow,
      reconciler: {
        reconcile() {
          story.push('own logic');
          return Promise.resolve(nothing);
        },
        onError(_p, _ctx, error) {
          story.push(String(error));
          return Promise.resolve('default');
        },
        ...reconciler,
      },
    });
  const begin = async (metadata: Partial<Widget['metadata']> = {}): Promise<void> => {
    world.cluster.put(widgets, widget('A/1', metadata));
    await world.start();
  };
  const remove = async (): Promise<void> => {
    story.length = 0;
    world.cluster.remove(widgets, 'A/1');
    await settle();
  };
  const isThere = (): boolean => world.cluster.read(widgets, 'A/1') !== undefined;

  it('need not call its explicit workflow', async () => {
    operate({ nodes: [{ use: node('a') }], explicit: true });
    await begin();
    expect(story).to.deep.equal(['own logic']);
  });

  it('keeps its finalizer as long as its explicit cleanup requests it', async () => {
    let isKept = true;
    operate(
      { nodes: [{ use: node('a') }], explicit: true },
      {
        cleanup: () =>
          Promise.resolve(isKept ? { finalizer: 'keep', requeueAfterMs: 5_000 } : { finalizer: 'remove' }),
      },
    );
    await begin();
    await remove();
    expect([story, isThere()]).to.deep.equal([[], true]);
    isKept = false;
    await world.clock.advance(5_000);
    expect([story, isThere()]).to.deep.equal([[], false]);
  });

  for (const [title, more, isGone] of [
    ['retries a failed cleanup, whatever its own cleanup returns', {}, false],
    ['lets its own cleanup decide about failed nodes if it asks for that', { throwErrors: false }, true],
  ] as const)
    it(title, async () => {
      const failing = { ...node('a'), delete: () => Promise.reject(new Error('stuck')) };
      operate(
        { nodes: [{ use: failing }], ...more },
        { cleanup: () => Promise.resolve({ finalizer: 'remove' }) },
      );
      await begin();
      await remove();
      expect(isThere()).to.equal(!isGone);
    });

  it('cleans up again if its own cleanup requests it, even if a node is not gone', async () => {
    operate(
      { nodes: [{ use: node('a'), deleted: () => false }] },
      { cleanup: () => Promise.resolve({ finalizer: 'keep', requeueAfterMs: 5_000 }) },
    );
    await begin();
    await remove();
    expect(story).to.deep.equal(['delete a']);
    await world.clock.advance(5_000);
    expect(story).to.deep.equal(['delete a', 'delete a']);
  });

  it('cleans up again no later than a node requests', async () => {
    operate(
      { nodes: [{ use: node('a'), deleted: () => ({ met: false, requeueAfterMs: 2_000 }) }] },
      { cleanup: () => Promise.resolve({ finalizer: 'keep', requeueAfterMs: 5_000 }) },
    );
    await begin();
    await remove();
    await world.clock.advance(2_000);
    expect(story).to.deep.equal(['delete a', 'delete a']);
  });

  it('cleans up again after a minute if a node is not gone and no event arrives', async () => {
    operate({ nodes: [{ use: node('a'), deleted: () => false }] });
    await begin();
    await remove();
    await world.clock.advance(59_000);
    expect(story).to.deep.equal(['delete a']);
    await world.clock.advance(1_000);
    expect(story).to.deep.equal(['delete a', 'delete a']);
  });

  it('releases a source that was active for a primary after it has cleaned up, whatever other finalizers the primary has', async () => {
    const use = kubernetes<Part, Widget>({
      kind: parts,
      ssa: false,
      gc: false,
      source: 'cms',
      desired: ({ metadata }) => ({ metadata: { name: metadata.name } }),
    });
    const controller = operate({ nodes: [{ use, active: () => true }] });
    await begin({ finalizers: ['other.example/x'] });
    expect(controller.hasSource('cms')).to.equal(true);
    await remove();
    expect([isThere(), controller.hasSource('cms')]).to.deep.equal([true, false]);
  });

  it('follows its error handler after an error', async () => {
    const reconcile = (): never => {
      story.push('try');
      throw new Error('no');
    };
    operate({ nodes: [{ use: node('a') }] }, { reconcile, onError: () => Promise.resolve({ retry: false }) });
    await begin();
    await world.clock.advance(600_000);
    expect(story).to.deep.equal(['try']);
  });

  it('lets a node forget a primary even if others have nothing to forget', async () => {
    operate({
      nodes: [
        { use: node('a', { gc: true }) },
        { use: node('b', { gc: true, forget: () => void story.push('forget b') }) },
      ],
    });
    await begin();
    await remove();
    expect(story).to.deep.equal(['forget b']);
  });
});
