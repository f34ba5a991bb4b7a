import { expect } from 'chai';
import { NoRetryError, isFinal } from '../../../src/runtime/errors.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { AggregateNodeError } from '../../../src/workflow/errors.ts';
import type { Bulk, Dependent } from '../../../src/workflow/dependent.ts';
import type { NodeWork } from '../../../src/workflow/node-metrics.ts';
import { buildWorkflow, type SourceSwitch } from '../../../src/workflow/workflow.ts';
import { FakeClock } from '../../support/clock.ts';
import type { Widget } from '../runtime/support/world.ts';
import { contextOn, diamond, fork, graphOf, no, primary, yes } from './support.ts';

const names = (map: ReadonlyMap<string, unknown>): string[] => [...map.keys()].sort();

describe('a workflow that reconciles', () => {
  it('RUN-71: reconciles a diamond: 1, then 2 and 3 at once, then 4', async () => {
    const graph = graphOf(diamond());
    const { reconciled, allReady } = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile 1', 'reconcile 2 + reconcile 3', 'reconcile 4']);
    expect(reconciled).to.have.length(4);
    expect(allReady).to.equal(true);
  });

  it('RUN-72: stops behind a node that is not ready, and nowhere else', async () => {
    const graph = graphOf(diamond({ 2: { ready: no } }));
    const result = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile 1', 'reconcile 2 + reconcile 3']);
    expect(result.notReady).to.deep.equal(['2']);
    expect(result.allReady).to.equal(false);
  });

  it('RUN-73: reconciles only the first if that is not ready, and deletes nothing', async () => {
    const graph = graphOf(diamond({ 1: { ready: no } }));
    const { deleted } = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile 1']);
    expect(deleted).to.deep.equal([]);
  });

  it('RUN-74: does as much as possible if a node fails', async () => {
    const graph = graphOf(diamond({ 2: { fails: 'reconcile' } }));
    const result = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile 1', 'reconcile 2 + reconcile 3']);
    expect(names(result.errored)).to.deep.equal(['2']);
    expect(result.reconciled).to.deep.equal(['1', '3']);
  });

  it('RUN-75: deletes an undesired node after all its dependents', async () => {
    const graph = graphOf(fork({ 3: { when: no }, 4: { deleted: yes }, 5: { deleted: yes } }));
    const result = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile 1', 'delete 4 + delete 5 + reconcile 2', 'delete 3']);
    expect(result.deleted).to.deep.equal(['4', '5', '3']);
    expect(result.allReady).to.equal(true);
  });

  for (const [what, server] of [
    ['is not ready', { ready: no }],
    ['has failed', { fails: 'reconcile' }],
  ] as const) {
    for (const condition of ['when', 'active'] as const) {
      it(`leaves a node alone whose dependency ${what}, whatever its condition ${condition} would be`, async () => {
        const asked: string[] = [];
        const graph = graphOf({
          server,
          database: { dependsOn: ['server'], [condition]: () => asked.push(condition) < 0 },
          backup: { dependsOn: ['database'] },
        });
        const result = await graph.reconcile();
        expect(graph.story).to.deep.equal(['reconcile server']);
        expect([result.deleted, result.remaining, asked]).to.deep.equal([[], [], []]);
      });
    }
  }

  it('deletes a node with an early condition although its dependency is not ready, and its dependents before it', async () => {
    const graph = graphOf({
      server: { ready: no },
      ingress: { dependsOn: ['server'], when: no, early: true },
      route: { dependsOn: ['ingress'] },
    });
    const result = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile server', 'delete route', 'delete ingress']);
    expect([result.deleted, result.remaining]).to.deep.equal([['route', 'ingress'], []]);
  });

  it('leaves a waiting node alone if its condition cannot be evaluated yet, or is true', async () => {
    const broken = () => {
      throw new Error('the server does not exist');
    };
    const graph = graphOf({
      server: { ready: no },
      ingress: { dependsOn: ['server'], when: broken, early: true },
      route: { dependsOn: ['server'], when: yes, early: true },
    });
    const result = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile server']);
    expect(result.errored.size).to.equal(0);
  });

  it('names the nodes that still have to be deleted', async () => {
    const graph = graphOf(fork({ 3: { when: no }, 4: { deleted: no }, 5: { fails: 'delete' } }));
    const result = await graph.reconcile();
    expect(result.remaining).to.deep.equal(['3', '4', '5']);
    expect((await graphOf({ 1: { when: no } }).reconcile()).remaining).to.deep.equal([]);
  });

  it('RUN-76: goes no further while a dependent is not gone', async () => {
    const graph = graphOf(fork({ 3: { when: no }, 5: { deleted: no } }));
    const result = await graph.reconcile();
    expect(graph.story.join(' ')).to.include('delete 5').and.not.include('delete 3');
    expect(result.deleted).to.deep.equal(['4']);
    expect(result.allReady).to.equal(false);
  });

  it('RUN-77: goes no further if a dependent cannot be deleted', async () => {
    const graph = graphOf(fork({ 3: { when: no }, 5: { fails: 'delete' } }));
    const result = await graph.reconcile();
    expect(graph.story.join(' ')).to.not.include('delete 3');
    expect(result.deleted).to.deep.equal(['4']);
    expect(names(result.errored)).to.deep.equal(['5']);
  });

  for (const [title, concurrency, seconds] of [
    ['one after the other with a limit of 1', 1, 10],
    ['all at once with a limit of 16', 16, 1],
    ['three at a time with a limit of 3', 3, 4],
  ] as const) {
    it(`RUN-84: works on ten roots ${title}`, async () => {
      const roots = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`r${String(i)}`, {}]));
      const graph = graphOf(roots, { concurrency });
      await graph.reconcile();
      const last = graph.log.at(-1)?.split(' ')[0];
      expect(Number(last)).to.equal(seconds);
    });
  }

  it('RUN-84: rejects a limit of 0', () => {
    expect(() => graphOf({}, { concurrency: 0 })).to.throw('at least 1, not 0');
  });

  it('RUN-85: ignores inactive nodes, and deletes their dependents', async () => {
    const graph = graphOf(diamond({ 2: { active: no } }));
    const result = await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile 1', 'delete 4 + reconcile 3']);
    expect(result.reconciled).to.deep.equal(['1', '3']);
    expect(result.deleted).to.deep.equal(['4']);
  });

  it('RUN-85: never deletes inactive nodes, not even in a cleanup', async () => {
    const graph = graphOf(diamond({ 4: { active: no } }));
    await graph.cleanup();
    expect(graph.story).to.deep.equal(['delete 2 + delete 3', 'delete 1']);
  });

  for (const [answer, message] of [
    [undefined, 'condition "when" of "1" must return true, false, or an object with "met"'],
    [{ is: true }, 'condition "when" of "1" must return true, false, or an object with "met"'],
    [
      { met: false, requeueAfterMs: 0 },
      'condition "when" of "1" returned requeueAfterMs 0; it must be a positive number of milliseconds',
    ],
  ] as const)
    it(`deletes nothing if a condition returns ${JSON.stringify(answer)}`, async () => {
      const result = await graphOf(diamond({ 1: { when: () => answer as never } })).reconcile();
      expect((result.errored.get('1') as Error).message).to.equal(message);
      expect(result.deleted).to.deep.equal([]);
    });

  it('RUN-87: passes on the data of a condition, which was evaluated once', async () => {
    let asked = 0;
    const ready = () => ({ met: ++asked > 0, data: { missing: 2 } });
    const graph = graphOf(diamond({ 1: { ready } }));
    const result = await graph.reconcile();
    const isMissing = (value: unknown): value is { missing: number } =>
      typeof (value as never)['missing'] === 'number';
    const isText = (value: unknown): value is string => typeof value === 'string';
    expect(result.data('1', 'ready', isMissing)).to.deep.equal({ missing: 2 });
    expect(() => result.data('1', 'ready', isText)).to.throw(
      '"ready" of node "1" does not have the expected type',
    );
    expect(result.data('1', 'when', isText)).to.equal(undefined);
    const messageOf = (node: string): string => {
      try {
        return String(result.data(node, 'ready', isText));
      } catch (error) {
        return String(error);
      }
    };
    expect(messageOf('11')).to.include('no node "11"; is "1" meant?');
    expect(messageOf('something')).to.include('no node "something"; there are 1, 2, 3, 4');
    expect(asked).to.equal(1);
  });

  it('RUN-94: cannot be built with a cycle, a duplicate name, or an unknown one', () => {
    expect(() =>
      graphOf({ a: { dependsOn: ['c'] }, b: { dependsOn: ['a'] }, c: { dependsOn: ['b'] } }),
    ).to.throw(/a -> c -> b -> a/);
    expect(() => graphOf({ a: { dependsOn: ['b'] } })).to.throw('"a" depends on "b", which does not exist');
    const use: Dependent<Obj, Widget> = { name: 'a', actual: () => Promise.resolve(undefined) };
    expect(() => buildWorkflow([{ use }, { use }])).to.throw('"a" is declared twice');
  });

  it('evaluates each condition at most once in a reconcile, also if a node is deleted', async () => {
    const asked: string[] = [];
    const ask = (what: string, answer: boolean) => () => {
      asked.push(what);
      return answer;
    };
    const conditions = {
      active: ask('active', true),
      when: ask('when', false),
      ready: ask('ready', true),
      deleted: ask('deleted', true),
    };
    await graphOf({ 1: conditions }).reconcile();
    expect(asked).to.deep.equal(['active', 'when', 'deleted']);
  });

  it('keeps nothing between reconciles', async () => {
    let isReady = false;
    const graph = graphOf(diamond({ 1: { ready: () => isReady } }));
    expect((await graph.reconcile()).reconciled).to.deep.equal(['1']);
    isReady = true;
    expect((await graph.reconcile()).reconciled).to.have.length(4);
  });

  it('treats an error of a condition as one of its node', async () => {
    const when = (): boolean => {
      throw new Error('cannot tell');
    };
    const { errored, reconciled } = await graphOf(diamond({ 2: { when } })).reconcile();
    expect(names(errored)).to.deep.equal(['2']);
    expect(reconciled).to.deep.equal(['1', '3']);
  });

  it('reconciles again at the earliest time that a condition requests', async () => {
    const later = (requeueAfterMs: number) => () => ({ met: false, requeueAfterMs });
    const met = () => ({ met: true, requeueAfterMs: 100 });
    const never = () => ({ met: false });
    const graph = graphOf({
      1: { ready: later(500) },
      2: { ready: later(200) },
      3: {},
      4: { ready: met },
      5: { ready: never },
    });
    expect((await graph.reconcile()).requeueAfterMs).to.equal(200);
    expect((await graphOf({ 1: {} }).reconcile()).requeueAfterMs).to.equal(undefined);
  });

  it('passes all items of a bulk dependent to its conditions', async () => {
    const seen: number[] = [];
    const use: Bulk<Obj, Widget> = {
      name: 'many',
      actualAll: () => Promise.resolve(new Map([1, 2].map((i) => [String(i), {} as Obj]))),
    };
    const ready = async (node: { all(): Promise<ReadonlyMap<string, unknown>> }) => {
      seen.push((await node.all()).size);
      return true;
    };
    const workflow = buildWorkflow<Widget>([{ use, ready }]);
    const { allReady } = await workflow.reconcile(primary, contextOn(new FakeClock()));
    expect(seen).to.deep.equal([2]);
    expect(allReady).to.equal(true);
  });

  it('attaches the sources of nodes with an activation condition only', async () => {
    const graph = graphOf({ a: { active: yes }, b: { active: no }, c: {} });
    const calls: string[] = [];
    const sources: SourceSwitch<Widget> = {
      on: (use) => Promise.resolve(void calls.push(`on ${use.name}`)),
      off: (use) => void calls.push(`off ${use.name}`),
    };
    const ended = graph.workflow.reconcile(primary, graph.ctx, sources);
    await graph.clock.advance(10_000);
    await ended;
    expect(calls).to.deep.equal(['on a', 'off b']);
  });

  it('measures how long each node took', async () => {
    const work: NodeWork[] = [];
    const graph = graphOf({ a: {}, b: { fails: 'reconcile' } }, { meter: (each) => void work.push(each) });
    await graph.clock.advance(7_000);
    await graph.reconcile();
    expect(work).to.deep.equal([
      { node: 'a', op: 'reconcile', outcome: 'ready', seconds: 1 },
      { node: 'b', op: 'reconcile', outcome: 'failed', seconds: 1 },
    ]);
  });

  it('does not count work that failed because its reconcile was aborted', async () => {
    const work: NodeWork[] = [];
    const graph = graphOf({ a: { fails: 'reconcile' } }, { meter: (each) => void work.push(each) });
    const abort = new AbortController();
    const ctx = contextOn(graph.clock, { signal: abort.signal });
    const ended = graph.workflow.reconcile(primary, ctx).catch((error: unknown) => error);
    abort.abort(new Error('too long'));
    await graph.clock.advance(10_000);
    expect(await ended).to.be.instanceOf(Error);
    expect(work).to.deep.equal([]);
  });

  it('starts nothing after its reconcile was aborted, and reports why it ended', async () => {
    const graph = graphOf(diamond());
    const abort = new AbortController();
    const ctx = contextOn(graph.clock, { signal: abort.signal });
    const ended = graph.workflow.reconcile(primary, ctx).catch((error: unknown) => error);
    await graph.clock.advance(500);
    abort.abort(new Error('too long'));
    await graph.clock.advance(10_000);
    expect(await ended).to.have.property('message', 'too long');
    expect(graph.story).to.deep.equal(['reconcile 1']);
  });
});

