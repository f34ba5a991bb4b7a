import { expect } from 'chai';
import { criticalProblemsKind } from '../../../src/api/kinds/criticalproblems.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { namespaceKind } from '../../../src/landscape/world.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import { fakeItem, plan } from '../../support/landscape.ts';
import { eventually } from '../../support/waiting.ts';

const POD = { name: 'controller-0', namespace: 'ls-system' };

describe('a bug in a controller', () => {
  let cluster: Cluster;
  let landscaper: Landscaper;
  let isBroken = true;
  /** Reading a secret fails as if there were a bug. */
  const broken = (client: Client): Client => ({
    ...client,
    get: (kind, key, signal) => {
      if (isBroken && kind.kind === 'Secret') throw new TypeError('x is undefined');
      return client.get(kind, key, signal);
    },
  });
  before(async function () {
    this.timeout(30_000);
    cluster = await startCluster();
    const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name: POD.namespace } };
    await cluster.client.send({ verb: 'create', kind: namespaceKind, object });
    landscaper = await startLandscaper({
      kubeconfig: { text: cluster.kubeconfig },
      log: silentLogger,
      configuration: defaults,
      controllers: ['execution'],
      deployers: [],
      crds: false,
      pod: POD,
      wrapClient: broken,
    });
  });
  after(async () => {
    await landscaper.stop();
    await cluster.stop();
  });

  it('CORE-117: is recorded with the name of the pod, and the job continues after it is fixed', async () => {
    const scene = await cluster.scene();
    await scene.create(plan([fakeItem('a')]));
    await scene.patchStatus(executionKind, 'plan', { jobID: 'j1' });
    await scene.answer('plan', 'a', 'Succeeded', { exportRef: { name: 'none' } });
    const [problem] = await recorded(cluster.client);
    expect(problem).to.include({ podName: POD.name });
    expect(problem?.description).to.match(
      new RegExp(`^TypeError at Execution ${scene.ns}/plan in controller execution: x is undefined`),
    );
    isBroken = false;
    const { status } = await scene.until('the job has ended', () => {
      const found = scene.execution('plan');
      return found?.status?.jobIDFinished === 'j1' ? found : undefined;
    });
    expect(status?.phase).to.equal('Failed');
  });
});

const recorded = (client: Client) =>
  eventually('a critical problem is recorded', async () => {
    const key = `${POD.namespace}/critical-problems`;
    const found = await client.get(criticalProblemsKind, key).catch(() => undefined);
    const problems = found?.spec?.criticalProblem;
    return problems?.length ? problems : undefined;
  });
