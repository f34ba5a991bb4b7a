import { expect } from 'chai';
import { collectGarbage } from '../../../src/lib/collect-garbage.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { eventually } from '../../support/waiting.ts';

describe('the metrics of a process', function () {
  this.timeout(10_000);

  it('contain those of the process once, also beside other metrics', async () => {
    createMetrics({ process: true });
    const metrics = createMetrics({ process: true });
    metrics.gauge({ name: 'things', help: 'Things.' }).set({}, 3);
    const lines = (await metrics.text()).split('\n');
    expect(lines).to.include('things 3');
    expect(lines.filter((line) => line.startsWith('process_cpu_seconds_total '))).to.have.length(1);
  });

  it('do not keep what they read alive after their end', async () => {
    const reading = (): WeakRef<object> => {
      const read = { size: 1 };
      createMetrics({ process: true }).observed({ name: 'things', help: 'Things.' }, () => [[{}, read.size]]);
      return new WeakRef(read);
    };
    const reference = reading();
    await eventually('what was read is released', async () => {
      await collectGarbage();
      return reference.deref() === undefined;
    });
  });
});
