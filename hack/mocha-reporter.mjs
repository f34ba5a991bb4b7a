// The spec reporter, with additional lines at the end: one for each failure, one for each reason of skipped tests,
// and a summary.
import { relative } from 'node:path';
import Mocha from 'mocha';
import { closingLine } from './mocha-failures.ts';

export default class ClosingLine extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failed = [];
    runner.on('fail', (test, error) => {
      const file = test.file ? ` (${relative(process.cwd(), test.file)})` : '';
      failed.push(`failed: ${test.fullTitle()}: ${closingLine(error)}${file}`);
    });
    const skipped = new Map();
    runner.on('pending', ({ reason = 'no reason given' }) =>
      skipped.set(reason, (skipped.get(reason) ?? 0) + 1),
    );
    runner.once('end', () => {
      for (const line of failed) console.log(line);
      for (const [reason, count] of skipped) console.log(`skipped: ${count}: ${reason}`);
      const { passes, failures, pending } = this.stats;
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} skipped` : ''}`);
    });
  }
}
