/** Rules for containers: ports, environment, mounts, images and resources. */
import { append } from '../../../lib/lists.ts';
import { compareQuantities } from '../../../lib/quantity.ts';
import * as field from '../../schema/field-errors.ts';
import { countOf, isEmpty, label, matching, port, type MemberRule } from '../rules/vocabulary.ts';
import { isObject } from '../../types.ts';
import type { FieldError, JsonObject } from '../../types.ts';

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const VARIABLE_RULE =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
const BLOCK_ONLY = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';

const membersOf = (object: JsonObject, member: string): JsonObject[] =>
  Array.isArray(object[member]) ? (object[member] as unknown[]).filter(isObject) : [];

/**
 * @param at path of the container
 * @param volumes that can be mounted, by name
 */
export function containerErrors(
  container: JsonObject,
  at: string,
  volumes: ReadonlyMap<unknown, JsonObject>,
): FieldError[] {
  const errors: FieldError[] = [];
  const needs = (owner: JsonObject, path: string, member: string, rule: MemberRule = none): void => {
    const value = owner[member];
    append(
      errors,
      isEmpty(value) ? [field.required(`${path}.${member}`)] : rule(value, `${path}.${member}`, owner),
    );
  };
  needs(container, at, 'name', label);
  needs(container, at, 'image');
  const each = (list: string, check: (item: JsonObject, path: string) => void): void => {
    membersOf(container, list).forEach((item, i) => {
      check(item, `${at}.${list}[${i}]`);
    });
  };
  each('ports', (item, path) => {
    needs(item, path, 'containerPort', port);
  });
  each('env', (item, path) => {
    needs(item, path, 'name', matching(/^[ -<>-~]+$/, VARIABLE_RULE));
  });
  const found = (item: JsonObject, path: string): void => {
    const name = item['name'] ?? '';
    needs(item, path, 'name');
    if (!volumes.has(name)) errors.push(field.notFound(`${path}.name`, name));
  };
  each('volumeMounts', (mount, path) => {
    found(mount, path);
    needs(mount, path, 'mountPath');
  });
  each('volumeDevices', (device, path) => {
    found(device, path);
    needs(device, path, 'devicePath');
    const volume = volumes.get(device['name']);
    if (volume && countOf(volume, ['persistentVolumeClaim', 'ephemeral']) === 0)
      errors.push(field.invalid(`${path}.name`, device['name'], BLOCK_ONLY));
  });
  if (!PULL_POLICIES.includes(String(container['imagePullPolicy'])))
    errors.push(field.notSupported(`${at}.imagePullPolicy`, container['imagePullPolicy'], PULL_POLICIES));
  if (isObject(container['resources']))
    append(errors, resourceErrors(container['resources'], `${at}.resources`));
  return errors;
}

const none: MemberRule = () => [];

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
