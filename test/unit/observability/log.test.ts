import { expect } from 'chai';
import { Writable } from 'node:stream';
import { createLogger, withLogFields, type Level } from '../../../src/observability/log.ts';

const written = (isPretty: boolean, fields: object, level: Level = 'info'): string => {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  createLogger({ level, pretty: isPretty, destination }).info(fields, 'seen');
  return text;
};

describe('a log line', () => {
  it('has only the beginning of a long value, also of a field of the reconcile', () => {
    const jobID = 'x'.repeat(600_000);
    for (const isPretty of [false, true]) {
      const line = withLogFields(
        () => ({ jobID }),
        () => written(isPretty, { path: jobID }),
      );
      expect(line.length).to.be.below(10_000);
      if (!isPretty) expect(line).to.contain(`"jobID":"${'x'.repeat(4096)}… (600000 characters)"`);
    }
    expect(written(false, { path: 'x'.repeat(4096) })).to.contain(`"path":"${'x'.repeat(4096)}"`);
  });

  const fields = { object: { n: 9_007_199_254_740_993n }, name: 'a' };

  it('has integers beyond 2^53 with all their digits', () => {
    expect(written(false, fields)).to.contain('"object":{"n":9007199254740993}');
  });

  it('has them in the text format as well', () => {
    expect(written(true, fields)).to.match(/ info {2}seen {2}object=\{"n":9007199254740993\} name=a\n$/);
  });

  it('has the stack of an error in the text format only at level debug', () => {
    const err = new Error('no');
    expect(written(true, { err })).to.match(/ err=no\n$/);
    expect(written(true, { err }, 'debug')).to.match(/ err=no\n {4}at /);
  });
});
