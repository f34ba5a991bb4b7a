/** The way of a request through the server: authenticate, authorize, dispatch, encode, audit. No sockets here. */
import type { TLSSocket } from 'node:tls';
import { encodeAnswer } from './answer.ts';
import type { Encoded } from './answer.ts';
import type { Answer, Call } from '../api.ts';
import type { AuditLog } from './audit.ts';
import { ANONYMOUS } from '../auth/authn.ts';
import type { Authenticator } from '../auth/authn.ts';
import { dispatch } from '../verbs/dispatch.ts';
import type { Services } from '../verbs/dispatch.ts';
import { negotiate, wantsPretty } from './negotiate.ts';
import type { Accept } from './negotiate.ts';
import { parseRequest } from './routes.ts';
import type { RequestInfo } from './routes.ts';
import { ApiError, badRequest, internalError } from '../status.ts';
import type { UserInfo } from '../types.ts';
import { isNestedTooDeeply, messageOf } from '../../lib/message-of.ts';
import type { Sink } from '../store/watch-hub.ts';

interface Incoming {
  readonly method: string;
  /** Path and query, as on the request line. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly remote: string;
  readonly socket?: TLSSocket;
  /** Set for requests of the server's own controllers, which need no credentials. */
  readonly user?: UserInfo;
}

type Outgoing =
  | (Encoded & { readonly type: 'bytes' })
  | {
      readonly type: 'watch';
      readonly headers: Record<string, string | string[]>;
      readonly open: (sink: Sink) => () => void;
    };

interface HandlerParts {
  readonly services: Services;
  readonly authenticator: Authenticator;
  readonly audit: AuditLog;
  /** The user of requests without credentials, if not `system:anonymous`. */
  readonly anonymous?: UserInfo;
  /** The impersonated user, if there is one. @throws ApiError 403 */
  readonly impersonate: (user: UserInfo, headers: Incoming['headers']) => UserInfo | undefined;
  /** @throws ApiError 403 */
  readonly authorize: (user: UserInfo, info: RequestInfo, query: URLSearchParams) => void;
  /** A failure that a test has requested; undefined lets the request pass. */
  readonly sabotage: (method: string, info: RequestInfo) => ApiError | undefined;
}

const JSON_ACCEPT: Accept = { media: 'json', version: 'v1', pretty: false };

/** The state of a request while it is handled. */
interface Visit {
  readonly incoming: Incoming;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  readonly auditId: string;
  readonly received: string;
  readonly warnings: string[];
  readonly noted: { name?: string };
  user: UserInfo;
  /** The authenticated user, if the request impersonates another one. */
  original?: UserInfo;
  info?: RequestInfo;
  accept: Accept;
}