describe('a workflow that cleans up', () => {
  it('RUN-78: deletes a diamond in reverse: 4, then 2 and 3 at once, then 1', async () => {
    const graph = graphOf(diamond());
    const { allRemoved } = await graph.cleanup();
    expect(graph.story).to.deep.equal(['delete 4', 'delete 2 + delete 3', 'delete 1']);
    expect(allRemoved).to.equal(true);
  });

  it('RUN-79: keeps the first while 2 is not gone', async () => {
    const graph = graphOf(diamond({ 2: { deleted: no } }));
    const { allRemoved, deleted } = await graph.cleanup();
    expect(graph.story).to.deep.equal(['delete 4', 'delete 2 + delete 3']);
    expect(deleted).to.deep.equal(['4', '3']);
    expect(allRemoved).to.equal(false);
  });

  it('RUN-80: keeps the first if 2 fails', async () => {
    const graph = graphOf(diamond({ 2: { fails: 'delete' } }));
    const { errored } = await graph.cleanup();
    expect(graph.story).to.deep.equal(['delete 4', 'delete 2 + delete 3']);
    expect(names(errored)).to.deep.equal(['2']);
  });

  it('RUN-81: deletes nothing else if 4 fails', async () => {
    const graph = graphOf(diamond({ 4: { fails: 'delete' } }));
    await graph.cleanup();
    expect(graph.story).to.deep.equal(['delete 4']);
  });

  it('RUN-61: leaves owned objects to the garbage collector, but deletes those that are only undesired', async () => {
    const plans = { g: { gc: true }, n: { gc: false } };
    const graph = graphOf(plans);
    const { allRemoved } = await graph.cleanup();
    expect(graph.story).to.deep.equal(['delete n']);
    expect(allRemoved).to.equal(true);
    const unwanted = graphOf({ g: { ...plans.g, when: no }, n: { ...plans.n, when: no } });
    await unwanted.reconcile();
    expect(unwanted.story).to.deep.equal(['delete g + delete n']);
  });

  it('RUN-54: treats nodes that it cannot delete as deleted', async () => {
    const graph = graphOf(diamond({ 4: { canDelete: false } }));
    const { deleted } = await graph.cleanup();
    expect(deleted).to.deep.equal(['2', '3', '1']);
    expect(graph.story).to.deep.equal(['delete 2 + delete 3', 'delete 1']);
  });

  it('reports whether there is anything to delete', () => {
    const isDeletable = (plans: Parameters<typeof graphOf>[0]) => graphOf(plans).workflow.isDeletable;
    expect(isDeletable({ a: {} })).to.equal(true);
    expect(isDeletable({ a: { gc: true }, b: { canDelete: false } })).to.equal(false);
    expect(isDeletable({ a: { gc: true }, b: {} })).to.equal(true);
    const many: Bulk<Obj, Widget> = { name: 'many', actualAll: () => Promise.resolve(new Map()) };
    expect(buildWorkflow<Widget>([{ use: many }]).isDeletable).to.equal(false);
    const use = { ...many, deleteOne: () => Promise.resolve() };
    expect(buildWorkflow<Widget>([{ use }]).isDeletable).to.equal(true);
  });
});

