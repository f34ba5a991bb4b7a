/** Thirty landscapes at work while pods, the node and the API server are disturbed. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from '../../src/runtime/types.ts';
import {
  apply,
  connectClient,
  CONTROLLERS,
  install,
  isReady,
  killService,
  kubectl,
  kubectlBeside,
  LS_SYSTEM,
  namespace,
  NODE_NAME,
  podsOf,
  rolledOut,
  uninstall,
  until,
} from './support/cluster.ts';
import { isFinished, jobsIn, ownCluster, tree } from './support/landscapes.ts';

const COUNT = 30;
/** Of the landscapes: as many as have a pod of their own. */
const WITH_PODS = 6;
const REPLICAS = 3;
const NAMESPACE = 'trees';

const names = Array.from({ length: COUNT }, (_, i) => `tree-${String(i + 1)}`);

describe('thirty landscapes on a node', function () {
  this.timeout(0);
  let client: Client;
  let value = 0;

  before(async () => {
    client = await connectClient();
    install(['--replicas', String(REPLICAS)]);
    apply(namespace(NAMESPACE), ...ownCluster(NAMESPACE));
  });
  after(async () => {
    uninstall(NAMESPACE);
    await client.close();
  });

  /** Changes all landscapes, so that each has a job. */
  const changeAll = (): void => {
    value++;
    apply(...names.map((name, i) => tree(NAMESPACE, name, { value, hasPod: i < WITH_PODS })));
  };

  const unfinished = async (): Promise<readonly string[]> =>
    (await jobsIn(client, 'installations', NAMESPACE))
      .filter((job) => !isFinished(job))
      .map(({ metadata }) => metadata.name);

  const untilAtWork = (): Promise<unknown> =>
    until('some jobs have ended, and most have not', 60, async () => {
      const count = (await unfinished()).length;
      return count > 0 && count < 2 * COUNT;
    });

  /** All jobs have succeeded, with the newest values in the target and in the exports. */
  async function expectAllDone(): Promise<void> {
    await until('all jobs end', 240, async () => {
      const open = await unfinished();
      if (open.length > 0)
        throw new Error(`${String(open.length)} are unfinished: ${open.slice(0, 5).join(', ')}`);
      return true;
    });
    const installations = await jobsIn(client, 'installations', NAMESPACE);
    const failed = installations
      .filter(({ status }) => status?.phase !== 'Succeeded')
      .map(
        ({ metadata, status }) =>
          `${metadata.name} ${status?.phase ?? ''}: ${status?.lastError?.message ?? ''}`,
      );
    expect(failed).to.deep.equal([]);
    expect(installations).to.have.length(2 * COUNT);
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
    const { items } = (await client.raw('GET', path)) as {
      items: { metadata: { name: string }; data?: { value?: string } }[];
    };
    const written = items
      .filter(({ metadata }) => names.includes(metadata.name))
      .map(({ data }) => data?.value);
    expect(written).to.deep.equal(names.map(() => String(value)));
    const exported = await jobsIn(client, 'dataobjects', NAMESPACE);
    const values = exported
      .filter(({ metadata }) => names.some((name) => metadata.name === `${name}-value`))
      .map((each) => (each as unknown as { data: unknown }).data);
    expect(values).to.deep.equal(names.map(() => value));
  }

  /** The jobs go on after the disturbance, not only before it. */
  async function disturbed(disturb: () => void | Promise<void>): Promise<void> {
    changeAll();
    await untilAtWork();
    await disturb();
    await expectAllDone();
  }

  const ready = async (): Promise<number> => (await podsOf(client, CONTROLLERS)).filter(isReady).length;

  it('succeed', () => disturbed(() => undefined));

  it('succeed while a rollout replaces all pods of the controllers', () =>
    disturbed(() => {
      kubectl('rollout', 'restart', 'deployment/espalier', '-n', LS_SYSTEM);
      rolledOut('espalier');
    }));

  it('succeed while pods of the controllers are killed without grace', () =>
    disturbed(async () => {
      for (let round = 0; round < 3; round++) {
        const [first, second] = await podsOf(client, CONTROLLERS);
        const victims = [first, second].flatMap((pod) => (pod ? [pod.metadata.name] : []));
        kubectl('delete', 'pod', ...victims, '-n', LS_SYSTEM, '--force', '--grace-period=0');
        await pause(3_000);
      }
      rolledOut('espalier');
    }));

  it('succeed while the node is drained, and the disruption budget keeps two pods', () =>
    disturbed(async () => {
      await until('all pods are ready', 60, async () => (await ready()) === REPLICAS);
      const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s'];
      const drain = kubectlBeside('drain', NODE_NAME, `--pod-selector=${CONTROLLERS}`, ...flags);
      // The replacement has no node to run on, so the budget allows no second eviction.
      await until('the first pod is evicted', 90, async () =>
        (await podsOf(client, CONTROLLERS)).some(({ spec }) => spec.nodeName === undefined),
      );
      await pause(8_000);
      expect(await ready()).to.equal(REPLICAS - 1);
      kubectl('uncordon', NODE_NAME);
      const { code, output } = await drain;
      expect(code, output).to.equal(0);
      // A drain cordons only once; pods that were evicted later are back.
      await until('all pods are ready again', 120, async () => (await ready()) === REPLICAS);
    }));

  it('succeed while the kubelet is killed', () => disturbed(() => killService('kubelet')));

  it('succeed while the API server is killed', () => disturbed(() => killService('api-server')));
});
