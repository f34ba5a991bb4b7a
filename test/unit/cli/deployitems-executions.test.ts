/** The executions for the items of a file, and the end of their job. */
import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { readDeployItems, type Execution } from '../../../src/api/kinds/execution.ts';
import { annotations, labels } from '../../../src/api/labels.ts';
import {
  executionsOf,
  interruptJob,
  isOver,
  type Job,
} from '../../../src/cli/commands/deployitems/executions.ts';
import type { WantedItem } from '../../../src/cli/commands/deployitems/input.ts';
import { Forbidden, NotFound } from '../../../src/runtime/errors.ts';
import { execution, item } from '../../support/given.ts';

const wanted = (name: string, more: Partial<WantedItem> = {}): WantedItem => ({
  name,
  namespace: 'demo',
  labels: {},
  annotations: {},
  dependsOn: [],
  providerStatus: undefined,
  spec: { type: 'x' },
  ...more,
});
const executionsFor = (...items: WantedItem[]) => executionsOf(items, () => 'cluster');

describe('the executions of a file with deploy items', () => {
  it('have templates with the order, the target and a duration as it is stored', () => {
    const [one] = executionsFor(
      wanted('a', { spec: { type: 'x', timeout: '1h' } }),
      wanted('b', { dependsOn: ['a'] }),
    );
    const templates = one && readDeployItems(one.object.spec);
    expect(templates?.map(({ name }) => name)).to.deep.equal(['a', 'b']);
    expect(templates?.[0]).to.deep.include({
      timeout: '1h0m0s',
      target: { name: 'cluster', namespace: 'demo' },
    });
    expect(templates?.[1]?.dependsOn).to.deep.equal(['a']);
  });

  it('find their items under the names in the file, without an owner', () => {
    const [one] = executionsFor(wanted('a', { annotations: { note: 'mine' } }));
    const metadata = one?.items[0]?.object.metadata;
    expect(metadata).to.include({ name: 'a', namespace: 'demo' }).and.not.have.property('ownerReferences');
    expect(metadata?.labels).to.include({
      [labels.executionManagedBy]: 'run-1',
      [labels.executionName]: 'a',
    });
    expect(metadata?.annotations).to.include({ note: 'mine', [annotations.deployerTargetName]: 'cluster' });
  });

  it('are one for each namespace and Context', () => {
    const executions = executionsFor(
      wanted('a'),
      wanted('b', { spec: { type: 'x', context: 'default' } }),
      wanted('c', { spec: { type: 'x', context: 'other' } }),
      wanted('d', { namespace: 'apart' }),
    );
    expect(executions.map(({ key, items }) => [key, items.map((one) => one.wanted.name)])).to.deep.equal([
      ['demo/run-1', ['a', 'b']],
      ['demo/run-2', ['c']],
      ['apart/run-3', ['d']],
    ]);
  });

  const applying: Job = { jobID: 'j', direction: 'apply' };
  const removing: Job = { jobID: 'j', direction: 'remove' };
  const begun = { jobID: 'j' };
  const ended = { jobID: 'j', jobIDFinished: 'j' };
  const cases: readonly (readonly [string, Job, Execution[], DeployItem[], boolean])[] = [
    ['while one is running', applying, [execution('run-1', { status: begun })], [], false],
    ['when all have ended', applying, [execution('run-1', { status: ended })], [], true],
    [
      'while an item is running, although its execution has ended',
      applying,
      [execution('run-1', { status: ended })],
      [item('run-1', 'a', begun)],
      false,
    ],
    [
      'if an item has not been started',
      applying,
      [execution('run-1', { status: ended })],
      [item('run-1', 'a')],
      true,
    ],
    ['while one that should exist is missing', applying, [], [], false],
    ['when all that should be deleted are gone', removing, [], [], true],
  ];
  for (const [when, job, executions, deployItems, expected] of cases) {
    it(`are ${expected ? '' : 'not '}finished ${when}`, () => {
      expect(isOver(job, ['demo/run-1'], { executions, deployItems })).to.equal(expected);
    });
  }

  const ref = { verb: 'patch', kind: 'Execution', name: 'run-1' };
  const interrupted = (error: Error): Promise<string> =>
    interruptJob('demo/run-1', { send: () => Promise.reject(error) }).then(
      () => 'done',
      (reason: unknown) => (reason as Error).message,
    );
  it('need no interrupt after they were deleted', async () => {
    expect(
      await interrupted(new NotFound({ message: 'gone', status: 404, reason: 'NotFound', ref })),
    ).to.equal('done');
    expect(
      await interrupted(new Forbidden({ message: 'no', status: 403, reason: 'Forbidden', ref })),
    ).to.equal('no');
  });
});
