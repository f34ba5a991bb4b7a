/** Which refusals of a target end a job at once, which after a few tries, and which are retried. */
import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { Bench, configMap, manage, manifestConfig } from '../bench.ts';

interface Refusing {
  readonly bench: Bench;
  /** Creates that were sent. */
  readonly tries: () => number;
  allow(): void;
}

/** @param statuses of the answers to creates, the last of them for all others */
function refusing(...statuses: readonly number[]): Refusing {
  const bench = new Bench(manifestDeployer());
  bench.givenTarget();
  bench.giveItem(manifestConfig({ manifests: [manage(configMap('a'))] }), { timeout: '10m' });
  let tries = 0;
  bench.target.fail = (verb, what) => {
    if (verb !== 'create' || what !== 'ConfigMap app/a') return;
    const status = statuses[Math.min(tries, statuses.length - 1)] ?? 500;
    tries++;
    throw apiErrorFrom(status, { message: 'no' }, { verb, kind: 'ConfigMap', namespace: 'app', name: 'a' });
  };
  return {
    bench,
    tries: () => tries,
    allow: () => {
      bench.target.fail = () => undefined;
    },
  };
}

describe('a target that refuses an object', () => {
  for (const status of [400, 413, 422])
    it(`ends the job at once with ${String(status)}`, async () => {
      const { bench, tries } = refusing(status);
      await bench.kick('j1');
      expect(bench.status().phase).to.equal('Failed');
      expect(bench.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(tries()).to.equal(1);
    });

  it('ends the job after three tries if it denies them', async () => {
    const { bench, tries } = refusing(403);
    await bench.kick('j1');
    expect(bench.status().phase).to.equal('Progressing');
    expect(bench.status().lastError).to.not.have.property('codes');
    await bench.pass(1000);
    expect(bench.status().phase).to.equal('Progressing');
    await bench.pass(5000);
    expect(bench.status().phase).to.equal('Failed');
    expect(bench.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(bench.status().lastError).to.not.have.property('outlook');
    expect(tries()).to.equal(3);
  });

  it('does not end the job if the denials pass, as at the start of an API server', async () => {
    const { bench, allow } = refusing(403);
    await bench.kick('j1');
    await bench.pass(1000);
    allow();
    await bench.pass(5000);
    expect(bench.status().phase).to.equal('Succeeded');
  });

  it('counts only denials that follow each other', async () => {
    const { bench, tries } = refusing(403, 403, 500, 403, 403, 500);
    await bench.kick('j1');
    await bench.pass(60_000);
    expect(bench.status().phase).to.equal('Progressing');
    expect(tries()).to.be.at.least(6);
  });

  it('counts again in the next job', async () => {
    const { bench } = refusing(403);
    await bench.kick('j1');
    await bench.pass(10_000);
    expect(bench.status().phase).to.equal('Failed');
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Progressing');
  });

  for (const status of [404, 405, 429, 500, 503])
    it(`is retried until the timeout of the item with ${String(status)}`, async () => {
      const { bench, allow } = refusing(status);
      await bench.kick('j1');
      await bench.pass(5 * 60_000);
      expect(bench.status().phase).to.equal('Progressing');
      allow();
      await bench.pass(5000);
      expect(bench.status().phase).to.equal('Succeeded');
    });
});
