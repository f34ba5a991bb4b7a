// A reporter for programs: how each test ended, and why those that were skipped were, as JSON in the file of the option
// `output`. What failed is told on standard error, too.
import { writeFileSync } from 'node:fs';

export default class Outcomes {
  constructor(runner, { reporterOptions }) {
    const tests = [];
    const note = (outcome) => (test) =>
      tests.push({
        title: test.title,
        fullTitle: test.fullTitle(),
        file: test.file,
        outcome,
        ...(test.reason !== undefined && { reason: test.reason }),
      });
    runner.on('pass', note('passes'));
    runner.on('fail', note('FAILS'));
    runner.on('fail', (test, error) =>
      process.stderr.write(`failed: ${test.fullTitle()}: ${error?.stack ?? error}\n`),
    );
    runner.on('pending', note('skipped'));
    runner.once('end', () => writeFileSync(reporterOptions.output, JSON.stringify(tests)));
  }
}
