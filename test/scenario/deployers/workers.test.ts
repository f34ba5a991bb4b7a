/** The number of items that a deployer works on at a time; one worker is reserved for other namespaces. */
import { expect } from 'chai';
import { codec, done, type DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { World } from './world.ts';

const API_VERSION = 'slow.example.org/v1';
const TYPE = 'slow.example.org/slow';

/** A deployer whose work does not end until the gate is opened. */
function slowDeployer(): {
  readonly plugin: DeployerPlugin;
  readonly atWork: () => number;
  readonly most: () => number;
  open(): void;
} {
  let atWork = 0;
  let most = 0;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const plugin: DeployerPlugin = {
    type: TYPE,
    name: 'slow.example.org',
    version: '1.0.0',
    config: codec('ProviderConfiguration', { [API_VERSION]: (fields) => fields }),
    async apply() {
      most = Math.max(most, ++atWork);
      await gate;
      atWork--;
      return done();
    },
    remove: () => Promise.resolve(done()),
  };
  return { plugin, atWork: () => atWork, most: () => most, open };
}

describe('a deployer with more items than it works on at a time', function () {
  this.timeout(60_000);
  const cases = [
    { title: 'twenty-nine items of a namespace with thirty workers', config: {}, wanted: 29 },
    { title: 'two items of a namespace with three workers', config: { workers: 3 }, wanted: 2 },
  ];
  for (const { title, config, wanted } of cases) {
    it(`works on ${title}, and picks up the others after them`, async () => {
      const slow = slowDeployer();
      const world = await World.start(undefined, { others: [slow.plugin], config });
      try {
        const names = Array.from({ length: wanted + 3 }, (_, i) => `slow-${String(i)}`);
        for (const name of names) {
          await world.giveItem(name, TYPE, { apiVersion: API_VERSION, kind: 'ProviderConfiguration' });
          await world.kick(name, 'j1');
        }
        await world.until('all hands are full', () => Promise.resolve(slow.atWork() === wanted || undefined));
        slow.open();
        for (const name of names) {
          const { status } = await world.finished(name, 'j1');
          expect(status?.phase).to.equal('Succeeded');
        }
        expect(slow.most()).to.equal(wanted);
      } finally {
        slow.open();
        await world.stop();
      }
    });
  }
});
