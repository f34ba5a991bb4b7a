// A mocha reporter that writes the result of each test, with the reasons of skipped ones, as JSON to the file in
// the option `output`. Failures are also printed to standard error.
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
