/** What the status of a pod says about its run, where two of its fields have to agree. */
import { expect } from 'chai';
import type { Pod } from '../../../../deployers/container/kinds.ts';
import {
  conditionsOf,
  failureIn,
  isActive,
  podStatusOf,
  pullCausesIn,
  runStateOf,
} from '../../../../deployers/container/pod-status.ts';
import { maskOf } from '../../../../src/lib/masking.ts';
import { podRunning, podSucceeded, terminated, waiting } from '../../../support/containers.ts';

const pod = (status: object, more: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1', ...more },
  status,
});
const shownOf = (seen: Pod) => podStatusOf(seen, undefined, maskOf([]));
const look = (status: object, more: object = {}) => {
  const seen = pod(status, more);
  return runStateOf(seen, shownOf(seen));
};

describe('the run of a pod', () => {
  it('that the kubelet ended has the reason of the kubelet, not that of a container that it killed', () => {
    const killed = { containerStatuses: [terminated('main', 137)] };
    const evicted = look({ phase: 'Failed', reason: 'Evicted', message: 'low on memory', ...killed });
    expect(evicted).to.deep.equal({
      is: 'failed',
      isStuck: false,
      problem: {
        operation: 'RunMainContainer',
        reason: 'Evicted',
        message: 'pod web-1 ended without a result: Evicted: low on memory',
      },
    });
    expect(look({ phase: 'Failed', ...killed })).to.have.nested.property('problem.reason', 'ContainerFailed');
  });

  it('that the kubelet calls successful has failed if a container did', () => {
    expect(look({ phase: 'Succeeded', containerStatuses: [terminated('main', 2)] })).to.deep.include({
      is: 'failed',
      isStuck: false,
    });
  });

  it('without a status of its wait container has succeeded, one whose wait container runs has not', () => {
    expect(look({ phase: 'Succeeded', containerStatuses: [terminated('main', 0)] })).to.deep.equal({
      is: 'succeeded',
    });
    const isRunning = { name: 'wait', image: 'x', state: { running: {} } };
    expect(
      look({ phase: 'Succeeded', containerStatuses: [terminated('main', 0), isRunning] }),
    ).to.have.nested.property('problem.operation', 'RunWaitContainer');
  });

  it('continues while the containers of a pod that runs have failed', () => {
    const status = { ...podRunning, containerStatuses: [terminated('main', 1)] };
    expect(failureIn(shownOf(pod(status)), false)).to.equal(undefined);
    expect(failureIn(shownOf(pod(status)), true)).to.have.nested.property(
      'problem.reason',
      'ContainerFailed',
    );
  });

  it('is over only if its pod is', () => {
    expect(
      ['Pending', 'Running', 'Succeeded', 'Failed'].map((phase) => isActive(pod({ phase }))),
    ).to.deep.equal([true, true, false, false]);
  });

  it('of a deleted pod without a node has failed while it is pending, and runs if the kubelet says so', () => {
    const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    expect(look({ phase: 'Pending' }, deleted)).to.have.nested.property('problem.reason', 'PodDeleted');
    expect(look({}, deleted)).to.have.nested.property('problem.reason', 'PodDeleted');
    expect(look({ phase: 'Running' }, deleted)).to.have.property('is', 'running');
    expect(look({ phase: 'Failed' }, deleted)).to.have.nested.property('problem.reason', 'PodFailed');
    expect(look({ phase: 'Pending' })).to.have.property('is', 'running');
  });

  it('whose container ended with the reason of a failed pull has not failed for that reason', () => {
    const status = {
      ...podRunning,
      containerStatuses: [terminated('main', 0, { reason: 'ErrImageNeverPull' })],
    };
    expect(look(status)).to.have.property('is', 'running');
  });

  it('says nothing about a container that waits without a reason', () => {
    expect(look({ phase: 'Pending', containerStatuses: [waiting('main', '')] })).to.deep.equal({
      is: 'running',
      why: undefined,
    });
  });

  it('shows the cause that the kubelet reports now before one of an earlier attempt', () => {
    const seen = pod({ phase: 'Pending', containerStatuses: [waiting('main', 'ErrImagePull', 'EOF')] });
    const stand = runStateOf(seen, shownOf(seen), { main: 'connection refused' });
    expect(stand).to.have.nested.property('why.message').that.contains('EOF').and.not.contains('refused');
  });

  it('keeps as causes of failed pulls only messages that contain one', () => {
    const causes = (message: string, reason = 'ImagePullBackOff') =>
      pullCausesIn(shownOf(pod({ phase: 'Pending', containerStatuses: [waiting('main', reason, message)] })));
    expect(causes('Back-off pulling image "x"')).to.deep.equal({});
    expect(causes('EOF')).to.deep.equal({ main: 'EOF' });
    expect(causes('no secret x', 'CreateContainerConfigError')).to.deep.equal({});
  });

  it('shows conditions with the exit code, the reason and the message of its containers', () => {
    expect(conditionsOf(shownOf(pod(podSucceeded)))).to.deep.include({
      type: 'WaitContainer',
      status: 'True',
      reason: 'ContainerSucceeded',
      message: 'the container has exited with code 0',
    });
    const states = {
      initContainerStatuses: [terminated('init', 3, { reason: 'Error', message: 'no registry' })],
      containerStatuses: [waiting('wait', 'ContainerCreating')],
    };
    expect(conditionsOf(shownOf(pod(states)))).to.deep.equal([
      { type: 'InitContainer', status: 'False', reason: 'Error', message: 'no registry' },
      {
        type: 'WaitContainer',
        status: 'Progressing',
        reason: 'ContainerCreating',
        message: 'the container has not ended',
      },
    ]);
  });
});
