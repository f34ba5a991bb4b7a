/**
 * What a kubeconfig inside a Target may contain. Files and commands would be those of the deployer's own pod, so they are
 * refused before anything is done.
 */
import { isObject, ownField } from '../../src/lib/objects.ts';
import { parseYaml } from '../../src/lib/yaml.ts';

const VALID = '[client-certificate-data client-key-data token username password]';

const filled = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  (!isObject(value) || Object.keys(value).length > 0);

/** Field of a user, what to call it, and when it counts as set. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['client-certificate', 'client certificate files'],
  ['client-key', 'client key files'],
  ['tokenFile', 'token files'],
  ['exec', 'exec configurations'],
];
const IMPERSONATION = ['as', 'as-uid', 'as-groups', 'as-user-extra'];

/**
 * The first thing in a kubeconfig that a target must not contain, as a sentence; undefined when all is well.
 * @param kubeconfig text or already an object
 */
export function forbiddenIn(kubeconfig: unknown): string | undefined {
  const document = typeof kubeconfig === 'string' ? parsed(kubeconfig) : { value: kubeconfig };
  if ('problem' in document) return document.problem;
  for (const { name, body } of entries(document.value, 'users', 'user')) {
    const problem = forbiddenUser(name, body);
    if (problem) return problem;
  }
  for (const { name, body } of entries(document.value, 'clusters', 'cluster')) {
    if (filled(ownField(body, 'certificate-authority'))) {
      return `certificate authority files are not supported in a target kubeconfig (cluster "${name}"), use certificate-authority-data`;
    }
  }
  return undefined;
}

function forbiddenUser(name: string, user: unknown): string | undefined {
  for (const [field, what] of FORBIDDEN) {
    if (!filled(ownField(user, field))) continue;
    return `${what} are not supported in a target kubeconfig (user "${name}"), the valid fields are: ${VALID}`;
  }
  if (filled(ownField(ownField(user, 'auth-provider'), 'config'))) {
    return `auth provider configurations are not supported in a target kubeconfig (user "${name}"), the valid fields are: ${VALID}`;
  }
  if (IMPERSONATION.some((field) => filled(ownField(user, field)))) {
    return `impersonation is not supported in a target kubeconfig, the valid fields are: ${VALID}`;
  }
  return undefined;
}

function parsed(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: parseYaml(text) };
  } catch {
    // The parser's own message may quote the text, which holds credentials.
    return { problem: 'the kubeconfig of the target is not valid YAML' };
  }
}

function entries(document: unknown, list: string, field: string): { name: string; body: unknown }[] {
  const all = ownField(document, list);
  if (!Array.isArray(all)) return [];
  return all.map((entry: unknown) => ({
    name: textOf(ownField(entry, 'name')),
    body: ownField(entry, field),
  }));
}

/** Whether the document names a cluster, the least a kubeconfig needs to be usable. */
export const namesCluster = (document: unknown): boolean => {
  const clusters = ownField(document, 'clusters');
  return Array.isArray(clusters) && clusters.length > 0;
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
