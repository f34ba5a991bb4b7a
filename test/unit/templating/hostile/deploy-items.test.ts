import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { templateReader } from '../../../../controllers/execution/templates.ts';
import type { Execution } from '../../../../src/api/kinds/execution.ts';
import { workerRunners } from '../../../../src/blueprint/workers/runner.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { execution } from '../../../support/given.ts';
import { watched } from './support.ts';

const holding = (json: string): Execution => ({
  ...execution('plan'),
  spec: { context: 'default', deployItemsCompressed: gzipSync(json).toString('base64') },
});

describe('the deploy items of an execution', () => {
  it('block nothing, however large they unpack', async () => {
    const runners = workerRunners({ clock: systemClock });
    try {
      const reader = templateReader(runners.of);
      const keys = Array.from({ length: 500_000 }, (_, i) => `"k${String(i)}":1`);
      const pairs = Array.from({ length: 450_000 }, (_, i) => `{"k${String(i)}":1}`);
      const rows: readonly [string, string][] = [
        [`[${'[],'.repeat(5_000_000)}[]]`, 'more than 1000000 values'],
        ['['.repeat(8_000_000), 'more than 10000 deep'],
        [`[{"name":1,"config":{${keys.join(',')}}}]`, 'expected string, received number'],
        [`[{"name":1,"config":{"a":[${pairs.join(',')}]}}]`, 'expected string, received number'],
      ];
      for (const [json, why] of rows) {
        const { value, stalledMs } = await watched(() => reader.refusal(holding(json)));
        expect(value).to.contain(why);
        expect(stalledMs, 'this thread goes on').to.be.below(1_000);
      }
    } finally {
      await runners.close();
    }
  });
});
