/** Field selectors: `metadata.name=x,status.phase!=Running`, and the selectable fields of each kind. */
import { table } from '../../lib/objects.ts';
import { goQuote, plainText } from '../schema/field-errors.ts';
import { SelectorError } from './selectors.ts';
import { isObject, type KubeObject } from '../types.ts';

interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  readonly isEmpty: boolean;
  /** @param valueOf returns the value of a field as a string; empty if the field has no value */
  matches(valueOf: (field: string) => string): boolean;
  /** The required value of `field` if the selector requires exactly one. */
  exact(field: string): string | undefined;
}

/**
 * Parses a field selector; a backslash escapes `,`, `=` and itself.
 * @throws SelectorError with upstream's message
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = splitTerms(text).flatMap((term) => (term === '' ? [] : [readTerm(text, term)]));
  return {
    requirements,
    isEmpty: requirements.length === 0,
    matches: (valueOf) =>
      requirements.every(({ field, operator, value }) => (valueOf(field) === value) === (operator === '=')),
    exact: (field) => requirements.find((r) => r.field === field && r.operator === '=')?.value,
  };
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function readTerm(text: string, term: string): FieldRequirement {
  for (let i = 0; i < term.length; i++) {
    const sign = ['!=', '==', '='].find((candidate) => term.startsWith(candidate, i));
    if (sign !== undefined) {
      const value = unescape(term.slice(i + sign.length));
      return { field: term.slice(0, i), operator: sign === '!=' ? '!=' : '=', value };
    }
  }
  throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
}

function unescape(value: string): string {
  let result = '';
  for (let i = 0; i < value.length; i++) {
    const char = value.charAt(i);
    if (char === '\\') {
      const next = value.charAt(i + 1);
      if (!'\\,='.includes(next) || next === '')
        throw new SelectorError(`invalid field selector: invalid escape sequence: ${char}${next}`);
      result += next;
      i++;
    } else if (char === ',' || char === '=') {
      throw new SelectorError(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    } else {
      result += char;
    }
  }
  return result;
}

const COMMON = ['metadata.name', 'metadata.namespace'];

/** Fields of v1 and events.k8s.io/v1 events that identify the involved object. */
const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Additional fields, by `group/Kind` (core kinds without a slash). */
const EXTRAS: Readonly<Record<string, readonly string[]>> = table({
  Pod: [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
  ],
  Event: [
    ...REFERENCE.map((field) => `involvedObject.${field}`),
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  'events.k8s.io/Event': [
    ...REFERENCE.map((field) => `regarding.${field}`),
    'reason',
    'reportingController',
    'type',
  ],
  Secret: ['type'],
  Namespace: ['status.phase'],
  Node: ['spec.unschedulable'],
  Service: ['spec.clusterIP', 'spec.type'],
  ReplicationController: ['status.replicas'],
  'batch/Job': ['status.successful'],
  'certificates.k8s.io/CertificateSigningRequest': ['spec.signerName'],
});

/** The selectable fields of a built-in kind besides name and namespace. */
export const selectableFields = (group: string, kind: string): readonly string[] =>
  EXTRAS[group === '' ? kind : `${group}/${kind}`] ?? [];

/**
 * Refuses a selector with fields that a kind does not support.
 * @param fields additional fields of the kind; JSON paths of a custom kind's `selectableFields` without the leading
 * dot
 * @param options.kind name of a built-in kind; Jobs have a separate message
 * @throws SelectorError with upstream's message, which differs for kinds without additional fields
 */
export function checkFieldSelector(
  selector: FieldSelector,
  fields: readonly string[],
  options: { readonly isCustom?: boolean; readonly kind?: string } = {},
): void {
  for (const { field } of selector.requirements) {
    if (COMMON.includes(field) || fields.includes(field)) continue;
    if (options.kind === 'Job')
      throw new SelectorError(`field label ${goQuote(field)} not supported for Job`);
    if (fields.length > 0 || options.isCustom === true)
      throw new SelectorError(`field label not supported: ${field}`);
    const known = COMMON.map(goQuote).join(', ');
    throw new SelectorError(`${goQuote(field)} is not a known field selector: only ${known}`);
  }
}

/** Fields whose value is not at the field's path, or that have a default. */
const SPECIAL: Readonly<Record<string, (object: KubeObject) => unknown>> = table({
  'spec.unschedulable': (object) => at(object, ['spec', 'unschedulable']) ?? false,
  'spec.hostNetwork': (object) => at(object, ['spec', 'hostNetwork']) ?? false,
  'status.successful': (object) => at(object, ['status', 'succeeded']) ?? 0,
  'status.replicas': (object) => at(object, ['status', 'replicas']) ?? 0,
  'status.podIP': (object) => at(object, ['status', 'podIP']),
  'status.podIPs': (object) =>
    ((at(object, ['status', 'podIPs']) ?? []) as { ip?: string }[]).map((entry) => entry.ip ?? '').join(','),
  source: (object) => at(object, ['source', 'component']) ?? at(object, ['reportingComponent']),
});

/** The value of a field for selectors: a string, empty if there is no value. */
export function fieldText(object: KubeObject, field: string): string {
  const special = SPECIAL[field];
  const value = special ? special(object) : at(object, field.split('.'));
  return plainText(value);
}

function at(object: unknown, path: readonly string[]): unknown {
  return path.reduce((value: unknown, name) => (isObject(value) ? value[name] : undefined), object);
}
