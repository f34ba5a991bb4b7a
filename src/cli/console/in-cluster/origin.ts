/** The address of the console as the browser sees it. */
import type { FastifyRequest } from 'fastify';
import type { TLSSocket } from 'node:tls';
import { Refused } from '../access.ts';
import { hostNameIn, isLoopback } from '../guard.ts';

export interface OriginRules {
  /** Names under which browsers reach the console, in lower case; loopback names are always allowed. */
  readonly allowedHosts: readonly string[];
  /** An ingress in front of the console overwrites X-Forwarded-Proto and appends to X-Forwarded-For. */
  readonly trustsForwardedHeaders: boolean;
}

type Incoming = Pick<FastifyRequest, 'headers' | 'raw'>;

/** @throws Refused for a host that is not allowed: the name of another site may lead here (DNS rebinding) */
export function originFor(request: Incoming, rules: OriginRules): string {
  const host = request.headers.host ?? '';
  const isKnown = isLoopback(host) || rules.allowedHosts.includes(hostNameIn(host));
  const origin = `${isSecure(request, rules) ? 'https' : 'http'}://${host}`;
  if (isKnown && URL.canParse(origin)) return origin;
  throw new Refused(403, `the host "${host}" is not allowed; add it to the allowed hosts of the console`);
}

const isSecure = ({ headers, raw }: Incoming, { trustsForwardedHeaders }: OriginRules): boolean =>
  (raw.socket as Partial<TLSSocket>).encrypted === true ||
  (trustsForwardedHeaders && lastOf(headers['x-forwarded-proto']) === 'https');

/** The address of the client, for limits and the log. */
export const addressOf = ({ headers, raw }: Incoming, { trustsForwardedHeaders }: OriginRules): string =>
  (trustsForwardedHeaders ? lastOf(headers['x-forwarded-for']) : undefined) ?? raw.socket.remoteAddress ?? '';

/** Earlier entries are from the client. */
function lastOf(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : header?.join(',');
  return text?.split(',').at(-1)?.trim();
}
