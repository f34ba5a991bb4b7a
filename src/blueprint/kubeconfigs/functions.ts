/** The template functions that return kubeconfigs, on plain JSON values; each engine wraps them. */
import { isObject, ownField } from '../../lib/objects.ts';
import { withOidcLogin } from './document.ts';
import { KubeconfigProblem } from './errors.ts';
import { keyOf, KubeconfigNeeded, type Issued, type IssuedByKey, type KubeconfigRequest } from './request.ts';

export const kubeconfigFunctionNames = [
  'getShootAdminKubeconfig',
  'getShootAdminKubeconfigWithExpirationTimestamp',
  'getServiceAccountKubeconfig',
  'getServiceAccountKubeconfigWithExpirationTimestamp',
  'getOidcKubeconfig',
] as const;
type KubeconfigFunctionName = (typeof kubeconfigFunctionNames)[number];

export interface ExpiringKubeconfig {
  /** Text in base64. */
  readonly kubeconfig: string;
  /** Unix time in seconds. */
  readonly expirationTimestamp: bigint;
  /** RFC 3339. */
  readonly expirationTimestampReadable: string;
}

/**
 * Arguments as the template passes them, as JSON. @throws KubeconfigProblem with a message for users; KubeconfigNeeded
 */
type KubeconfigFunctions = Readonly<
  Record<KubeconfigFunctionName, (args: readonly unknown[]) => string | ExpiringKubeconfig>
>;

/** What a call requests, for messages. Calls for a service account are named after the token, as upstream does. */
interface Words {
  readonly kind: 'shoot' | 'account';
  readonly called: string;
  readonly subject: string;
  readonly target: string;
}
const SHOOT: Words = {
  kind: 'shoot',
  called: 'getShootAdminKubeconfig',
  subject: 'shoot',
  target: 'target for garden project',
};
const ACCOUNT: Words = {
  kind: 'account',
  called: 'getServiceAccountToken',
  subject: 'service account',
  target: 'target',
};

/** @param issued undefined if there is no cluster: the functions fail with a message about it */
export function kubeconfigFunctions(issued: IssuedByKey | undefined): KubeconfigFunctions {
  const answer = (request: KubeconfigRequest): Exclude<Issued, { readonly problem: string }> => {
    if (!issued) {
      throw new KubeconfigProblem(
        'this kubeconfig comes from a cluster, and rendering does not call clusters',
      );
    }
    const found = issued[keyOf(request)];
    if (!found) throw new KubeconfigNeeded(request);
    if ('problem' in found) throw new KubeconfigProblem(found.problem);
    return found;
  };
  const plain = (words: Words) => (args: readonly unknown[]) => answer(requestFrom(words, args)).kubeconfig;
  const expiring = (words: Words) => (args: readonly unknown[]) => {
    const { kubeconfig, expirationTimestamp } = answer(requestFrom(words, args));
    const ms = Date.parse(expirationTimestamp ?? '');
    if (Number.isNaN(ms)) {
      throw new KubeconfigProblem('the response of the cluster has no expiration time for the kubeconfig');
    }
    const seconds = Math.floor(ms / 1000);
    return {
      kubeconfig,
      expirationTimestamp: BigInt(seconds),
      expirationTimestampReadable: `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`,
    };
  };
  return {
    getShootAdminKubeconfig: plain(SHOOT),
    getShootAdminKubeconfigWithExpirationTimestamp: expiring(SHOOT),
    getServiceAccountKubeconfig: plain(ACCOUNT),
    getServiceAccountKubeconfigWithExpirationTimestamp: expiring(ACCOUNT),
    getOidcKubeconfig(args) {
      const [issuer, client, target] = args;
      const called = 'getOidcKubeconfig';
      if (args.length !== 3) throw wrong(called, '3 arguments: issuer url, client id, and target');
      if (typeof issuer !== 'string') throw wrong(called, 'a string as 1st argument, the issuer url');
      if (typeof client !== 'string') throw wrong(called, 'a string as 2nd argument, the client id');
      const own = ownKubeconfig(targetOf(target, called, '3rd'), answer);
      return withOidcLogin(own, issuer, client);
    },
  };
}

/** A kubeconfig in the target itself does not have to be requested. */
function ownKubeconfig(
  target: unknown,
  answer: (request: KubeconfigRequest) => { kubeconfig: string },
): string {
  const inline = ownField(ownField(ownField(target, 'spec'), 'config'), 'kubeconfig');
  if (typeof inline === 'string') return inline;
  const request: KubeconfigRequest = { kind: 'own', name: '', namespace: '', expirationSeconds: 0, target };
  return Buffer.from(answer(request).kubeconfig, 'base64').toString('utf8');
}

function requestFrom({ kind, called, subject, target }: Words, args: readonly unknown[]): KubeconfigRequest {
  const [name, namespace, seconds, object] = args;
  if (args.length !== 4) {
    throw wrong(
      called,
      `4 arguments: ${subject} name, ${subject} namespace, expiration seconds, and ${target}`,
    );
  }
  if (typeof name !== 'string') throw wrong(called, `a string as 1st argument, the ${subject} name`);
  if (typeof namespace !== 'string') {
    throw wrong(called, `a string as 2nd argument, the ${subject} namespace`);
  }
  for (const [what, text] of [
    ['name', name],
    ['namespace', namespace],
  ] as const) {
    // They become parts of a URL.
    if (!DNS_NAME.test(text))
      throw wrong(called, `a ${subject} ${what} of lower-case letters, digits, "-" and "."`);
  }
  if (typeof seconds !== 'number' && typeof seconds !== 'bigint') {
    throw wrong(
      called,
      `an integer as 3rd argument, the expiration seconds: unsupported type ${typeof seconds}`,
    );
  }
  return {
    kind,
    name,
    namespace,
    expirationSeconds: Math.trunc(Number(seconds)),
    target: targetOf(object, called, '4th'),
  };
}

const DNS_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

function targetOf(value: unknown, called: string, position: string): unknown {
  if (!isObject(value) || !isObject(value['spec'])) {
    throw wrong(
      called,
      `a target object as ${position} argument, but the value has no spec; pass the whole import`,
    );
  }
  const { metadata, spec } = value;
  const { name, namespace } = isObject(metadata) ? metadata : {};
  return { metadata: { name: name ?? '', namespace: namespace ?? '' }, spec };
}

const wrong = (called: string, expected: string): KubeconfigProblem =>
  new KubeconfigProblem(`templating function ${called} expects ${expected}`);
