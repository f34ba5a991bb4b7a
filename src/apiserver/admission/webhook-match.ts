/** Which webhooks match a request. Pure. */
import type { AdmissionRequest } from '../api.ts';
import type { LabelSelector } from '../selectors/selectors.ts';
import { labelSelectorOf } from '../selectors/selectors.ts';
import { isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';

const EXEMPT: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/validatingwebhookconfigurations',
  'admissionregistration.k8s.io/mutatingwebhookconfigurations',
]);

const listOf = (object: JsonObject, member: string): string[] =>
  Array.isArray(object[member]) ? (object[member] as string[]) : [];

const has = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value);

/** @param namespaceLabels of the request's namespace; undefined for cluster-scoped objects, which no selector excludes */
export function wantsRequest(
  hook: JsonObject,
  request: AdmissionRequest,
  namespaceLabels: Readonly<Record<string, string>> | undefined,
): boolean {
  if (EXEMPT.has(request.kind.resource)) return false;
  const rules = (Array.isArray(hook['rules']) ? hook['rules'] : []).filter(isObject);
  if (!rules.some((rule) => ruleMatches(rule, request))) return false;
  if (namespaceLabels && !labelSelectorOf(hook['namespaceSelector'] ?? {}).matches(namespaceLabels))
    return false;
  const selector = labelSelectorOf(hook['objectSelector'] ?? {});
  return (
    matchesObject(selector, request.object) ||
    matchesObject(selector, request.oldObject) ||
    isNothing(request, selector)
  );
}

const matchesObject = (selector: LabelSelector, object: KubeObject | undefined): boolean =>
  object !== undefined && selector.matches(object.metadata.labels);

const isNothing = (request: AdmissionRequest, selector: LabelSelector): boolean =>
  request.object === undefined && request.oldObject === undefined && selector.isEmpty;

function ruleMatches(rule: JsonObject, { kind, operation, subresource }: AdmissionRequest): boolean {
  const scope = rule['scope'] ?? '*';
  if (scope === 'Namespaced' && !kind.namespaced) return false;
  if (scope === 'Cluster' && kind.namespaced) return false;
  return (
    has(listOf(rule, 'operations'), operation) &&
    has(listOf(rule, 'apiGroups'), kind.group) &&
    has(listOf(rule, 'apiVersions'), kind.version) &&
    listOf(rule, 'resources').some((resource) => resourceMatches(resource, kind.plural, subresource))
  );
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const [wanted = '', sub = ''] = pattern.split('/');
  if (wanted !== '*' && wanted !== plural) return false;
  return sub === '*' || sub === subresource;
}
