/** Validation of the names in a CustomResourceDefinition: its own name, the names of the kind, and the group. */
import { invalid, required } from '../schema/field-errors.ts';
import { isDns1035Label, isDns1123Subdomain } from '../../lib/names.ts';
import { isObject, type FieldError, type JsonObject } from '../types.ts';

export const objectAt = (object: unknown, member: string): JsonObject => {
  const value = isObject(object) ? object[member] : undefined;
  return isObject(value) ? value : {};
};

export const listAt = (object: unknown, member: string): readonly JsonObject[] => {
  const value = isObject(object) ? object[member] : undefined;
  return Array.isArray(value) ? (value as JsonObject[]) : [];
};

export const textAt = (object: JsonObject, member: string): string => {
  const value = object[member];
  return typeof value === 'string' ? value : '';
};

/** The name of the definition must match its resource. */
export function nameErrors(crd: JsonObject, spec: JsonObject): FieldError[] {
  const name = textAt(objectAt(crd, 'metadata'), 'name');
  const wanted = `${textAt(objectAt(spec, 'names'), 'plural')}.${textAt(spec, 'group')}`;
  const problems = isDns1123Subdomain(name);
  if (name !== wanted) problems.push('must be spec.names.plural+"."+spec.group');
  return problems.map((why) => invalid('metadata.name', name, why));
}

export const APPROVAL = 'api-approved.kubernetes.io';

export const isProtectedGroup = (group: string): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);

/** Groups of Kubernetes itself need an approval annotation. */
export function approvalErrors(crd: JsonObject, spec: JsonObject): FieldError[] {
  const group = textAt(spec, 'group');
  if (!isProtectedGroup(group)) return [];
  const approval = textAt(objectAt(objectAt(crd, 'metadata'), 'annotations'), APPROVAL);
  if (approval.startsWith('unapproved') || URL.canParse(approval)) return [];
  const field = 'metadata.annotations[api-approved.kubernetes.io]';
  const where = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (approval !== '') {
    const why = `protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", ${where}`;
    return [invalid(field, approval, why)];
  }
  return [
    required(field, `protected groups must have approval annotation "api-approved.kubernetes.io", ${where}`),
  ];
}

export function groupErrors(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const problems = isDns1123Subdomain(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.')
    ? []
    : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

/** The names of the kind. */
export function namesErrors(names: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const member of ['plural', 'singular', 'kind', 'listKind']) {
    const field = `spec.names.${member}`;
    const value = textAt(names, member);
    if (value === '') {
      errors.push(required(field));
      continue;
    }
    const isKind = member.toLowerCase().endsWith('kind');
    const problems = isDns1035Label(isKind ? value.toLowerCase() : value);
    const prefix = isKind ? 'may have mixed case, but should otherwise match: ' : '';
    if (problems.length > 0) errors.push(invalid(field, value, prefix + problems.join(',')));
  }
  for (const member of ['shortNames', 'categories']) {
    ((names[member] ?? []) as readonly string[]).forEach((value, index) => {
      const problems = isDns1035Label(value);
      if (problems.length > 0)
        errors.push(invalid(`spec.names.${member}[${index}]`, value, problems.join(',')));
    });
  }
  const kind = textAt(names, 'kind');
  if (kind !== '' && kind === textAt(names, 'listKind'))
    errors.push(invalid('spec.names.listKind', kind, 'kind and listKind may not be the same'));
  return errors;
}
