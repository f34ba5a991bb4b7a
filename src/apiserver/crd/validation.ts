/**
 * Validation of CustomResourceDefinitions: names, versions, columns, and immutable fields.
 *
 * Upstream validates an internal form in which properties that all versions share are at the top level, and the
 * paths of its errors refer to that form. So the schema of a CRD with one version is at `spec.validation`.
 */
import { table } from '../../lib/objects.ts';
import { equal } from '../../lib/json.ts';
import { append } from '../../lib/lists.ts';
import { conversionErrors } from './conversion-validation.ts';
import { schemaErrors } from './schema-validation.ts';
import {
  duplicate,
  invalid,
  notSupported,
  plainText,
  required,
  tooMany,
  Verbatim,
} from '../schema/field-errors.ts';
import { approvalErrors, groupErrors, listAt, nameErrors, namesErrors, objectAt, textAt } from './names.ts';
import { isDns1035Label } from '../../lib/names.ts';
import type { JsonSchema } from '../schema/types.ts';
import { isObject, type FieldError, type JsonObject } from '../types.ts';

/** All errors in a CRD. @param old the CRD before an update, to check immutable fields as well */
export function validateCrd(crd: object, old?: object): FieldError[] {
  const object = crd as JsonObject;
  const spec = objectAt(object, 'spec');
  const errors = [...nameErrors(object, spec), ...specErrors(spec), ...approvalErrors(object, spec)];
  if (spec['preserveUnknownFields'] === true && objectAt(old, 'spec')['preserveUnknownFields'] !== true) {
    const why =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalid('spec.preserveUnknownFields', true, why));
  }
  append(errors, storedVersionErrors(object, versionsOf(spec)));
  if (old) append(errors, validateCrdUpdate(crd, old));
  return errors;
}

/** Immutable fields: the resource and, once it is established, scope and kind. */
export const validateCrdUpdate = (crd: object, old: object): FieldError[] =>
  immutableErrors(objectAt(crd, 'spec'), old as JsonObject);

const versionsOf = (spec: JsonObject): readonly JsonObject[] => listAt(spec, 'versions');

function specErrors(spec: JsonObject): FieldError[] {
  const errors = groupErrors(textAt(spec, 'group'));
  const scope = textAt(spec, 'scope');
  if (scope === '') errors.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced')
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  append(errors, versionErrors(spec));
  append(errors, namesErrors(objectAt(spec, 'names')));
  if (isObject(spec['conversion'])) append(errors, conversionErrors(spec['conversion']));
  return errors;
}

/**
 * Members of versions that upstream moves to the top level if all versions have the same value, and their names
 * there.
 */
const LIFTED: Readonly<Record<string, string>> = table({
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
});

function versionErrors(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  const versions = versionsOf(spec);
  const isShared = (member: string): boolean =>
    versions.length > 0 &&
    versions.every(
      (version) => version[member] !== undefined && equal(version[member], versions[0]?.[member]),
    );
  const shared = new Set(Object.keys(LIFTED).filter(isShared));
  versions.forEach((version, index) => {
    const at = `spec.versions[${index}]`;
    const name = textAt(version, 'name');
    const problems = isDns1035Label(name);
    if (problems.length > 0) {
      const why = problems.join(',');
      append(errors, [
        invalid(`${at}.name`, name, why),
        ...(index === 0 ? [invalid('spec.version', name, why)] : []),
      ]);
    }
    if (!isObject(objectAt(version, 'schema')['openAPIV3Schema']))
      errors.push(required(`${at}.schema.openAPIV3Schema`));
    append(errors, deprecationErrors(version, `${at}.deprecationWarning`));
    const place = (member: string): string =>
      shared.has(member) ? `spec.${LIFTED[member] ?? ''}` : `${at}.${member}`;
    const isFirst = index === 0;
    if (isFirst || !shared.has('schema')) append(errors, versionSchemaErrors(version, place('schema')));
    if (isFirst || !shared.has('subresources')) append(errors, scaleErrors(version, place('subresources')));
    if (isFirst || !shared.has('additionalPrinterColumns'))
      append(errors, columnErrors(version, place('additionalPrinterColumns')));
    if (isFirst || !shared.has('selectableFields'))
      append(errors, selectableFieldErrors(version, place('selectableFields')));
  });
  const names = versions.map((version) => textAt(version, 'name'));
  if (new Set(names).size !== names.length)
    errors.push(invalid('spec.versions', printed(versions, shared), 'must contain unique version names'));
  if (versions.filter((version) => version['storage'] === true).length !== 1)
    errors.push(
      invalid(
        'spec.versions',
        printed(versions, shared),
        'must have exactly one version marked as storage version',
      ),
    );
  return errors;
}

/** Versions in the format of messages: upstream's internal form, without shared members. */
const printed = (versions: readonly JsonObject[], shared: ReadonlySet<string>): unknown =>
  versions.map((version) => {
    const own = (member: string): unknown => (shared.has(member) ? null : (version[member] ?? null));
    return new Verbatim({
      Name: version['name'] ?? '',
      Served: version['served'] ?? false,
      Storage: version['storage'] ?? false,
      Deprecated: version['deprecated'] ?? false,
      DeprecationWarning: version['deprecationWarning'] ?? null,
      Schema: own('schema'),
      Subresources: own('subresources'),
      AdditionalPrinterColumns: own('additionalPrinterColumns'),
      SelectableFields: own('selectableFields'),
    });
  });

