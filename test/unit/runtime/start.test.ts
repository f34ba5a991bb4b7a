import { expect } from 'chai';
import { playStart, startBenchServer } from '../../bench/runtime/scene.ts';

describe('S127: the start on many settled objects', function () {
  this.timeout(120_000);

  for (const streams of [false, true]) {
    it(`runs and queues only what is not settled, and answers to probes all the while (${streams ? 'streamed' : 'paged'})`, async () => {
      const figures = await playStart(await startBenchServer({ count: 3_000, unsettled: 7, streams }));
      expect(figures.objects).to.equal(3_000);
      // The seven, and the one that was edited afterwards.
      expect(figures.runs).to.be.within(7, 8);
      expect(figures.deepest).to.be.at.most(7);
      expect(figures.probes).to.be.greaterThan(1);
      expect(figures.healthy).to.equal(figures.probes);
    });
  }
});
