import { expect } from 'chai';
import { selfCommand } from '../../../src/cli/self-command.ts';
import { noteOf } from '../../../src/cli/tree/print.ts';
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

  it('marks deploy items that share objects, or have objects on another cluster', () => {
    const condition = (type: string) => ({
      type,
      status: 'True' as const,
      reason: 'x',
      message: 'x',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      lastUpdateTime: '2026-01-01T00:00:00Z',
    });
    const marked = installation('app', { phase: 'Succeeded' });
    marked.status = {
      ...(marked.status as NonNullable<typeof marked.status>),
      conditions: [condition('SharedObjects'), condition('ObjectsLeftBehind')],
    };
    const [node] = trees(marked);
    expect(node?.marks).to.deep.equal(['shared objects', 'objects on another cluster']);
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

  const retried = (codes?: readonly string[]) => [
    installation('app', { phase: 'Progressing', waits: 'waits for installation db' }),
    installation('db', { phase: 'Progressing', parent: 'app', waits: 'waits for execution db' }),
    execution('db', { phase: 'Progressing', waits: 'waits for deploy item a' }),
    item('a', { execution: 'db', phase: 'Progressing', error: 'no chart', ...(codes && { codes }) }),
    item('b', { execution: 'db', phase: 'Succeeded' }),
  ];

  it('shows the error that the innermost object retries, up to the root', () => {
    const messages = (nodes: readonly Node[]): (string | undefined)[] =>
      nodes.flatMap((node) => [node.message, ...messages(node.children)]);
    const shown = 'deploy item a: no chart';
    expect(messages(trees(...retried()))).to.deep.equal([shown, shown, shown, 'no chart', undefined]);
    expect(trees(...retried(['ERR_UNFINISHED']))[0]?.message).to.equal(shown);
  });

  it('shows an error rather than a wait', () => {
    const [root] = trees(
      installation('app', { phase: 'Progressing' }),
      execution('app', { phase: 'Progressing' }),
      item('a', { execution: 'app', phase: 'Progressing', error: '0 of 1', codes: ['ERR_UNFINISHED'] }),
      item('b', { execution: 'app', phase: 'Progressing', error: 'no chart' }),
    );
    expect(root?.message).to.equal('deploy item b: no chart');
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

  it('contains nodes that retry an error', () => {
    const objects = (error: object) => [
      installation('app', { phase: 'Progressing' }),
      execution('app', { phase: 'Progressing' }),
      item('a', { execution: 'app', phase: 'Progressing', ...error }),
      item('b', { execution: 'app', phase: 'Progressing' }),
    ];
    expect(outline(failedOnly(trees(...objects({ error: 'no chart' }))))).to.deep.equal([
      'Installation app running',
      '  Execution app running',
      '    DeployItem a running',
    ]);
    expect(failedOnly(trees(...objects({ error: '0 of 1', codes: ['ERR_UNFINISHED'] })))).to.deep.equal([]);
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

describe('an object that waits for a user', () => {
  const operation = { 'landscaper.gardener.cloud/operation': 'reconcile' };
  const suspended = { 'espalier.dev/suspended': 'true' };
  const gone = {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['finalizer.landscaper.gardener.cloud'],
  };
  const rooted = (meta: object, status: Parameters<typeof installation>[1] = { phase: 'Succeeded' }) => {
    const root = installation('app', status);
    return { ...root, metadata: { ...root.metadata, ...meta } };
  };
  const only = (...objects: Parameters<typeof trees>): Node => {
    const [root] = trees(...objects);
    if (!root) throw new Error('no tree');
    return root;
  };

  it('was deleted below a root: the next job of the root uninstalls it', () => {
    const sub = installation('db', { parent: 'app', phase: 'Succeeded' });
    const server = item('server', { execution: 'app', phase: 'Failed', error: 'gave up' });
    const { children } = only(
      installation('app', { phase: 'Succeeded' }),
      { ...sub, metadata: { ...sub.metadata, ...gone } },
      execution('app', { phase: 'Succeeded' }),
      { ...server, metadata: { ...server.metadata, ...gone } },
    );
    const text = `it was deleted, and is uninstalled in the next job of the root installation; start one with: ${selfCommand()} installations reconcile app -n proj`;
    expect(children[0]).to.deep.include({ marks: ['being deleted'], message: text, isWait: true });
    expect(children[1]?.children[0]).to.deep.include({ message: `gave up; ${text}`, isWait: false });
  });

  it('names the root also if the tree begins below it', () => {
    const sub = installation('db', { parent: 'app', phase: 'Succeeded' });
    const all = collected(installation('app'), { ...sub, metadata: { ...sub.metadata, ...gone } });
    expect(treesOf(all, 'db')[0]?.message).to.match(/installations reconcile app -n proj$/);
  });

  it('is not marked so during its uninstallation, nor a root whose deletion job starts by itself', () => {
    const sub = installation('db', { parent: 'app', phase: 'Deleting' });
    const root = only(rooted(gone), { ...sub, metadata: { ...sub.metadata, ...gone } });
    expect([root.message, root.children[0]?.message]).to.deep.equal([undefined, undefined]);
    expect(root.children[0]?.marks).to.deep.equal([]);
  });

  it('has a requested job, which is held back or has not started', () => {
    expect(only(rooted({ annotations: { ...operation, ...suspended } }))).to.deep.include({
      marks: ['suspended', 'job requested'],
      message: 'a job was requested, and starts when the annotation espalier.dev/suspended is removed',
      isWait: true,
    });
    const asked = only(rooted({ annotations: operation }));
    expect(asked.marks).to.deep.equal(['job requested']);
    expect(asked.message).to.match(/^a job was requested, and has not started; .* controllers run$/);
    expect(noteOf(asked)).to.equal(asked.message);
    expect(noteOf(only(rooted({ annotations: operation }, { job: '' })))).to.equal(asked.message);
  });

  it('has no requested job that waits if one runs', () => {
    expect(only(rooted({ annotations: operation }, { phase: 'Progressing' })).marks).to.deep.equal([]);
  });
});
