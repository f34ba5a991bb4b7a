/** How long the engine waits for objects, and which errors it tolerates meanwhile. */
import { expect } from 'chai';
import { hasExpired, WaitExpired } from '../../../../../deployers/helm/release/cluster.ts';
import { resourcesOf } from '../../../../../deployers/helm/release/resources.ts';
import { waitUntilCompleted, waitUntilReady } from '../../../../../deployers/helm/release/wait.ts';
import type { Resource } from '../../../../../deployers/helm/release/resources.ts';
import { apiErrorFrom } from '../../../../../src/runtime/errors.ts';
import { claim, config, job, NAMESPACE, ReleaseBench } from './release-bench.ts';

const MINUTES = 60_000;
const BOUND = { status: { phase: 'Bound' } };

describe('waiting for the objects of a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  const resources = async (...objects: readonly object[]): Promise<readonly Resource[]> => {
    for (const object of objects) {
      const { metadata, ...rest } = object as { metadata: object };
      bench.cluster.put({ ...rest, metadata: { ...metadata, namespace: NAMESPACE } } as never);
    }
    return resourcesOf(
      objects.map((object) => JSON.stringify(object)),
      bench.target,
    );
  };
  const wait = async (timeoutMs: number, objects: readonly object[], waitsForJobs = false): Promise<string> =>
    bench.run(waitUntilReady(await resources(...objects), timeoutMs, bench.target, { waitsForJobs }));
  /** Reading claims fails so often. */
  const failing = (times: number, status: number): void => {
    let left = times;
    bench.cluster.fail = (verb, what) => {
      if (verb === 'get' && what.startsWith('PersistentVolumeClaim') && left-- > 0)
        throw apiErrorFrom(status, { message: `error ${String(status)}` }, { verb, kind: 'x' });
    };
  };

  it('ends when all of them are ready', async () => {
    bench.clock.at(5_000, () => bench.cluster.edit('PersistentVolumeClaim', `${NAMESPACE}/a`, BOUND));
    bench.clock.at(9_000, () => bench.cluster.edit('PersistentVolumeClaim', `${NAMESPACE}/b`, BOUND));
    expect(await wait(MINUTES, [claim('a'), claim('b'), config('c')])).to.equal('');
    expect(bench.clock.now()).to.equal(10_000);
  });

  it('ends after the timeout, though it is not a multiple of the interval', async () => {
    expect(await wait(5_500, [claim('a')])).to.equal('context deadline exceeded');
    expect(bench.clock.now()).to.be.within(5_500, 6_000);
  });

  for (const timeoutMs of [5_500, 6_000])
    it(`does not look again when the time is over, as helm: after ${String(timeoutMs)} ms`, async () => {
      bench.clock.at(5_400, () => bench.cluster.edit('PersistentVolumeClaim', `${NAMESPACE}/a`, BOUND));
      expect(await wait(timeoutMs, [claim('a')])).to.equal('context deadline exceeded');
    });

  it('is known to have expired, whatever has failed because of it', () => {
    const expired = new WaitExpired('too late');
    expect(hasExpired(expired)).to.equal(true);
    expect(hasExpired(new Error('upgrade failed', { cause: expired }))).to.equal(true);
    expect(hasExpired(new Error('upgrade failed', { cause: new Error('other') }))).to.equal(false);
  });

  const tolerated: readonly (readonly [number, number, boolean])[] = [
    [500, 30, true],
    [503, 30, true],
    [429, 30, true],
    [500, 31, false],
    [501, 1, false],
    [404, 1, false],
    [403, 1, false],
  ];
  for (const [status, times, isTolerated] of tolerated)
    it(`${isTolerated ? 'tolerates' : 'ends after'} ${String(times)} responses with status ${String(status)}`, async () => {
      failing(times, status);
      const message = await wait(5 * MINUTES, [{ ...claim('a'), ...BOUND }]);
      expect(message).to.equal(isTolerated ? '' : `error ${String(status)}`);
    });

  it('counts only failures without a success between them', async () => {
    let reads = 0;
    bench.cluster.fail = (verb, what) => {
      if (verb !== 'get' || !what.startsWith('PersistentVolumeClaim')) return;
      if (++reads === 40) bench.cluster.edit('PersistentVolumeClaim', `${NAMESPACE}/a`, BOUND);
      else if (reads % 20 !== 0) throw apiErrorFrom(500, { message: 'no' }, { verb, kind: 'x' });
    };
    expect(await wait(5 * MINUTES, [claim('a')])).to.equal('');
  });

  it('ends at once when it is interrupted', async () => {
    const action = wait(MINUTES, [claim('a')]);
    await bench.clock.advance(1_000);
    bench.abort.abort(new Error('stop'));
    expect(await action).to.equal('stop');
  });

  it('includes jobs only if it shall', async () => {
    const waiting = { ...job('j'), spec: { completions: 1 } };
    expect(await wait(5_000, [waiting])).to.equal('');
    expect(await wait(5_000, [waiting], true)).to.equal('context deadline exceeded');
  });

  it('for a hook ends with its failure, not for other kinds', async () => {
    const failed = {
      ...job('j'),
      status: { conditions: [{ type: 'Failed', status: 'True', reason: 'Late' }] },
    };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { phase: 'Failed' } };
    const all = await resources(failed, pod, config('c'));
    expect(await bench.run(waitUntilCompleted(all, MINUTES, bench.target))).to.equal(
      '2 errors occurred:\n\t* job j failed: Late\n\t* pod p failed\n\n',
    );
  });

  it('for a hook does not end with a condition that does not hold', async () => {
    const conditions = [
      { type: 'Failed', status: 'False' },
      { type: 'Complete', status: 'False' },
    ];
    const all = await resources({ ...job('j'), status: { conditions } });
    expect(await bench.run(waitUntilCompleted(all, 5_000, bench.target))).to.contain('timed out waiting');
  });
});
