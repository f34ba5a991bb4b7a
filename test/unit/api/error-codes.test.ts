import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { errorCodes, isErrorCode, isUnrecoverable } from '../../../src/api/error-codes.ts';

describe('error codes', () => {
  it('are documented with the descriptions of the catalogue', () => {
    const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const documented = page.split('\n').filter((line) => line.startsWith('| `'));
    const catalogue = Object.entries(errorCodes).map(
      ([code, { meaning, effect, unrecoverable }]) =>
        `| \`${code}\` | ${meaning} | ${effect} | ${unrecoverable ? 'yes' : 'no'} |`,
    );
    expect(documented).to.deep.equal(catalogue);
  });

  const cases: readonly (readonly [readonly string[] | undefined, boolean])[] = [
    [undefined, false],
    [[], false],
    [['ERR_WEBHOOK'], false],
    [['ERR_FOR_INFO_ONLY', 'ERR_UNFINISHED', 'ERR_NO_RETRY', 'ERR_CLEANUP'], false],
    [['ERR_FOR_INFO_ONLY', 'ERR_TIMEOUT'], true],
    [['ERR_CONFIGURATION_PROBLEM'], true],
    [['ERR_INTERNAL_PROBLEM'], true],
    [['ERR_UNAUTHORIZED'], true],
    [['ERR_CYCLIC_DEPENDENCIES'], true],
    [['ERR_FROM_THE_FUTURE', 'toString'], false],
  ];
  for (const [codes, unrecoverable] of cases) {
    it(`${JSON.stringify(codes ?? 'absent')} make a deployer ${unrecoverable ? 'fail' : 'retry'}`, () => {
      expect(isUnrecoverable(codes)).to.equal(unrecoverable);
    });
  }

  it('are found by name', () => {
    expect(isErrorCode('ERR_TIMEOUT')).to.equal(true);
    expect(isErrorCode('constructor')).to.equal(false);
  });
});
