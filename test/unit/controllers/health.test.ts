import { expect } from 'chai';
import { evaluate, type Deployment, type DeploymentFacts } from '../../../controllers/health/decide.ts';

const deployment = (status: Deployment['status'] = {}, replicas?: number): Deployment => ({
  metadata: { generation: 3 },
  spec: replicas === undefined ? {} : { replicas },
  status: { observedGeneration: 3, updatedReplicas: 1, availableReplicas: 1, ...status },
});
const look = (found: DeploymentFacts['found'], name = 'ls/controller'): DeploymentFacts => ({ name, found });

describe('the health of the system', () => {
  const rows: { title: string; found: DeploymentFacts['found']; isWell: boolean }[] = [
    { title: 'is good with one replica, the default', found: deployment(), isWell: true },
    {
      title: 'is good with all replicas up to date and available',
      found: deployment({ updatedReplicas: 2, availableReplicas: 2 }, 2),
      isWell: true,
    },
    {
      title: 'is good if no replicas are wanted',
      found: deployment({ updatedReplicas: 0, availableReplicas: 0 }, 0),
      isWell: true,
    },
    {
      title: 'is bad with an old generation',
      found: deployment({ observedGeneration: 2 }),
      isWell: false,
    },
    { title: 'is bad with old pods', found: deployment({ updatedReplicas: 0 }), isWell: false },
    {
      title: 'is bad with pods that are not available',
      found: deployment({ availableReplicas: 0 }),
      isWell: false,
    },
    { title: 'is bad without a deployment', found: 'missing', isWell: false },
    { title: 'is bad if it cannot be determined', found: { unreadable: 'forbidden' }, isWell: false },
    {
      title: 'is bad before a deployment has a status',
      found: { metadata: { generation: 1 } },
      isWell: false,
    },
  ];
  for (const { title, found, isWell } of rows) {
    it(title, () => {
      expect(evaluate([look(deployment(), 'ls/other'), look(found)], true).report?.status).to.equal(
        isWell ? 'Ok' : 'Failed',
      );
    });
  }

  it('CORE-115: ignores a first failure, and reports a second', () => {
    const first = evaluate([look('missing')], false);
    expect(first).to.deep.equal({ hasFailed: true, report: undefined });
    const second = evaluate(
      [look('missing'), look({ metadata: { generation: 1 } }, 'ls/webhook')],
      first.hasFailed,
    );
    expect(second.report).to.deep.equal({
      status: 'Failed',
      description:
        'deployment ls/controller does not exist; not all pods are running or at the latest state for deployment ls/webhook',
    });
  });

  it('CORE-115: is good again with the first success', () => {
    expect(evaluate([look(deployment())], true)).to.deep.equal({
      hasFailed: false,
      report: { status: 'Ok', description: 'ok' },
    });
  });
});