function versionSchemaErrors(version: JsonObject, path: string): FieldError[] {
  const schema = objectAt(version, 'schema')['openAPIV3Schema'];
  if (!isObject(schema)) return [];
  const hasStatus = isObject(objectAt(version, 'subresources')['status']);
  return schemaErrors(schema, `${path}.openAPIV3Schema`, hasStatus);
}

function deprecationErrors(version: JsonObject, path: string): FieldError[] {
  const warning = version['deprecationWarning'];
  if (warning === undefined || warning === null) return [];
  const text = plainText(warning);
  if (version['deprecated'] !== true) return [invalid(path, text, 'can only be set for deprecated versions')];
  const problems = [
    ...(text.length > 256 ? ['must be <= 256 characters long'] : []),
    ...(text === '' ? ['must not be an empty string'] : []),
  ];
  return problems.map((why) => invalid(path, text, why));
}

/** A dotted path: the only kind of path that columns and the scale subresource may use. */
function pathErrors(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];
}

function scaleErrors(version: JsonObject, path: string): FieldError[] {
  const scale = objectAt(version, 'subresources')['scale'];
  if (!isObject(scale)) return [];
  const rules = [
    ['specReplicasPath', ['.spec.'], 'should be a json path under .spec'],
    ['statusReplicasPath', ['.status.'], 'should be a json path under .status'],
    ['labelSelectorPath', ['.spec.', '.status.'], 'should be a json path under either .spec or .status'],
  ] as const;
  return rules.flatMap(([member, roots, why]) => {
    const field = `${path}.scale.${member}`;
    const value = textAt(scale, member);
    if (value === '') return member === 'labelSelectorPath' ? [] : [required(field)];
    const errors = pathErrors(value, field);
    if (errors.length > 0) return errors;
    return roots.some((root) => value.startsWith(root)) ? [] : [invalid(field, value, why)];
  });
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function columnErrors(version: JsonObject, path: string): FieldError[] {
  return listAt(version, 'additionalPrinterColumns').flatMap((column, index) => {
    const at = `${path}[${index}]`;
    const errors: FieldError[] = [];
    const [type, format, jsonPath] = [
      textAt(column, 'type'),
      textAt(column, 'format'),
      textAt(column, 'jsonPath'),
    ];
    const types = `must be one of ${COLUMN_TYPES.join(',')}`;
    if (textAt(column, 'name') === '') errors.push(required(`${at}.name`));
    if (type === '') errors.push(required(`${at}.type`, types));
    else if (!COLUMN_TYPES.includes(type)) errors.push(invalid(`${at}.type`, type, types));
    if (format !== '' && !COLUMN_FORMATS.includes(format))
      errors.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.join(',')}`));
    if (jsonPath === '') errors.push(required(`${at}.JSONPath`));
    else append(errors, pathErrors(jsonPath, `${at}.JSONPath`));
    return errors;
  });
}

const MAX_SELECTABLE = 8;

function selectableFieldErrors(version: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  listAt(version, 'selectableFields').forEach((entry, index) => {
    const field = `${path}[${index}].jsonPath`;
    const jsonPath = textAt(entry, 'jsonPath');
    if (jsonPath === '') {
      errors.push(required(field));
      return;
    }
    const names = jsonPath.split('.').slice(1);
    const target = names.reduce<JsonSchema | undefined>(
      (schema, name) => schema?.properties?.[name],
      objectAt(version, 'schema')['openAPIV3Schema'] as JsonSchema | undefined,
    );
    if (!jsonPath.startsWith('.') || !target)
      errors.push(invalid(field, jsonPath, 'is an invalid path: does not refer to a valid field'));
    else if (names[0] === 'metadata')
      errors.push(invalid(field, jsonPath, 'must not point to fields in metadata'));
    else if (!['string', 'boolean', 'integer'].includes(target.type ?? '')) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(invalid(field, jsonPath, why));
    }
    if (seen.has(jsonPath)) errors.push(duplicate(field, jsonPath));
    seen.add(jsonPath);
  });
  if (seen.size > MAX_SELECTABLE) errors.push(tooMany(path, seen.size, MAX_SELECTABLE));
  return errors;
}

function storedVersionErrors(crd: JsonObject, versions: readonly JsonObject[]): FieldError[] {
  const stored = objectAt(crd, 'status')['storedVersions'] as readonly string[] | undefined;
  if (stored === undefined || stored.length === 0)
    return [invalid('status.storedVersions', null, 'must have at least one stored version')];
  const errors = versions
    .filter((version) => version['storage'] === true && !stored.includes(textAt(version, 'name')))
    .map((version) =>
      invalid('status.storedVersions', stored, `must have the storage version ${textAt(version, 'name')}`),
    );
  stored.forEach((name, index) => {
    if (versions.some((version) => version['name'] === name)) return;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(`status.storedVersions[${index}]`, name, why));
  });
  return errors;
}

function immutableErrors(spec: JsonObject, old: JsonObject): FieldError[] {
  const before = objectAt(old, 'spec');
  const isEstablished = listAt(objectAt(old, 'status'), 'conditions').some(
    (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
  );
  const [names, oldNames] = [objectAt(spec, 'names'), objectAt(before, 'names')];
  const fields: [string, unknown, unknown][] = [
    ['spec.group', spec['group'], before['group']],
    ['spec.names.plural', names['plural'], oldNames['plural']],
  ];
  if (isEstablished) {
    fields.push(['spec.scope', spec['scope'], before['scope']]);
    fields.push(['spec.names.kind', names['kind'], oldNames['kind']]);
  }
  return fields
    .filter(([, next, previous]) => next !== previous)
    .map(([field, next]) => invalid(field, next ?? '', 'field is immutable'));
}
