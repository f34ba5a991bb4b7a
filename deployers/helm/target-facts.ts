/** The facts about the target that templates can read: its version, the kinds it serves, and looked-up objects. */
import { append } from '../../src/lib/lists.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { sizeText } from '../../src/lib/sizes.ts';
import { NoSuchKind, NotFound } from '../../src/runtime/errors.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { knownApiVersions, type Capabilities } from '../../src/templating/helm/capabilities.ts';
import type { LookupKey } from '../../src/templating/helm/functions.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { KubeObject } from '../objects/manifests/model.ts';
import { kindFromCrds } from '../objects/manifests/order.ts';
import { inParallel } from '../objects/manifests/parallel.ts';
import type { LoadedChart } from './chart.ts';
import { configurationError, retryError } from './errors.ts';
import type { HelmContext } from './helm-context.ts';

/** Upstream's constant, used for every target. */
export const staticCapabilities: Capabilities = { kubeVersion: 'v1.20.0', apiVersions: knownApiVersions };

/** Keywords of templates that need facts about the target. A template with `APIVersions` also needs `Capabilities`. */
export const TARGET_KEYWORDS = ['Capabilities', 'APIVersions'] as const;

/** Of all API versions and kinds, in characters; a cluster with thousands of kinds has a tenth of it. */
const MAX_NAMES = 2 * 2 ** 20;
/** Versions are shorter; charts parse them. */
const MAX_VERSION = 256;

/** Limits what a job keeps of the lists of a tenant's server. */
class NameBudget {
  #left = MAX_NAMES;

  /** @throws ConfigurationError */
  admit(names: readonly string[]): readonly string[] {
    for (const name of names) this.#left -= name.length;
    if (this.#left >= 0) return names;
    const message = `the names of the API versions and kinds of the target have more than ${sizeText(MAX_NAMES)}; this limit is fixed`;
    throw configurationError('RenderHelmValues', message);
  }
}

/** Reading the kinds costs a request for each version of each group, so they are read only if a template uses them. */
export async function capabilitiesOf(
  { client }: KubeAccess,
  { keywords }: LoadedChart,
  { config, signal }: HelmContext,
): Promise<Capabilities> {
  // Values may contain templates, and exports contain paths.
  const given = JSON.stringify([config.values, config.exports]);
  const isAsked = (word: (typeof TARGET_KEYWORDS)[number]): boolean =>
    given.includes(word) || keywords.includes(word);
  const version = await client.raw('GET', '/version', undefined, signal);
  const git = ownField(version, 'gitVersion');
  const isVersion = typeof git === 'string' && git.length <= MAX_VERSION;
  const short = (key: string): string | undefined => {
    const value = ownField(version, key);
    return isVersion && typeof value === 'string' && value.length <= MAX_VERSION ? value : undefined;
  };
  const facts = {
    kubeVersion: isVersion ? git : staticCapabilities.kubeVersion,
    major: short('major'),
    minor: short('minor'),
  };
  if (!isAsked('Capabilities')) return { ...facts, apiVersions: knownApiVersions };
  const groups = ownField(await client.raw('GET', '/apis', undefined, signal), 'groups');
  const served = (Array.isArray(groups) ? groups : []).flatMap((group: unknown) => {
    const versions = ownField(group, 'versions');
    return (Array.isArray(versions) ? versions : []).map((v: unknown) => String(ownField(v, 'groupVersion')));
  });
  const budget = new NameBudget();
  const apiVersions = budget.admit(['v1', ...served]);
  if (!isAsked('APIVersions')) return { ...facts, apiVersions };
  const kinds = await inParallel(apiVersions, async (apiVersion) => {
    budget.admit([]); // no request after the limit is reached
    const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
    // If the server of an API group is down, rendering continues without the group.
    const list = await client.raw('GET', path, undefined, signal).catch(() => undefined);
    const resources = ownField(list, 'resources');
    return budget.admit(
      (Array.isArray(resources) ? resources : []).map(
        (resource: unknown) => `${apiVersion}/${String(ownField(resource, 'kind'))}`,
      ),
    );
  });
  return { ...facts, apiVersions: [...apiVersions, ...new Set(kinds.flat())] };
}

/** The CRDs of a chart, which are installed before its objects. */
type DefinitionsOf = () => Promise<readonly KubeObject[]>;

/**
 * Looks up an object or a list; undefined if it does not exist, or if the chart itself defines its kind. @throws RetryError
 * with the requested object and the server's error
 */
export const lookupFrom =
  (access: KubeAccess, signal: AbortSignal, definitions: DefinitionsOf) =>
  async ({ apiVersion, kind: name, namespace, name: object }: LookupKey): Promise<unknown> => {
    const what = `${apiVersion} ${name} ${namespace === '' ? '' : `${namespace}/`}${object}`.trim();
    try {
      const kind = await access.kindOf(apiVersion, name);
      const inNamespace = kind.namespaced && namespace !== '';
      if (object !== '')
        return await access.client.get(kind, inNamespace ? `${namespace}/${object}` : object, signal);
      const items: Obj[] = [];
      for await (const page of access.client.list(kind, inNamespace ? { namespace } : {}, signal)) {
        append(items, page.items as Obj[]);
      }
      return { apiVersion, kind: `${name}List`, metadata: {}, items };
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      if (signal.aborted) throw error;
      const isMissing = error instanceof NoSuchKind;
      if (isMissing && kindFromCrds(await definitions(), apiVersion, name)) return undefined;
      const why = isMissing ? 'the target has no such kind' : (error as Error).message;
      throw retryError('RenderHelmValues', `lookup of ${what}: ${why}`, error);
    }
  };

/** Whether a value is an object that a cluster could accept; other documents are not applied. */
export const isKubernetesObject = (document: unknown): boolean =>
  isObject(document) &&
  typeof document['apiVersion'] === 'string' &&
  document['apiVersion'] !== '' &&
  typeof document['kind'] === 'string' &&
  document['kind'] !== '';
