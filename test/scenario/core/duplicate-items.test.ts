/** A create whose response is lost, while watch events arrive late, does not create a second object. */
import { expect } from 'chai';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { TransportError } from '../../../src/runtime/errors.ts';
import type { Client, Frame, Obj } from '../../../src/runtime/types.ts';
import { startCluster, type Cluster } from '../../support/cluster.ts';
import { child, mockItem, root } from '../../support/landscape.ts';
import { pause } from '../../support/waiting.ts';
import { systemClock } from '../../../src/lib/clock.ts';

/** Longer than the first retries of a reconcile take. */
const LATE_MS = 1_500;

/**
 * Every create takes effect but seems to fail, once for each name; events are late. Events of objects that existed
 * before arrive in time: a shared server holds many, and one after the other would take minutes.
 */
function lossy(client: Client): Client {
  const started = Math.floor(systemClock.wall() / 1000) * 1000;
  const lost = new Set<string>();
  async function* late<T extends Obj>(frames: AsyncIterable<Frame<T>>): AsyncGenerator<Frame<T>> {
    for await (const frame of frames) {
      const isNew = 'object' in frame && Date.parse(frame.object.metadata.creationTimestamp ?? '') >= started;
      if (isNew) await pause(LATE_MS);
      yield frame;
    }
  }
  return {
    get: (kind, key, signal) => client.get(kind, key, signal),
    list: (kind, query, signal) => client.list(kind, query, signal),
    watch: (kind, query, signal) => {
      const isSlow = kind.kind === 'Installation' || kind.kind === 'DeployItem';
      const frames = client.watch(kind, query, signal);
      return isSlow ? late(frames) : frames;
    },
    raw: (method, path, body, signal) => client.raw(method, path, body, signal),
    close: () => client.close(),
    async send(write, signal) {
      const answer = await client.send(write, signal);
      if (write.verb !== 'create' || !['Installation', 'DeployItem'].includes(write.kind.kind)) return answer;
      const { name } = answer.metadata;
      if (lost.has(name)) return answer;
      lost.add(name);
      throw new TransportError({
        message: 'lost the connection while waiting for the answer',
        safeToRepeat: false,
      });
    },
  };
}

describe('a create whose response is lost', () => {
  let cluster: Cluster | undefined;
  let landscaper: Landscaper | undefined;
  before(async () => {
    cluster = await startCluster();
    landscaper = await startLandscaper({
      kubeconfig: { text: cluster.kubeconfig },
      log: silentLogger,
      configuration: defaults,
      controllers: ['installation', 'execution'],
      deployers: ['mock'],
      crds: false,
      wrapClient: lossy,
    });
  });
  after(async () => {
    await landscaper?.stop();
    await cluster?.stop();
  });

  it('creates no duplicate of a child or an item', async function () {
    this.timeout(60_000);
    const scene = await cluster!.scene();
    await scene.create(root('stack', { children: [child('a')], items: [mockItem('x')] }));
    await scene.finished('stack', 'Succeeded', { ms: 50_000 });
    const made = (kind: string): readonly string[] => [
      ...new Set(
        cluster!
          .history(scene.ns)
          .filter(({ object }) => object.kind === kind)
          .map(({ object }) => object.metadata.name),
      ),
    ];
    expect(made('DeployItem')).to.have.length(1);
    expect(made('Installation')).to.have.length(2);
  });
});
