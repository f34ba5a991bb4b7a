import { expect } from 'chai';
import {
  at,
  ConfigurationError,
  DeployerError,
  endsJob,
  InternalError,
  InterruptedError,
  isCrash,
  isDefinite,
  problemOf,
  RetryError,
  TimeoutError,
  UnauthorizedError,
} from '../../../../deployers/sdk/errors.ts';
import { apiErrorFrom, InvalidObjectName, ResponseTooLarge } from '../../../../src/runtime/errors.ts';

const place = { operation: 'here', reason: 'Because' };
const definite = new InvalidObjectName({ message: 'no such name' });
const refused = apiErrorFrom(401, { message: 'Unauthorized' }, { verb: 'get', kind: 'ConfigMap' });
const caused = (code: string): Error => new Error('no', { cause: Object.assign(new Error(code), { code }) });
const tooLarge = (isFinal: boolean): Error =>
  new Error('no', { cause: new ResponseTooLarge({ message: 'too large', excess: 'bytes', isFinal }) });

describe('an error of a plugin', () => {
  const rows: readonly (readonly [DeployerError, string, readonly string[]])[] = [
    [new DeployerError({ operation: 'o', reason: 'r', message: 'm' }), 'DeployerError', []],
    [
      new ConfigurationError({ operation: 'o', reason: 'r', message: 'm' }),
      'ConfigurationError',
      ['ERR_CONFIGURATION_PROBLEM'],
    ],
    [
      new UnauthorizedError({ operation: 'o', reason: 'r', message: 'm' }),
      'UnauthorizedError',
      ['ERR_UNAUTHORIZED'],
    ],
    [
      new InternalError({ operation: 'o', reason: 'r', message: 'm' }),
      'InternalError',
      ['ERR_INTERNAL_PROBLEM'],
    ],
    [new TimeoutError({ operation: 'o', reason: 'r', message: 'm' }), 'TimeoutError', ['ERR_TIMEOUT']],
    [
      new TimeoutError({
        operation: 'o',
        reason: 'r',
        message: 'm',
        codes: ['ERR_TIMEOUT', 'ERR_FOR_INFO_ONLY'],
      }),
      'TimeoutError',
      ['ERR_TIMEOUT', 'ERR_FOR_INFO_ONLY'],
    ],
    [new RetryError({ operation: 'o', reason: 'r', message: 'm' }), 'RetryError', []],
    [
      new RetryError({ operation: 'o', reason: 'r', message: 'm', info: true }),
      'RetryError',
      ['ERR_FOR_INFO_ONLY'],
    ],
    [
      new RetryError({ operation: 'o', reason: 'r', message: 'm', cause: new Error('may pass') }),
      'RetryError',
      [],
    ],
    [
      new RetryError({ operation: 'o', reason: 'r', message: 'm', cause: definite }),
      'RetryError',
      ['ERR_CONFIGURATION_PROBLEM'],
    ],
    [
      new RetryError({ operation: 'o', reason: 'r', message: 'm', cause: definite, info: true }),
      'RetryError',
      ['ERR_CONFIGURATION_PROBLEM', 'ERR_FOR_INFO_ONLY'],
    ],
    [
      new DeployerError({
        operation: 'o',
        reason: 'r',
        message: 'm',
        codes: ['ERR_FOR_INFO_ONLY'],
        cause: definite,
      }),
      'DeployerError',
      ['ERR_FOR_INFO_ONLY', 'ERR_CONFIGURATION_PROBLEM'],
    ],
    [
      new UnauthorizedError({ operation: 'o', reason: 'r', message: 'm', cause: definite }),
      'UnauthorizedError',
      ['ERR_UNAUTHORIZED'],
    ],
    [
      new RetryError({
        operation: 'o',
        reason: 'r',
        message: 'm',
        cause: caused('ERR_SSL_WRONG_VERSION_NUMBER'),
      }),
      'RetryError',
      ['ERR_CONFIGURATION_PROBLEM'],
    ],
  ];
  for (const [error, name, codes] of rows) {
    it(`${name} has the codes ${codes.join(', ') || 'of none'}`, () => {
      expect(error.name).to.equal(name);
      expect(error.problem).to.deep.equal({ operation: 'o', reason: 'r', message: 'm', codes });
      expect(problemOf(error, place)).to.deep.equal(error.problem);
      expect(at(place, error)).to.equal(error);
    });
  }

  it('keeps its cause, and the time of the retry', () => {
    const cause = new Error('x');
    for (const error of [
      new ConfigurationError({ operation: 'o', reason: 'r', message: 'm', cause }),
      new UnauthorizedError({ operation: 'o', reason: 'r', message: 'm', cause }),
      new InternalError({ operation: 'o', reason: 'r', message: 'm', cause }),
      new TimeoutError({ operation: 'o', reason: 'r', message: 'm', cause }),
      new RetryError({ operation: 'o', reason: 'r', message: 'm', cause }),
    ])
      expect(error.cause).to.equal(cause);
    expect(
      new RetryError({ operation: 'o', reason: 'r', message: 'm', requeueAfterMs: 7 }).requeueAfterMs,
    ).to.equal(7);
    expect(new InterruptedError().name).to.equal('InterruptedError');
  });
});

describe('any other error', () => {
  const rows: readonly (readonly [string, unknown, readonly string[], boolean])[] = [
    ['an error', new Error('m'), [], false],
    ['a string', 'm', [], false],
    ['rejected credentials', refused, ['ERR_UNAUTHORIZED'], true],
    ['an invalid object name', definite, ['ERR_CONFIGURATION_PROBLEM'], true],
    ['a response that is too large for a tenant', tooLarge(true), ['ERR_CONFIGURATION_PROBLEM'], true],
    ['a response that is temporarily too large', tooLarge(false), [], false],
    ['an untrusted certificate', caused('DEPTH_ZERO_SELF_SIGNED_CERT'), ['ERR_CONFIGURATION_PROBLEM'], true],
  ];
  for (const [title, error, codes, isOver] of rows) {
    it(`such as ${title} ${isOver ? 'ends the job' : 'is retried'}`, () => {
      const message = error instanceof Error ? error.message : 'm';
      const problem = problemOf(error, place);
      expect(problem).to.deep.equal({ ...place, message, codes });
      expect(endsJob(problem)).to.equal(isOver);
      const said = at(place, error, (text) => `told: ${text}`);
      expect(said.problem).to.deep.equal({ ...place, message: `told: ${message}`, codes });
      expect(said.cause).to.equal(error);
      expect(at(place, error).message).to.equal(message);
    });
  }

  it('because of an unknown host name is recorded', () => {
    expect(problemOf(caused('ENOTFOUND'), place)).to.deep.include({ remote: 'NameNotFound' });
    expect(problemOf(caused('ECONNREFUSED'), place)).to.not.have.property('remote');
  });

  for (const [error, expected] of [
    [new TypeError('x'), true],
    [new RangeError('x'), true],
    [new ReferenceError('x'), true],
    [new SyntaxError('x'), true],
    ['thrown', true],
    [new Error('x'), false],
    [new RetryError({ operation: 'o', reason: 'r', message: 'm' }), false],
  ] as const) {
    it(`${expected ? 'is' : 'is not'} reported as a bug: ${String(error)}`, () => {
      expect(isCrash(error)).to.equal(expected);
    });
  }

  it('is permanent also as the cause of another error', () => {
    expect([isDefinite(tooLarge(true)), isDefinite(tooLarge(false)), isDefinite(definite)]).to.deep.equal([
      true,
      false,
      true,
    ]);
  });
});
