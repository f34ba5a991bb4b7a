/** Views of a console in the cluster, which viewers with the same rights share. */
import { expect } from 'chai';
import { createViews } from '../../../src/cli/console/in-cluster/views.ts';
import { withinScope, type Scope } from '../../../src/cli/console/in-cluster/scope.ts';
import { FakeClock } from '../../support/clock.ts';
import { collected, execution, installation, item } from '../cli/given.ts';

const scope = (namespaces: Scope['installations'], more: Partial<Scope> = {}): Scope => ({
  installations: namespaces,
  executions: namespaces,
  deployItems: namespaces,
  ...more,
});

function stage() {
  const listeners = new Set<() => void>();
  const source = {
    collected: () => collected(installation('web')),
    namespaces: () => ['proj'],
    problem: () => '',
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return { views: createViews(source, new FakeClock()), listeners };
}

describe('views of the console', () => {
  it('are shared by viewers with the same rights, until the last one leaves', () => {
    const { views, listeners } = stage();
    const first = views.acquire(scope(['proj']));
    expect(views.acquire(scope(['proj']))).to.equal(first);
    const other = views.acquire(scope('all'));
    expect(other).not.to.equal(first);
    expect(listeners.size).to.equal(2);
    views.release(first);
    expect(listeners.size).to.equal(2);
    views.release(first);
    expect(listeners.size).to.equal(1);
    expect(views.acquire(scope(['proj']))).not.to.equal(first);
    views.release(first);
    views.close();
    expect(listeners.size).to.equal(0);
  });

  it('are closed once', () => {
    const { views, listeners } = stage();
    const view = views.acquire(scope('all'));
    views.close();
    views.release(view);
    expect(views.acquire(scope('all'))).not.to.equal(view);
    expect(listeners.size).to.equal(1);
  });

  it('differ if the rights differ in one kind', () => {
    const { views } = stage();
    const keys = [
      scope(['proj']),
      scope(['proj'], { executions: [] }),
      scope(['proj'], { deployItems: 'all' }),
    ];
    expect(new Set(keys.map((each) => views.acquire(each))).size).to.equal(3);
  });
});

describe('the objects of a view', () => {
  const all = collected(installation('web'), execution('web'), item('i', { execution: 'web' }));
  const counts = (given: Scope): readonly number[] => {
    const { installations, executions, deployItems } = withinScope(all, given);
    return [installations.length, executions.length, deployItems.length];
  };
  const rows: readonly (readonly [title: string, given: Scope, counts: readonly number[]])[] = [
    ['all namespaces', scope('all'), [1, 1, 1]],
    ['the namespace', scope(['proj']), [1, 1, 1]],
    ['another namespace', scope(['bank']), [0, 0, 0]],
    ['installations alone', scope([], { installations: ['proj'] }), [1, 0, 0]],
    ['executions alone', scope([], { executions: ['proj'] }), [0, 1, 0]],
    ['items alone', scope([], { deployItems: 'all' }), [0, 0, 1]],
  ];
  for (const [title, given, expected] of rows)
    it(`are those that the viewer may list: ${title}`, () => {
      expect(counts(given)).to.deep.equal(expected);
    });
});
