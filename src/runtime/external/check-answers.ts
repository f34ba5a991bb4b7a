/**
 * Checks what handlers return. An observation without `exists` must not count as "it does not exist": the resource would
 * be created a second time, or its object released while it still exists.
 */
import { isObject } from '../../lib/objects.ts';
import { shown } from '../../lib/positive.ts';
import { checkFields, type Check } from '../check-fields.ts';
import { OutcomeUnknown } from './errors.ts';
import type { Created, ExternalState, Observation, Recovered, Updated } from './types.ts';

const STATES: Readonly<Record<ExternalState, true>> = {
  creating: true,
  ready: true,
  updating: true,
  deleting: true,
  failed: true,
  unknown: true,
};

const bool: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const text: Check = (value) => (typeof value === 'string' ? undefined : 'a string');
const nonEmpty: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'a string that is not empty';
const object: Check = (value) => (isObject(value) ? undefined : 'an object');
const texts: Check = (value) =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string')
    ? undefined
    : 'an object whose values are strings';
const state: Check = (value) =>
  typeof value === 'string' && Object.hasOwn(STATES, value) ? undefined : Object.keys(STATES).join(', ');

const OBSERVED: Readonly<Record<keyof Observation, Check>> = {
  exists: bool,
  upToDate: bool,
  state,
  providerState: text,
  message: text,
  connectionDetails: texts,
  attributes: object,
  lateInitialized: bool,
};
const CREATED: Readonly<Record<keyof Created, Check>> = { connectionDetails: texts, externalName: nonEmpty };
const RECOVERED: Readonly<Record<'created' | 'externalName', Check>> = {
  created: bool,
  externalName: nonEmpty,
};
const UPDATED: Readonly<Record<keyof Updated, Check>> = { connectionDetails: texts };

/** @throws TypeError that names the field */
export function checkObservation(seen: Observation): Observation {
  const required = isObject(seen) && seen.exists ? ['exists', 'upToDate', 'state'] : ['exists'];
  return check('observe', seen, OBSERVED, required);
}

/** @throws OutcomeUnknown that names the field: the service may have created something */
export function checkCreated(created: Created): Created {
  try {
    return check('create', created, CREATED);
  } catch (cause) {
    throw new OutcomeUnknown({ message: (cause as Error).message, cause });
  }
}

/** @throws TypeError that names the field */
export function checkRecovered(found: Recovered): Recovered {
  const required = isObject(found) && found.created ? ['created', 'externalName'] : ['created'];
  return check('recover', found, RECOVERED, required);
}

/** @throws TypeError that names the field */
export function checkUpdated(updated: Updated): Updated {
  return check('update', updated, UPDATED);
}

function check<T>(
  method: string,
  answer: T,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): T {
  if (!isObject(answer))
    throw new TypeError(
      `${method} returned ${shown(answer)}; return an object with ${Object.keys(checks).join(', ')}`,
    );
  checkFields(answer, { method, checks, required });
  return answer;
}
