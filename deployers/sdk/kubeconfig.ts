/**
 * What a kubeconfig in a Target may contain. Files and commands would be those of the deployer's pod, so they are
 * rejected before anything else is done.
 */
import { exactJson } from '../../src/lib/exact-json.ts';
import { KUBECONFIG } from '../../src/lib/kubeconfig-strings.ts';
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import { YamlTooLarge } from '../../src/lib/yaml-error.ts';
import { parseBoundedYaml } from '../../src/lib/yaml-texts.ts';

const VALID = '[client-certificate-data client-key-data token username password]';

const filled = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  (!isObject(value) || Object.keys(value).length > 0);

/** Field of a user, its name in messages, and when it counts as set. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['client-certificate', 'client certificate files'],
  ['client-key', 'client key files'],
  ['tokenFile', 'token files'],
];
/** Commands that would be run for credentials, and the field that contains them. */
const PROGRAMS: readonly (readonly [string, string, string])[] = [
  ['exec', 'exec configurations', 'command'],
  ['auth-provider', 'auth provider configurations', 'name'],
];
const IMPERSONATION = ['as', 'as-uid', 'as-groups', 'as-user-extra'];

/**
 * A sentence about the first forbidden field in a kubeconfig of a target; undefined if there is none.
 * @param kubeconfig text or an object
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

/**
 * The kubeconfig in the content of a target: a field, or the content itself. One function for the check and for the
 * use, so that no other kubeconfig is used than the one that was checked.
 */
export const kubeconfigIn = (content: Fields): unknown => ownField(content, 'kubeconfig') ?? content;

/** The same for the whole content of a target, which is a kubeconfig or contains one. */
export const forbiddenInContent = (content: unknown): string | undefined =>
  isObject(content) ? forbiddenIn(kubeconfigIn(content)) : undefined;

function forbiddenUser(name: string, user: unknown): string | undefined {
  for (const [field, what] of FORBIDDEN) {
    if (!filled(ownField(user, field))) continue;
    return `${what} are not supported in a target kubeconfig (user "${name}"), the valid fields are: ${VALID}`;
  }
  for (const [field, what, named] of PROGRAMS) {
    const plugin = ownField(user, field);
    if (!filled(plugin)) continue;
    const program = textOf(ownField(plugin, named));
    const wayOut =
      program && `; ${program} would run beside the deployer, put a token into the kubeconfig instead`;
    return `${what} are not supported in a target kubeconfig (user "${name}"), the valid fields are: ${VALID}${wayOut}`;
  }
  if (IMPERSONATION.some((field) => filled(ownField(user, field)))) {
    return `impersonation is not supported in a target kubeconfig, the valid fields are: ${VALID}`;
  }
  return undefined;
}

function parsed(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: parseBoundedYaml(text, { strings: KUBECONFIG }) };
  } catch (error) {
    // Other messages of the parser may contain a part of the text, which has credentials.
    const why = error instanceof YamlTooLarge ? `is too large: ${error.message}` : 'is not valid YAML';
    return { problem: `the kubeconfig of the target ${why}` };
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

/** Whether the document contains a cluster, the minimum of a usable kubeconfig. */
export const namesCluster = (document: unknown): boolean => {
  const clusters = ownField(document, 'clusters');
  return Array.isArray(clusters) && clusters.length > 0;
};

/** Adds `current-context` to a kubeconfig with only one context. Any other text is returned unchanged. */
export function withCurrentContext(kubeconfig: string): string {
  const document = parsed(kubeconfig);
  if ('problem' in document || !isObject(document.value)) return kubeconfig;
  const { contexts, 'current-context': current } = document.value;
  if (filled(current) || !Array.isArray(contexts) || contexts.length !== 1) return kubeconfig;
  return JSON.stringify({ ...document.value, 'current-context': ownField(contexts[0], 'name') });
}

/** The kubeconfig as JSON: other programs may read YAML differently than the check. @throws YamlError */
export const asJson = (kubeconfig: string): string =>
  exactJson(parseBoundedYaml(kubeconfig, { strings: KUBECONFIG }));

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
