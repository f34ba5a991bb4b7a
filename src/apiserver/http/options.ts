/** Query options of each verb, validated as in upstream. Pure. */
import * as field from '../schema/field-errors.ts';
import { badRequest, invalidOptions } from '../status.ts';
import type { FieldError, JsonObject } from '../types.ts';

type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** Empty if the client sent none. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** Only for apply. */
  readonly force: boolean;
}

export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Foreground' | 'Background' | 'Orphan' | undefined;
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface ListOptions {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly timeoutSeconds: number;
}

const POLICIES = ['Foreground', 'Background', 'Orphan'] as const;

/** @throws ApiError 422 with the name `kind`, for example `CreateOptions` */
export function writeOptions(kind: string, query: URLSearchParams, apply = false): WriteOptions {
  const errors: FieldError[] = [];
  const manager = query.get('fieldManager') ?? '';
  checkDryRun(query.getAll('dryRun'), errors);
  if (apply && manager === '') errors.push(field.required('fieldManager', 'is required for apply patch'));
  if (Buffer.byteLength(manager) > 128) errors.push(field.tooLong('fieldManager', 128));
  const odd = [...manager].findIndex((c) => !/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(c));
  if (odd >= 0) {
    const code = (manager.codePointAt(odd) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    errors.push(field.invalid('fieldManager', manager, `invalid character U+${code} (at position ${odd})`));
  }
  const validation = query.get('fieldValidation') ?? '';
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(validation))
    errors.push(field.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']));
  const force = query.get('force');
  if (force !== null && !apply && kind === 'PatchOptions')
    errors.push(field.forbidden('force', 'may not be specified for non-apply patch'));
  if (errors.length > 0) throw invalidOptions(kind, errors);
  return {
    dryRun: query.has('dryRun'),
    fieldManager: manager,
    fieldValidation: validation === '' ? 'Warn' : (validation as FieldValidation),
    force: isTrue(force),
  };
}

/** From the body, or from the query if there is no body. */
export function deleteOptions(body: JsonObject | undefined, query: URLSearchParams): DeleteOptions {
  const errors: FieldError[] = [];
  const source = body && Object.keys(body).length > 0 ? body : fromQuery(query);
  const dryRun = Array.isArray(source['dryRun']) ? (source['dryRun'] as string[]) : [];
  checkDryRun([...dryRun, ...(source === body ? query.getAll('dryRun') : [])], errors);
  const policy = source['propagationPolicy'] as string | undefined | null;
  const orphan = source['orphanDependents'] as boolean | undefined | null;
  if (policy != null && orphan != null)
    errors.push(
      field.invalid(
        'propagationPolicy',
        policy,
        'orphanDependents and deletionPropagation cannot be both set',
      ),
    );
  else if (policy != null && !POLICIES.includes(policy as 'Orphan'))
    errors.push(
      field.notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']),
    );
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const grace = source['gracePeriodSeconds'] as number | undefined | null;
  return {
    dryRun: dryRun.length > 0 || query.has('dryRun'),
    gracePeriodSeconds: grace == null ? undefined : grace < 0 ? 1 : grace,
    propagationPolicy:
      policy != null ? (policy as 'Orphan') : orphan == null ? undefined : orphan ? 'Orphan' : 'Background',
    preconditions: (source['preconditions'] as { uid?: string; resourceVersion?: string } | undefined) ?? {},
  };
}

function fromQuery(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  return {
    dryRun: query.getAll('dryRun'),
    ...(grace === null || grace === '' ? {} : { gracePeriodSeconds: integer(grace) }),
    ...(query.get('propagationPolicy') ? { propagationPolicy: query.get('propagationPolicy') } : {}),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
  };
}

/** @throws ApiError 422 for invalid combinations, 400 for invalid numbers */
export function listOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const initial = query.get('sendInitialEvents');
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: integer(query.get('limit') ?? ''),
    continue: query.get('continue') ?? '',
    sendInitialEvents: initial === null || initial === '' ? undefined : isTrue(initial),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    timeoutSeconds: integer(query.get('timeoutSeconds') ?? ''),
  };
  const errors = watch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalidOptions('ListOptions', errors);
  return options;
}

const MATCH = 'resourceVersionMatch';

function listErrors(o: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (o.resourceVersionMatch !== '') {
    if (o.continue !== '')
      errors.push(field.forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
    if (o.resourceVersion === '')
      errors.push(
        field.forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      );
    if (!['Exact', 'NotOlderThan'].includes(o.resourceVersionMatch))
      errors.push(field.notSupported(MATCH, o.resourceVersionMatch, ['Exact', 'NotOlderThan', '']));
    if (o.resourceVersionMatch === 'Exact' && o.resourceVersion === '0')
      errors.push(
        field.forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      );
  }
  if (o.sendInitialEvents !== undefined)
    errors.push(field.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchErrors(o: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (o.continue !== '') errors.push(field.forbidden('continue', 'continue is forbidden for watch'));
  if (o.sendInitialEvents !== undefined) {
    if (o.resourceVersionMatch === '')
      errors.push(
        field.forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
      );
    else if (o.resourceVersionMatch !== 'NotOlderThan')
      errors.push(field.notSupported(MATCH, o.resourceVersionMatch, ['NotOlderThan']));
  } else if (o.resourceVersionMatch !== '')
    errors.push(
      field.forbidden(
        MATCH,
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  return errors;
}

function checkDryRun(values: readonly string[], errors: FieldError[]): void {
  if (values.some((value) => value !== 'All')) errors.push(field.notSupported('dryRun', values, ['All']));
}

/** Parses an integer like Go; an empty string is 0. */
function integer(text: string): number {
  if (text === '') return 0;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

const isTrue = (text: string | null): boolean => text !== null && text !== 'false' && text !== '0';

/**
 * The client's resource version: undefined if it is not set.
 * @throws the result of `refuse`, called with upstream's message, if it is not a number
 */
export function parseRev(text: string, refuse: (why: string) => Error): number | undefined {
  if (text === '') return undefined;
  if (!/^\d{1,20}$/.test(text))
    throw refuse(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  return Number(text);
}