export class Handler {
  readonly #parts: HandlerParts;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
  }

  /** The answer for a client whose credentials are refused, or who may not do this, before its body is read. */
  refusalOf(
    incoming: Incoming,
  ): (Encoded & { readonly extra: Record<string, string | string[]> }) | undefined {
    const visit = this.#receive(incoming);
    try {
      this.#identify(visit);
      return undefined;
    } catch (error) {
      if (!(error instanceof ApiError)) return undefined;
      const result = this.#refuse(error, visit);
      this.#record(visit, result);
      return result.type === 'bytes' ? { ...result, extra: this.#extraOf(visit) } : undefined;
    }
  }

  /** Never rejects: every error becomes an answer. */
  async handle(
    incoming: Incoming,
  ): Promise<Outgoing & { readonly extra: Record<string, string | string[]> }> {
    const visit = this.#receive(incoming);
    let result: Outgoing;
    try {
      const info = this.#admit(visit);
      const call = this.#callOf(visit, info);
      result = this.#finish(await dispatch(this.#parts.services, call), call);
    } catch (error) {
      result = this.#refuse(error, visit);
    }
    this.#record(visit, result);
    return { ...result, extra: this.#extraOf(visit) };
  }

  #extraOf({ auditId, warnings }: Visit): Record<string, string | string[]> {
    return {
      'audit-id': auditId,
      'cache-control': 'no-cache, private',
      ...(warnings.length === 0
        ? {}
        : { warning: [...new Set(warnings)].map((w) => `299 - ${JSON.stringify(w)}`) }),
    };
  }

  #receive(incoming: Incoming): Visit {
    const { world } = this.#parts.services;
    const question = incoming.url.indexOf('?');
    return {
      incoming,
      path: question < 0 ? incoming.url : incoming.url.slice(0, question),
      query: new URLSearchParams(question < 0 ? '' : incoming.url.slice(question + 1)),
      userAgent: oneOf(incoming.headers['user-agent']) ?? '',
      auditId: oneOf(incoming.headers['audit-id']) ?? world.newUid(),
      received: new Date(world.clock.wall()).toISOString(),
      warnings: [],
      noted: {},
      user: incoming.user ?? ANONYMOUS,
      accept: JSON_ACCEPT,
    };
  }

  /** @throws ApiError */
  #admit(visit: Visit): RequestInfo {
    const { incoming, query, userAgent } = visit;
    const info = this.#identify(visit);
    visit.accept = negotiate(oneOf(incoming.headers['accept']) ?? '', wantsPretty(query, userAgent));
    const refusal = this.#parts.sabotage(incoming.method, info);
    if (refusal) throw refusal;
    return info;
  }

  /** Authenticates and authorizes the request. @throws ApiError */
  #identify(visit: Visit): RequestInfo {
    const { incoming, path, query } = visit;
    const { authenticator, anonymous, impersonate, authorize } = this.#parts;
    const info = parsed(incoming.method, path, query);
    visit.info = info;
    if (!incoming.user) {
      visit.user = authenticator.authenticate(
        oneOf(incoming.headers['authorization']),
        incoming.socket,
        anonymous,
      );
      const acting = impersonate(visit.user, incoming.headers);
      if (acting) {
        visit.original = visit.user;
        visit.user = acting;
      }
    }
    checkTimeout(query);
    if (!incoming.user) authorize(visit.user, info, query);
    return info;
  }

  #callOf(visit: Visit, info: RequestInfo): Call {
    const { incoming, query, user } = visit;
    return {
      method: incoming.method,
      info,
      query,
      headers: incoming.headers,
      body: incoming.body,
      user,
      userAgent: visit.userAgent,
      accept: visit.accept,
      warnings: visit.warnings,
      noted: visit.noted,
      demand: (verb) => {
        if (!incoming.user) this.#parts.authorize(user, { ...info, verb }, query);
      },
    };
  }

  #record(visit: Visit, result: Outgoing): void {
    const { incoming, info, original, user } = visit;
    const code = result.type === 'bytes' ? result.code : 200;
    this.#parts.audit.record({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: visit.auditId,
      stage: result.type === 'watch' ? 'ResponseStarted' : 'ResponseComplete',
      requestURI: incoming.url,
      verb: info?.verb ?? incoming.method.toLowerCase(),
      user: original ?? user,
      ...(original ? { impersonatedUser: user } : {}),
      sourceIPs: [incoming.remote],
      userAgent: visit.userAgent,
      ...(info?.isResource ? { objectRef: refOf(info, visit.noted.name) } : {}),
      responseStatus: { code },
      requestReceivedTimestamp: visit.received,
      stageTimestamp: new Date(this.#parts.services.world.clock.wall()).toISOString(),
      annotations: { 'authorization.k8s.io/decision': code === 403 ? 'forbid' : 'allow' },
    });
  }

  #finish(answer: Answer, call: Call): Outgoing {
    if (answer.type === 'watch')
      return { type: 'watch', headers: { 'content-type': 'application/json' }, open: answer.open };
    if ((answer.type === 'object' || answer.type === 'list') && answer.kind.deprecationWarning !== undefined)
      call.warnings.push(answer.kind.deprecationWarning);
    return { type: 'bytes', ...encodeAnswer(this.#parts.services.world, answer, call) };
  }

  #refuse(error: unknown, { incoming, accept, query }: Visit): Outgoing {
    const { world } = this.#parts.services;
    let known = error;
    if (!(known instanceof ApiError)) {
      const isTooDeep = isNestedTooDeeply(error);
      if (!isTooDeep) {
        world.log.error(
          { err: error, method: incoming.method, url: incoming.url },
          'request failed unexpectedly',
        );
      }
      known = isTooDeep ? badRequest(messageOf(error)) : internalError(messageOf(error));
    }
    const { code, body } = known as ApiError;
    const encoded = encodeAnswer(
      world,
      { type: 'status', code, body },
      { accept: { ...JSON_ACCEPT, media: accept.media, pretty: accept.pretty }, query },
    );
    const retry = body.details?.retryAfterSeconds;
    return {
      type: 'bytes',
      ...encoded,
      ...(retry === undefined ? {} : { headers: { ...encoded.headers, 'retry-after': String(retry) } }),
    };
  }
}

function parsed(method: string, path: string, query: URLSearchParams): RequestInfo {
  try {
    return parseRequest(method, path, query);
  } catch (error) {
    if (error instanceof URIError) throw badRequest(`invalid URL escape in ${JSON.stringify(path)}`);
    throw error;
  }
}

function checkTimeout(query: URLSearchParams): void {
  const timeout = query.get('timeout');
  if (timeout === null || timeout === '' || timeout === '0') return;
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)/.test(timeout)) return;
  const why = /^[+-]?\d+(?:\.\d*)?$/.test(timeout) ? 'missing unit in duration' : 'invalid duration';
  throw badRequest(`invalid timeout specified in the request URL - time: ${why} ${JSON.stringify(timeout)}`);
}

const refOf = (
  info: RequestInfo,
  created: string | undefined,
): NonNullable<Parameters<AuditLog['record']>[0]['objectRef']> => {
  const name = info.name === '' ? created : info.name;
  return {
    resource: info.plural,
    ...(info.namespace === '' ? {} : { namespace: info.namespace }),
    ...(name === undefined ? {} : { name }),
    ...(info.group === '' ? {} : { apiGroup: info.group }),
    apiVersion: info.version,
    ...(info.subresource === '' ? {} : { subresource: info.subresource }),
  };
};

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;
