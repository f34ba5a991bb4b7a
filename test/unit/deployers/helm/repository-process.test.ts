import { expect } from 'chai';
import { ChartNotPublished } from '../../../../deployers/helm/repository-index.ts';
import { IndexTooLarge, locationInProcess } from '../../../../deployers/helm/repository-process.ts';
import { FakeClock } from '../../../support/clock.ts';

const wanted = { url: 'https://charts.example.org', name: 'web', version: '1.2.x' };
const entry = (name: string, version: string): string =>
  `  ${name}:\n  - version: ${version}\n    urls: [${name}-${version}.tgz]\n`;
/** More than is read at once. */
const large = (...entries: string[]): Buffer =>
  Buffer.from(
    `entries:\n${Array.from({ length: 8_000 }, (_, i) => entry(`other${String(i)}`, '1.0.0')).join('')}${entries.join('')}`,
  );
const signal = new AbortController().signal;

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => {
      throw new Error('should have failed');
    },
    (error: unknown) => error as Error,
  );
}

describe('a large index of a chart repository', function () {
  this.timeout(60_000);

  it('is read in a separate process, with the same results as a small one', async () => {
    const index = large(entry('web', '1.2.7'));
    expect(index.length).to.be.above(256 * 1024);
    expect(await locationInProcess(index, wanted, { clock: new FakeClock(), signal })).to.equal(
      'web-1.2.7.tgz',
    );
    const small = Buffer.from(`entries:\n${entry('web', '1.2.7')}`);
    expect(await locationInProcess(small, wanted, { clock: new FakeClock(), signal })).to.equal(
      'web-1.2.7.tgz',
    );
    const missing = await failureOf(locationInProcess(large(), wanted, { clock: new FakeClock(), signal }));
    expect(missing).to.be.instanceOf(ChartNotPublished);
    expect(missing.message).to.equal('no chart name found: https://charts.example.org has no chart web');
    const broken = Buffer.concat([large(), Buffer.from('\n}')]);
    expect(
      (await failureOf(locationInProcess(broken, wanted, { clock: new FakeClock(), signal }))).message,
    ).to.match(/^the index of https:\/\/charts\.example\.org is not valid YAML: /);
  });

  it('is read in turns of namespaces, whatever the number of repositories that one of them names', async () => {
    const order: string[] = [];
    const read = async (namespace: string, i: number): Promise<void> => {
      const request = { ...wanted, url: `https://${namespace}-${String(i)}.example.org` };
      const ports = { clock: new FakeClock(), signal, namespace };
      await locationInProcess(large(entry('web', '1.2.7')), request, ports);
      order.push(namespace);
    };
    await Promise.all([read('a', 1), read('a', 2), read('a', 3), read('a', 4), read('b', 1)]);
    expect(order).to.deep.equal(['a', 'a', 'b', 'a', 'a']);
  });

  it('fails if its process runs out of memory', async () => {
    const index = Buffer.from(`entries: [${'[[[]]],'.repeat(3_000_000)}]`);
    const error = await failureOf(locationInProcess(index, wanted, { clock: new FakeClock(), signal }));
    expect(error).to.be.instanceOf(IndexTooLarge);
    expect(error.message).to.contain('needs more than 256 MiB of memory');
  });

  it('ends at its timeout, and if no job waits any more; the next one is read all the same', async () => {
    const clock = new FakeClock();
    const slow = failureOf(locationInProcess(large(), wanted, { clock, signal }));
    await clock.advance(30_000);
    expect((await slow).message).to.contain('it takes more than 30 s');
    const stop = new AbortController();
    const unwanted = failureOf(locationInProcess(large(), wanted, { clock, signal: stop.signal }));
    stop.abort(new Error('stopped'));
    expect((await unwanted).message).to.equal('stopped');
    const index = large(entry('web', '1.2.0'));
    expect(await locationInProcess(index, wanted, { clock: new FakeClock(), signal })).to.equal(
      'web-1.2.0.tgz',
    );
  });
});
