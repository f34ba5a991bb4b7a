/** An installation misses no event it waits for, however late its own writes are answered. */
import { startCluster, type Cluster } from '../../support/cluster.ts';
import { consumer, fakeItem, producer } from '../../support/landscape.ts';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Client, Write } from '../../../src/runtime/types.ts';

/** Holds writes back until they are released. */
class Gate {
  holds: (write: Write) => boolean = () => false;
  readonly #open: (() => void)[] = [];
  #arrived: () => void = () => undefined;
  readonly arrival = new Promise<void>((resolve) => (this.#arrived = resolve));

  around(client: Client): Client {
    return {
      get: (kind, key, signal) => client.get(kind, key, signal),
      list: (kind, query, signal) => client.list(kind, query, signal),
      watch: (kind, query, signal) => client.watch(kind, query, signal),
      raw: (method, path, body, signal) => client.raw(method, path, body, signal),
      close: () => client.close(),
      send: async (write, signal) => {
        if (this.holds(write)) {
          this.#arrived();
          await new Promise<void>((resolve) => this.#open.push(resolve));
        }
        return client.send(write, signal);
      },
    };
  }

  letGo(): void {
    this.holds = () => false;
    for (const open of this.#open) open();
  }
}

describe('an installation that is about to wait', () => {
  const gate = new Gate();
  let cluster: Cluster;
  let landscaper: Landscaper;
  before(async function () {
    this.timeout(30_000);
    cluster = await startCluster();
    landscaper = await startLandscaper({
      kubeconfig: { text: cluster.kubeconfig },
      log: silentLogger,
      configuration: defaults,
      controllers: ['installation', 'execution'],
      deployers: ['none'],
      crds: false,
      wrapClient: (client) => gate.around(client),
    });
  });
  after(async () => {
    gate.letGo();
    await landscaper.stop();
    await cluster.stop();
  });

  it('notices a predecessor that ends while its wait is being stored', async () => {
    const scene = await cluster.scene();
    await scene.create(producer({ items: [fakeItem('x')] }));
    await scene.answer('producer', 'x');
    const { status } = await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ items: [fakeItem('y')] }));
    await scene.waiting('consumer', 'y');
    await scene.operation('producer', 'reconcile');
    await scene.waiting('producer', 'x');

    gate.holds = (write) => isAbout(write, `${scene.ns}/consumer`) && phaseIn(write) === 'Completing';
    await scene.answer('consumer', 'y');
    await gate.arrival;
    await scene.answer('producer', 'x', 'Failed');
    await scene.finished('producer', 'Failed', { after: status?.jobID });
    await scene.calm();
    gate.letGo();
    await scene.finished('consumer', 'Failed');
  });
});

const isAbout = (write: Write, key: string): boolean =>
  write.verb === 'merge' && write.sub === 'status' && write.key === key;
const phaseIn = (write: Write): string | undefined =>
  'body' in write ? (write.body as { status?: { phase?: string } }).status?.phase : undefined;
