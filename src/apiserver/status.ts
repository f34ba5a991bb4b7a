/** Constructors for all error answers of the server: code, reason, message and details of a `v1 Status`. */
import { joinErrors } from './schema/field-errors.ts';
import type { FieldError } from './types.ts';

interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface StatusBody {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** An error answer; the handler sends `body` with `code`. */
export class ApiError extends Error {
  readonly code: number;
  readonly body: StatusBody;

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: StatusDetails,
    token?: string,
  ) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.body = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: token === undefined ? {} : { continue: token },
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }

  get reason(): string | undefined {
    return this.body.reason;
  }
}

/** The names of a kind in messages. */
interface ResourceNames {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

export const resourceText = (r: { group: string; plural: string }): string =>
  r.group === '' ? r.plural : `${r.plural}.${r.group}`;

const kindText = (r: { group: string; kind: string }): string =>
  r.group === '' ? r.kind : `${r.kind}.${r.group}`;

const resourceDetails = (r: ResourceNames, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(r.group === '' ? {} : { group: r.group }),
  kind: r.plural,
});

export const notFound = (r: ResourceNames, name: string): ApiError =>
  new ApiError(404, 'NotFound', `${resourceText(r)} "${name}" not found`, resourceDetails(r, name));

/** For resources, versions and subresources that a built-in group does not have. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const alreadyExists = (r: ResourceNames, name: string, terminating: boolean): ApiError =>
  new ApiError(
    409,
    'AlreadyExists',
    `${terminating ? 'object is being deleted: ' : ''}${resourceText(r)} "${name}" already exists`,
    resourceDetails(r, name),
  );

export const conflict = (r: ResourceNames, name: string, why: string): ApiError =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resourceText(r)} "${name}": ${why}`,
    resourceDetails(r, name),
  );

export const staleObject = (r: ResourceNames, name: string): ApiError =>
  conflict(
    r,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

/** A failed delete precondition; upstream's message contains the kind instead of the resource. */
export const preconditionFailed = (r: ResourceNames, name: string, why: string): ApiError =>
  new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${kindText(r)} "${name}": ${why}`, {
    name,
    ...(r.group === '' ? {} : { group: r.group }),
    kind: r.kind,
  });

export function invalid(
  r: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  return new ApiError(422, 'Invalid', `${kindText(r)} "${name}" is invalid: ${joinErrors(errors)}`, {
    ...(name === '' ? {} : { name }),
    ...(r.group === '' ? {} : { group: r.group }),
    ...(r.kind === '' ? {} : { kind: r.kind }),
    causes: errors.map((e) => ({ reason: e.type, message: e.message, field: e.field })),
  });
}

/** An invalid query option; `kind` is `ListOptions`, `CreateOptions` and so on. */
export const invalidOptions = (kind: string, errors: readonly FieldError[]): ApiError =>
  invalid({ group: 'meta.k8s.io', kind }, '', errors);

export const forbidden = (r: ResourceNames, name: string, why: string, causes?: StatusCause[]): ApiError =>
  new ApiError(
    403,
    'Forbidden',
    `${resourceText(r)}${name === '' ? '' : ` "${name}"`} is forbidden: ${why}`,
    { ...resourceDetails(r, name), ...(causes ? { causes } : {}) },
  );

export const unauthorized = (): ApiError => new ApiError(401, 'Unauthorized', 'Unauthorized');

export const badRequest = (message: string): ApiError => new ApiError(400, 'BadRequest', message);

/** Upstream reports some client errors as 500 without a reason. */
export const plainFailure = (message: string): ApiError => new ApiError(500, undefined, message);

export const internalError = (message: string): ApiError =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    causes: [{ message }],
  });

export const methodNotAllowed = (): ApiError =>
  new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  );

export const notAcceptable = (message: string): ApiError => new ApiError(406, 'NotAcceptable', message);

export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

export const tooLarge = (message: string): ApiError =>
  new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);

export const expired = (message: string, token?: string): ApiError =>
  new ApiError(410, 'Expired', message, undefined, token);

export const tooOldForWatch = (asked: number, oldest: number): ApiError =>
  expired(`too old resource version: ${asked} (${oldest})`);

export const rvTooLarge = (asked: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

export const deleted = (r: ResourceNames, name: string, uid: string | undefined): StatusBody => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: {
    name,
    ...(r.group === '' ? {} : { group: r.group }),
    kind: r.plural,
    ...(uid === undefined ? {} : { uid }),
  },
});
