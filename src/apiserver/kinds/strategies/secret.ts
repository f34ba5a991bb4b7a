/** Secret: stringData, base64, typed keys, immutability. */
import { table } from '../../../lib/objects.ts';
import { append } from '../../../lib/lists.ts';
import * as field from '../../schema/field-errors.ts';
import type { Strategy } from '../kinds.ts';
import { badRequest } from '../../status.ts';
import type { FieldError } from '../../types.ts';
import { checkStrings, dropEmpty, immutableErrors, keyErrors, members } from './config-map.ts';

const MAX_BYTES = 1_048_576;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Keys that a type requires; at least one of each group. */
const DEMANDED: Readonly<Record<string, readonly (readonly string[])[]>> = table({
  'kubernetes.io/tls': [['tls.crt'], ['tls.key']],
  'kubernetes.io/dockerconfigjson': [['.dockerconfigjson']],
  'kubernetes.io/dockercfg': [['.dockercfg']],
  'kubernetes.io/basic-auth': [['username', 'password']],
  'kubernetes.io/ssh-auth': [['ssh-privatekey']],
});

export const secret: Strategy = {
  defaults(object) {
    checkStrings(object, 'data', 'Secret');
    checkStrings(object, 'stringData', 'Secret');
    const data = members(object, 'data');
    for (const [key, value] of Object.entries(data)) data[key] = canonical(value);
    const plain = members(object, 'stringData');
    if (Object.keys(plain).length > 0) {
      const merged = { ...data };
      for (const [key, value] of Object.entries(plain)) merged[key] = Buffer.from(value).toString('base64');
      object['data'] = merged;
    }
    delete object['stringData'];
    dropEmpty(object, 'data');
    if (!object['type']) object['type'] = 'Opaque';
  },
  validate(object) {
    const data = members(object, 'data');
    const errors: FieldError[] = [];
    let size = 0;
    for (const [key, value] of Object.entries(data)) {
      append(errors, keyErrors('data', key));
      size += Buffer.from(value, 'base64').length;
    }
    if (size > MAX_BYTES) errors.push(field.tooLong('data', MAX_BYTES));
    for (const group of DEMANDED[object['type'] as string] ?? [])
      if (!group.some((key) => key in data)) errors.push(field.required(`data[${group[0] ?? ''}]`));
    if (
      object['type'] === 'kubernetes.io/service-account-token' &&
      !object.metadata.annotations?.['kubernetes.io/service-account.name']
    )
      errors.push(field.required('metadata.annotations[kubernetes.io/service-account.name]'));
    return errors;
  },
  validateUpdate(object, old) {
    const errors = immutableErrors(object, old, ['data']);
    if (object['type'] !== old['type'])
      errors.push(field.invalid('type', object['type'], 'field is immutable'));
    return errors;
  },
};

function canonical(text: string): string {
  const clean = text.replace(/[\r\n]/g, '');
  if (BASE64.test(clean)) return clean;
  const bad = clean.search(/[^A-Za-z0-9+/=]/);
  throw badRequest(
    `Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte ${bad >= 0 ? bad : Math.floor(clean.length / 4) * 4}`,
  );
}
