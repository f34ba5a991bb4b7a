/** Rules for containers: ports, environment, mounts, images and resources. */
import { append } from '../../../lib/lists.ts';
import { compareQuantities } from '../../../lib/quantity.ts';
import * as field from '../../schema/field-errors.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';

const PORT_RULE = 'must be between 1 and 65535, inclusive';
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

const membersOf = (object: JsonObject, member: string): JsonObject[] =>
  Array.isArray(object[member]) ? (object[member] as unknown[]).filter(isObject) : [];

/**
 * @param at path of the container
 * @param volumes names of volumes that can be mounted
 */
export function containerErrors(
  container: JsonObject,
  at: string,
  volumes: ReadonlySet<unknown>,
): FieldError[] {
  const errors: FieldError[] = [];
  membersOf(container, 'ports').forEach((port, i) => {
    const number = port['containerPort'] ?? 0;
    if (number === 0) errors.push(field.required(`${at}.ports[${i}].containerPort`));
    else if (typeof number === 'number' && (number < 1 || number > 65535))
      errors.push(field.invalid(`${at}.ports[${i}].containerPort`, number, PORT_RULE));
  });
  membersOf(container, 'env').forEach((variable, i) => {
    const name = variable['name'] ?? '';
    if (name === '') errors.push(field.required(`${at}.env[${i}].name`));
    else if (typeof name === 'string' && !/^[ -<>-~]+$/.test(name))
      errors.push(
        field.invalid(
          `${at}.env[${i}].name`,
          name,
          "a valid environment variable name must consist only of printable ASCII characters other than '='",
        ),
      );
  });
  membersOf(container, 'volumeMounts').forEach((mount, i) => {
    const path = `${at}.volumeMounts[${i}]`;
    const name = mount['name'] ?? '';
    if (name === '') errors.push(field.required(`${path}.name`));
    if (!volumes.has(name)) errors.push(field.notFound(`${path}.name`, name));
    if (!mount['mountPath']) errors.push(field.required(`${path}.mountPath`));
  });
  if (!PULL_POLICIES.includes(String(container['imagePullPolicy'])))
    errors.push(field.notSupported(`${at}.imagePullPolicy`, container['imagePullPolicy'], PULL_POLICIES));
  if (isObject(container['resources']))
    append(errors, resourceErrors(container['resources'], `${at}.resources`));
  return errors;
}

function resourceErrors(resources: JsonObject, at: string): FieldError[] {
  const limits = isObject(resources['limits']) ? resources['limits'] : {};
  const requests = isObject(resources['requests']) ? resources['requests'] : {};
  return Object.keys(requests)
    .sort()
    .flatMap((name) => {
      const request = field.plainText(requests[name]);
      const limit = limits[name] === undefined ? undefined : field.plainText(limits[name]);
      return limit !== undefined && compareQuantities(request, limit) > 0
        ? [
            field.invalid(
              `${at}.requests`,
              request,
              `must be less than or equal to ${name} limit of ${limit}`,
            ),
          ]
        : [];
    });
}
