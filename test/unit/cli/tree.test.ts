import { expect } from 'chai';
import { failedOnly, rootCauses, treesOf, type Node } from '../../../src/cli/tree/tree.ts';
import {
  exporting,
  importing,
  collected,
  execution,
  failedLandscape,
  installation,
  item,
  trees,
} from './given.ts';

/** `kind name condition`, indented by depth. */
const outline = (nodes: readonly Node[], depth = 0): string[] =>
  nodes.flatMap((node) => [
    `${'  '.repeat(depth)}${node.kind} ${node.name} ${node.condition}`,
    ...outline(node.children, depth + 1),
  ]);

describe('the tree of an installation', () => {
  it('lists sub-installations first, then the execution with its items', () => {
    expect(outline(trees(...failedLandscape()))).to.deep.equal([
      'Installation app succeeded',
      '  Installation db failed',
      '  Execution app succeeded',
      '    DeployItem app-web-x succeeded',
    ]);
  });

  it('marks objects that have not received the job of the root', () => {
    const [root] = trees(...failedLandscape());
    expect(root?.children.map((c) => c.isOutdated)).to.deep.equal([false, false]);
    expect(root?.children[1]?.children[0]?.isOutdated).to.equal(true);
  });

  it('marks objects that have failed since their job, and suspended ones', () => {
    const marked = installation('app', { phase: 'Succeeded' });
    marked.metadata = { ...marked.metadata, annotations: { 'espalier.dev/suspended': 'true' } };
    marked.status = {
      ...(marked.status as NonNullable<typeof marked.status>),
      conditions: [
        {
          type: 'Drifted',
          status: 'True',
          reason: 'FailedAfterJob',
          message: 'execution app: quota',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          lastUpdateTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    const [node] = trees(marked);
    expect(node?.marks).to.deep.equal(['drifted', 'suspended']);
    expect(node?.condition).to.equal('succeeded');
  });

  it('keeps the order of the blueprint and puts unknown objects last', () => {
    const [root] = trees(
      installation('app', { subs: ['web', 'db'] }),
      installation('aaa', { parent: 'app' }),
      installation('db', { parent: 'app' }),
      installation('web', { parent: 'app' }),
    );
    expect(root?.children.map((c) => c.name)).to.deep.equal(['web', 'db', 'aaa']);
  });

  it('names nodes as in the blueprint', () => {
    const [root] = trees(
      installation('app'),
      installation('db-x1', { parent: 'app', template: 'db' }),
      execution('db-x1'),
      item('db-x1-server-y2', { execution: 'db-x1', template: 'server' }),
    );
    const db = root?.children[0];
    expect([
      root?.title,
      db?.title,
      db?.children[0]?.title,
      db?.children[0]?.children[0]?.title,
    ]).to.deep.equal(['app', 'db', 'db', 'server']);
  });

  it('consists of a sub-installation alone if that is requested by name', () => {
    expect(outline(treesOf(collected(...failedLandscape()), 'db'))).to.deep.equal(['Installation db failed']);
  });

  it('has a node at the top level if its parent is gone', () => {
    expect(outline(trees(installation('db', { phase: 'Failed', parent: 'gone' })))).to.deep.equal([
      'Installation db failed',
    ]);
  });

  it('excludes objects of the same name in another namespace', () => {
    const foreign = item('app-web-x', { execution: 'app' });
    foreign.metadata.namespace = 'other';
    expect(outline(trees(installation('app'), execution('app'), foreign))).to.have.length(2);
  });

  it('shows for which siblings an installation waits', () => {
    const [root] = trees(
      installation('app', { phase: 'Progressing' }),
      installation('db-1', { parent: 'app', template: 'db', phase: 'Progressing', spec: exporting }),
      installation('mq-1', { parent: 'app', template: 'mq', phase: 'Succeeded', spec: exporting }),
      installation('dns-1', { parent: 'app', template: 'dns', phase: 'Progressing' }),
      installation('web-1', {
        parent: 'app',
        template: 'web',
        phase: 'Init',
        reason: 'AllPredecessorsFinished',
        error: 'depending on installation "proj/db-1" which did not finish',
        spec: importing,
      }),
    );
    expect(root?.children.map((c) => c.blockedBy)).to.deep.equal([[], [], [], ['db']]);
  });

  it('shows which siblings made an installation fail, and does not count it as the failed one', () => {
    const [root] = trees(
      installation('app', { phase: 'Failed' }),
      installation('db-1', { parent: 'app', template: 'db', phase: 'Failed', spec: exporting }),
      installation('web-1', {
        parent: 'app',
        template: 'web',
        phase: 'Failed',
        reason: 'AllPredecessorsSucceeded',
        error: 'depending on installation "proj/db-1" which is not succeeded',
        spec: importing,
      }),
    );
    expect(root?.children.map((c) => c.blockedBy)).to.deep.equal([[], ['db']]);
    expect(root && rootCauses(root).map((n) => n.name)).to.deep.equal(['db-1']);
  });

  const conditions: readonly (readonly [string, Parameters<typeof installation>[1], string])[] = [
    ['no job yet', { job: '' }, 'waiting'],
    ['a job but no phase', {}, 'waiting'],
    ['a running job', { phase: 'Progressing' }, 'running'],
    ['succeeded', { phase: 'Succeeded' }, 'succeeded'],
    ['failed', { phase: 'Failed' }, 'failed'],
    ['no deletion', { phase: 'DeleteFailed' }, 'failed'],
    ['a new job after a success', { phase: 'Succeeded', finished: 'old' }, 'running'],
  ];
  for (const [title, options, expected] of conditions)
    it(`is ${expected} with ${title}`, () => {
      expect(trees(installation('app', options))[0]?.condition).to.equal(expected);
    });
});

describe('the failed part of a tree', () => {
  it('contains failed nodes and those above them', () => {
    expect(outline(failedOnly(trees(...failedLandscape())))).to.deep.equal([
      'Installation app succeeded',
      '  Installation db failed',
    ]);
  });

  it('is empty if nothing failed', () => {
    expect(failedOnly(trees(installation('app', { phase: 'Succeeded' })))).to.deep.equal([]);
  });

  it('points at the deepest failures', () => {
    const [root] = trees(
      installation('app', { phase: 'Failed' }),
      execution('app', { phase: 'Failed' }),
      item('a', { execution: 'app', phase: 'Failed' }),
      item('b', { execution: 'app', phase: 'Succeeded' }),
      installation('db', { phase: 'Failed', parent: 'app' }),
    );
    expect(root && rootCauses(root).map((n) => n.name)).to.deep.equal(['db', 'a']);
  });
});
