/** The container deployer in the published conformance suite: containers of pods run as processes. */
import { expect } from 'chai';
import { checkDeployer, type Subject } from '../../../deployers/testing/index.ts';
import { ContainerWorld, shell, type Room } from '../../support/containers.ts';
import { failures, PATIENCE_MS } from '../../support/conformance.ts';

type Config = Readonly<Record<string, unknown>>;

const line = (text: string, more: object = {}): Config => shell(text, more) as Config;

const container: Subject = {
  type: 'landscaper.gardener.cloud/container',
  succeeds: line('true'),
  exports: {
    config: line('cp $IMPORTS_PATH $EXPORTS_PATH', { importValues: { k: 'v' } }),
    value: { k: 'v' },
  },
  waits: line('sleep 600'),
  finish: line('true'),
  invalid: line('true', { command: 'none' }),
};

describe('the conformance suite for deployers, with a kubelet', function () {
  this.timeout(400_000);
  let world: ContainerWorld;
  let room: Room;
  before(async () => {
    world = await ContainerWorld.start();
    room = await world.room();
  });
  after(() => world?.stop());

  it('is passed by the container deployer', async () => {
    const kubelet = room.kubelet();
    await room.deployer();
    // Some forty pods with three processes each try to run at the same time.
    const results = await checkDeployer(container, {
      kubeconfig: world.kubeconfig,
      patienceMs: 5 * PATIENCE_MS,
    });
    expect(failures(results)).to.deep.equal([]);
    expect(kubelet.runs.length).to.be.above(results.length);
    expect(new Set(kubelet.runs).size).to.equal(kubelet.runs.length);
  });
});