describe('the errors of a workflow', () => {
  it('RUN-82: are one, with all names', async () => {
    const graph = graphOf({ a: { fails: 'reconcile' }, b: { fails: 'reconcile' }, c: {} });
    const result = await graph.reconcile();
    expect(result.reconciled).to.deep.equal(['c']);
    expect(() => {
      result.throwIfErrored();
    }).to.throw(AggregateNodeError, '2 nodes failed: "a": cannot reconcile a; "b": cannot reconcile b');
  });

  it('RUN-82: are named by the only one, which is their cause', () => {
    const cause = new Error('no');
    const error = new AggregateNodeError({ errors: new Map([['a', cause]]) });
    expect(error).to.deep.include({ message: 'a node failed: "a": no', cause });
  });

  it('are permanent only if each of them is', () => {
    const final = new NoRetryError({ message: 'never' });
    expect(isFinal(new AggregateNodeError({ errors: new Map([['a', final]]) }))).to.equal(true);
    const mixed = new Map<string, unknown>([
      ['a', final],
      ['b', new Error('perhaps')],
    ]);
    expect(isFinal(new AggregateNodeError({ errors: mixed }))).to.equal(false);
  });
});

describe('the policy of a workflow', () => {
  it('may continue after any end', async () => {
    const graph = graphOf(diamond({ 1: { fails: 'reconcile' } }), {
      policy: { gate: 'finished', failFast: false },
    });
    expect((await graph.reconcile()).reconciled).to.have.members(['2', '3', '4']);
  });

  it('may start nothing after a failure', async () => {
    const plans = { a: { fails: 'reconcile' }, b: { dependsOn: ['a'] }, c: {}, d: {} } as const;
    const graph = graphOf(plans, { policy: { gate: 'finished', failFast: true }, concurrency: 2 });
    await graph.reconcile();
    expect(graph.story).to.deep.equal(['reconcile a + reconcile c']);
  });
});
