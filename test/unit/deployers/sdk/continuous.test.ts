import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import { decodeContinuous, nextDueTime } from '../../../../deployers/sdk/continuous.ts';
import { nextTime, parseCron } from '../../../../src/lib/cron.ts';
import {
  Bench,
  configMap,
  LS,
  manage,
  manifestConfig,
  type BenchOptions,
  type ItemOptions,
} from '../bench.ts';

const at = (text: string): number => Date.parse(text);

describe('schedules', () => {
  for (const schedule of [
    {},
    { every: '1h' },
    { cron: '0 */6 * * *' },
    { cron: '@daily' },
    { cron: '@every 5m' },
    { every: '0s' },
  ]) {
    it(`DEP-17: ${JSON.stringify(schedule)} is accepted`, () => {
      expect(() => decodeContinuous(schedule)).to.not.throw();
    });
  }
  for (const schedule of [
    { every: '1h', cron: '* * * * *' },
    { cron: '61 * * * *' },
    { cron: '* * * *' },
    { every: '-1s' },
    { every: 'often' },
  ]) {
    it(`DEP-17: ${JSON.stringify(schedule)} is rejected`, () => {
      expect(() => decodeContinuous(schedule)).to.throw(CodecError);
    });
  }

  const times: readonly (readonly [string, string, string])[] = [
    ['0 */6 * * *', '2026-01-01T05:59:59Z', '2026-01-01T06:00:00Z'],
    ['0 */6 * * *', '2026-01-01T06:00:00Z', '2026-01-01T12:00:00Z'],
    ['30 4 * * mon-fri', '2026-01-02T05:00:00Z', '2026-01-05T04:30:00Z'],
    ['0 0 1 * 1', '2026-01-02T00:00:00Z', '2026-01-05T00:00:00Z'],
    ['0 0 31 * *', '2026-02-01T00:00:00Z', '2026-03-31T00:00:00Z'],
    ['0 0 29 feb *', '2026-03-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['5,10-12 * * * *', '2026-01-01T00:10:30Z', '2026-01-01T00:11:00Z'],
  ];
  for (const [cron, from, next] of times) {
    it(`${cron} after ${from} is ${next}`, () => {
      expect(nextTime(parseCron(cron), at(from))).to.equal(at(next));
    });
  }

  it('a date that does not exist is never due', () => {
    expect(nextTime(parseCron('0 0 30 2 *'), at('2026-01-01T00:00:00Z'))).to.equal(undefined);
  });

  it('every counts from the last reconcile time in whole seconds; zero and a missing value mean never', () => {
    expect(nextDueTime({ every: '10m' }, '2026-01-01T00:00:00Z')).to.equal(at('2026-01-01T00:10:00Z'));
    expect(nextDueTime({ every: '0s' }, '2026-01-01T00:00:00Z')).to.equal(undefined);
    expect(nextDueTime({}, '2026-01-01T00:00:00Z')).to.equal(undefined);
    expect(nextDueTime({ every: '10m' }, undefined)).to.equal(undefined);
  });
});

describe('continuous reconcile', () => {
  async function drifted(options: BenchOptions = {}, item: ItemOptions = {}): Promise<Bench> {
    const b = new Bench(manifestDeployer(), options);
    b.givenTarget();
    b.giveItem(
      manifestConfig({ manifests: [manage(configMap('settings'))], continuousReconcile: { every: '10m' } }),
      item,
    );
    await b.kick('j1');
    b.target.edit('ConfigMap', 'app/settings', { data: { a: 'drift' } });
    return b;
  }
  const data = (b: Bench): unknown => b.target.find('ConfigMap', 'app/settings')?.['data'];

  it('DEP-18: repairs drift with a separate job when it is due', async () => {
    const b = await drifted();
    await b.pass(9 * 60_000);
    expect(data(b)).to.deep.equal({ a: 'drift' });
    await b.pass(61_000);
    expect(data(b)).to.deep.equal({ a: 'b' });
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.status().jobID).to.not.equal('j1');
    expect(b.status().jobID).to.equal(b.status().jobIDFinished);
    expect(b.status().lastReconcileTime).to.equal('2026-01-01T00:10:00Z');
    b.target.edit('ConfigMap', 'app/settings', { data: { a: 'again' } });
    await b.pass(600_000);
    expect(data(b)).to.deep.equal({ a: 'b' });
  });

  it('DEP-18: is suspended by an annotation, by the deployer, and while the execution runs', async () => {
    const suspended = await drifted(
      {},
      { annotations: { 'continuousreconcile.extensions.landscaper.gardener.cloud/active': 'false' } },
    );
    await suspended.pass(3_600_000);
    expect(data(suspended)).to.deep.equal({ a: 'drift' });

    const off = await drifted({ config: { continuousReconcile: { enabled: false } } });
    await off.pass(3_600_000);
    expect(data(off)).to.deep.equal({ a: 'drift' });

    const busy = await drifted({}, { labels: { [`execution.${LS}/managed-by`]: 'exec' } });
    const status = (jobIDFinished: string): object => ({ jobID: 'j2', jobIDFinished });
    busy.host.put({
      apiVersion: `${LS}/v1alpha1`,
      kind: 'Execution',
      metadata: { name: 'exec', namespace: 'proj' },
      status: status('j1'),
    });
    await busy.pass(900_000);
    expect(data(busy)).to.deep.equal({ a: 'drift' });
    busy.host.edit('Execution', 'proj/exec', { status: status('j2') });
    await busy.pass(6000);
    expect(data(busy)).to.deep.equal({ a: 'b' });
  });
});
