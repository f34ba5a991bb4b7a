/** An upgrade from an earlier version while landscapes are at work. */
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { EARLIER_COMMIT, folders, images } from '../../hack/node/settings.ts';
import type { Client } from '../../src/runtime/types.ts';
import { skip } from '../support/skip.ts';
import { Box } from './support/boxes.ts';
import {
  apply,
  connectClient,
  CONTROLLERS,
  earlierEspalier,
  install,
  kubectl,
  namespace,
  podsOf,
  rolledOut,
  uninstall,
  until,
} from './support/cluster.ts';
import { isFinished, jobsIn, ownCluster, tree } from './support/landscapes.ts';

const COUNT = 12;
const names = Array.from({ length: COUNT }, (_, i) => `tree-${String(i + 1)}`);

describe(`an upgrade from ${EARLIER_COMMIT} on a node`, function () {
  this.timeout(0);
  let client: Client;
  let isInstalled = false;

  before(async function () {
    if (!existsSync(folders.earlier)) skip(this, `the repository does not have the commit ${EARLIER_COMMIT}`);
    client = await connectClient();
    isInstalled = true;
    earlierEspalier('install', '--image', images.earlier, '--webhooks', '--replicas', '2');
    rolledOut('espalier');
    rolledOut('espalier-webhooks');
    apply(namespace('trees'), ...ownCluster('trees'));
  });
  after(async () => {
    if (!isInstalled) return;
    uninstall('trees', 'box');
    await client.close();
  });

  const change = (value: number): string =>
    apply(...names.map((name, i) => tree('trees', name, { value, hasPod: i < 3 })));

  async function expectAllDone(value: number): Promise<void> {
    await until('all jobs end', 180, async () => {
      const jobs = await jobsIn(client, 'installations', 'trees');
      return jobs.length === 2 * COUNT && jobs.every(isFinished);
    });
    const failed = (await jobsIn(client, 'installations', 'trees'))
      .filter(({ status }) => status?.phase !== 'Succeeded')
      .map(({ metadata, status }) => `${metadata.name}: ${status?.lastError?.message ?? ''}`);
    expect(failed).to.deep.equal([]);
    const values = kubectl(
      'get',
      'configmaps',
      ...names,
      '-n',
      'trees',
      '-o',
      'jsonpath={.items[*].data.value}',
    );
    expect(values.split(' ')).to.deep.equal(names.map(() => String(value)));
  }

  it('finishes all jobs that the earlier version began, and keeps the state of container items', async () => {
    const box = new Box(client, 'box');
    const first = await box.run();
    expect(first.phase, first.problem?.message).to.equal('Succeeded');
    change(1);
    await expectAllDone(1);

    change(2);
    await until('some jobs run', 30, async () =>
      (await jobsIn(client, 'installations', 'trees')).some((job) => !isFinished(job)),
    );
    install(['--webhooks', '--replicas', '2']);
    rolledOut('espalier-webhooks');
    await until('only new pods', 120, async () =>
      (await podsOf(client, CONTROLLERS)).every(({ spec }) => spec.containers[0]?.image === images.product),
    );
    await expectAllDone(2);

    change(3);
    await expectAllDone(3);
    const second = await box.run();
    expect(second.phase, second.problem?.message).to.equal('Succeeded');
    expect(second.exported?.count).to.equal(2);
  });
});
