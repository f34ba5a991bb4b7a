import { expect } from 'chai';
import {
  checkCreated,
  checkObservation,
  checkUpdated,
} from '../../../../src/runtime/external/check-answers.ts';
import { OutcomeUnknown } from '../../../../src/runtime/external/errors.ts';

const seen = { exists: true, upToDate: true, state: 'ready' };
type Checked = (answer: never) => unknown;

describe('the answers of a handler', () => {
  const valid: readonly (readonly [Checked, unknown])[] = [
    [checkObservation, { exists: false }],
    [checkObservation, seen],
    [
      checkObservation,
      { ...seen, message: undefined, connectionDetails: { a: 'b' }, attributes: { size: 1 } },
    ],
    [checkCreated, {}],
    [checkCreated, { externalName: 'x' }],
    [checkUpdated, { connectionDetails: {} }],
  ];
  for (const [check, answer] of valid)
    it(`pass: ${check.name} ${JSON.stringify(answer)}`, () => {
      expect(check(answer as never)).to.equal(answer);
    });

  const rows: readonly (readonly [Checked, unknown, string])[] = [
    [
      checkObservation,
      undefined,
      'observe returned undefined; return an object with exists, upToDate, state, providerState, message, connectionDetails, attributes, lateInitialized',
    ],
    [checkObservation, {}, 'observe returned no "exists"'],
    [checkObservation, { exists: true, upToDate: true }, 'observe returned no "state"'],
    [checkObservation, { exists: 'yes' }, 'observe returned no "upToDate"'],
    [
      checkObservation,
      { ...seen, exists: 'yes' },
      'observe returned an invalid "exists": it must be true or false',
    ],
    [
      checkObservation,
      { ...seen, state: 'Ready' },
      'observe returned an invalid "state": it must be creating, ready, updating, deleting, failed, unknown',
    ],
    [
      checkObservation,
      { ...seen, connectionDetails: { port: 5432 } },
      'observe returned an invalid "connectionDetails": it must be an object whose values are strings',
    ],
    [
      checkObservation,
      { ...seen, lateInitialised: true },
      'observe returned the unknown field "lateInitialised"; did you mean lateInitialized?',
    ],
    [
      checkCreated,
      { externalName: '' },
      'create returned an invalid "externalName": it must be a string that is not empty',
    ],
    [
      checkCreated,
      undefined,
      'create returned undefined; return an object with connectionDetails, externalName',
    ],
    [checkUpdated, undefined, 'update returned undefined; return an object with connectionDetails'],
  ];
  for (const [check, answer, message] of rows)
    it(`are refused: ${message}`, () => {
      expect(() => check(answer as never)).to.throw(
        check === checkCreated ? OutcomeUnknown : TypeError,
        message,
      );
    });
});
