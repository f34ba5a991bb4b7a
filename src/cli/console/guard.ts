/**
 * Who may use the console: requests to a loopback name (against DNS rebinding), from its own pages (against forged
 * requests), with the cookie of a session.
 */
import { table } from '../../lib/objects.ts';
import { randomBytes, timingSafeEqual, createHash } from 'node:crypto';

/** Sent with every response. Scripts and styles come only from the console itself. */
export const securityHeaders: Readonly<Record<string, string>> = table({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
});

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether the Host header names this server by a loopback name. */
export const isOwnHost = (host: string | undefined, port: number): boolean =>
  LOOPBACK.some((name) => host === `${name}:${String(port)}`);

/** Whether a Host header contains a loopback name, with any port. */
export const isLoopback = (host: string): boolean => LOOPBACK.includes(hostNameIn(host));

/** A Host header without its port, in lower case. */
export const hostNameIn = (host: string): string => host.toLowerCase().replace(/:\d+$/, '');

export interface Sessions {
  /** A token that can be exchanged until the server stops. */
  readonly token: string;
  /** A token that can be exchanged once: other users of the machine may see the arguments of the browser. */
  createOnceToken(): string;
  /** The session's secret for a valid token; undefined for any other. */
  exchange(token: string): string | undefined;
  isValid(secret: string | undefined): boolean;
}

/** 256 random bits. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

export function createSessions(): Sessions {
  const token = newSecret();
  const secret = newSecret();
  const once = new Set<string>();
  return {
    token,
    createOnceToken() {
      const created = newSecret();
      once.add(created);
      return created;
    },
    exchange: (given) => (isSame(given, token) || once.delete(given) ? secret : undefined),
    isValid: (given) => given !== undefined && isSame(given, secret),
  };
}

/** Takes the same time for all wrong values. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
export const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * The header Set-Cookie. Cookies are shared by all ports of a host, so a name without the prefix `__Host-` contains the port.
 */
export const sessionCookie = (name: string, secret: string): string =>
  `${name}=${secret}; Path=/; HttpOnly; SameSite=Strict${secureFor(name)}`;

/** The header Set-Cookie that removes the cookie. */
export const endedCookie = (name: string): string => `${sessionCookie(name, '')}; Max-Age=0`;

/** Browsers accept the prefix only from a secure origin. */
const secureFor = (name: string): string => (name.startsWith('__Host-') ? '; Secure' : '');

/** The session's secret in a Cookie header. */
export function secretIn(header: string | undefined, name: string): string | undefined {
  const start = `${name}=`;
  const found = (header ?? '').split('; ').find((cookie) => cookie.startsWith(start));
  return found?.slice(start.length);
}
