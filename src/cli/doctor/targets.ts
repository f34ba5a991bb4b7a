/** What is wrong with the access to a target: credentials that have expired, and a cluster that does not answer. */
import { X509Certificate } from 'node:crypto';
import { KUBECONFIG } from '../../lib/kubeconfig-strings.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { parseYaml } from '../../lib/yaml.ts';
import type { Finding } from './findable.ts';

/** The access to one target, as it was tried. */
export interface TriedTarget {
  readonly name: string;
  readonly namespace: string;
  readonly credentials: readonly Credential[];
  /** Why its cluster cannot be used; undefined if it answers. */
  readonly problem: string | undefined;
}

interface Credential {
  /** `token`, `client certificate` */
  readonly what: string;
  readonly user: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The credentials of a kubeconfig whose end can be read; empty if the text is not a kubeconfig. */
export function credentialsIn(kubeconfig: string): readonly Credential[] {
  const users = ownField(parsed(kubeconfig), 'users');
  return (Array.isArray(users) ? users : []).flatMap((entry: unknown) => {
    const name = ownField(entry, 'name');
    const user = typeof name === 'string' ? name : '';
    const body = ownField(entry, 'user');
    return [
      ...dated('token', user, endOfToken(ownField(body, 'token'))),
      ...dated('client certificate', user, endOfCertificate(ownField(body, 'client-certificate-data'))),
    ];
  });
}

export function targetFindings(tried: readonly TriedTarget[], now: number): readonly Finding[] {
  return tried.flatMap(({ name, namespace, credentials, problem }) => {
    const object = `Target ${namespace}/${name}`;
    const command = `kubectl describe target ${name} -n ${namespace}`;
    const expired = credentials
      .filter(({ until }) => until <= now)
      .map(({ what, user, until }) => ({
        check: 'expired-credential',
        object,
        evidence: `the ${what} of user "${user}" expired at ${new Date(until).toISOString()}`,
        risk: 'none; the command only shows the target. Its deploy items fail until it has new credentials',
        command,
      }));
    if (expired.length > 0 || problem === undefined) return expired;
    const risk =
      'none; the command only shows the target. This machine may lack a network that the deployers have';
    return [{ check: 'unreachable-target', object, evidence: problem, risk, command }];
  });
}

const dated = (what: string, user: string, until: number | undefined): readonly Credential[] =>
  until === undefined ? [] : [{ what, user, until }];

/** Of a JSON Web Token; undefined for a token of another form. */
function endOfToken(token: unknown): number | undefined {
  if (typeof token !== 'string') return undefined;
  const claims = parsed(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const seconds = ownField(claims, 'exp');
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

function endOfCertificate(base64: unknown): number | undefined {
  if (typeof base64 !== 'string' || base64 === '') return undefined;
  try {
    return Date.parse(new X509Certificate(Buffer.from(base64, 'base64')).validTo);
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    const value = parseYaml(text, { strings: KUBECONFIG });
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
