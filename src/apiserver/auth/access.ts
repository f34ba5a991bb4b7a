/** Authorization: the check for every request, and the review kinds. */
import type { Answer, Call, World } from '../api.ts';
import { decodeObject } from '../http/body.ts';
import { parseFieldSelector } from '../selectors/field-selectors.ts';
import * as field from '../schema/field-errors.ts';
import type { Kind } from '../kinds/kinds.ts';
import { isPublicPath } from '../http/pages.ts';
import { decide, rulesFor } from './rbac.ts';
import type { AccessAttributes, Decision } from './rbac.ts';
import type { RequestInfo } from '../http/routes.ts';
import { ApiError, invalid, resourceText } from '../status.ts';
import { userJson } from './token-request.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject, UserInfo } from '../types.ts';

export type AuthorizationMode = 'RBAC' | 'AlwaysAllow';

/** The access attributes of a request. */
function attributesOf(info: RequestInfo, query: URLSearchParams): AccessAttributes {
  return {
    isResource: info.isResource,
    verb: info.verb,
    group: info.group,
    resource: info.plural,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name === '' ? nameInSelector(info, query) : info.name,
    path: info.path,
  };
}

/** A list with a field selector for one name counts as access to that name. */
function nameInSelector(info: RequestInfo, query: URLSearchParams): string {
  if (info.verb !== 'list' && info.verb !== 'watch') return '';
  const text = query.get('fieldSelector') ?? '';
  if (!text.includes('metadata.name')) return '';
  try {
    return parseFieldSelector(text).exact('metadata.name') ?? '';
  } catch {
    return '';
  }
}

/** @throws ApiError 403 */
export function authorize(
  world: World,
  mode: AuthorizationMode,
  user: UserInfo,
  info: RequestInfo,
  query: URLSearchParams,
): void {
  if (!info.isResource && isPublicPath(info.path)) return;
  const wanted = attributesOf(info, query);
  if (check(world, mode, user, wanted).allowed) return;
  throw refusal(user, wanted);
}

export function check(
  world: World,
  mode: AuthorizationMode,
  user: UserInfo,
  wanted: AccessAttributes,
): Decision {
  if (mode === 'AlwaysAllow') return { allowed: !user.groups.includes('system:unauthenticated'), reason: '' };
  return decide(world.store, user, wanted);
}

export function refusal(user: UserInfo, wanted: AccessAttributes): ApiError {
  const who = `User ${JSON.stringify(user.username)} cannot ${wanted.verb}`;
  if (!wanted.isResource)
    return new ApiError(403, 'Forbidden', `forbidden: ${who} path ${JSON.stringify(wanted.path)}`, {});
  const { group, resource, subresource, namespace, name } = wanted;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const subject = `${resourceText({ group, plural: resource })}${name === '' ? '' : ` ${JSON.stringify(name)}`}`;
  return new ApiError(
    403,
    'Forbidden',
    `${subject} is forbidden: ${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`,
    { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  );
}

// ---------------------------------------------------------------- reviews

const created = (value: JsonObject): Answer => ({ type: 'document', code: 201, value });

/** Reviews differ in the user (self or another) and the namespace (local or not). */
export function accessReview(world: World, mode: AuthorizationMode, call: Call, kind: Kind): Answer {
  const { object } = decodeObject(call, kind, false);
  const spec: JsonObject = isObject(object['spec']) ? object['spec'] : {};
  const resource = isObject(spec['resourceAttributes']) ? spec['resourceAttributes'] : undefined;
  const path = isObject(spec['nonResourceAttributes']) ? spec['nonResourceAttributes'] : undefined;
  if ((resource === undefined) === (path === undefined))
    throw invalid(kind, '', [
      field.invalid(
        'spec.resourceAttributes',
        resource ?? null,
        resource === undefined
          ? 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
          : 'cannot be specified in combination with nonResourceAttributes',
      ),
    ]);
  const user = kind.kind === 'SelfSubjectAccessReview' ? call.user : subjectOf(spec);
  const text = (of: JsonObject | undefined, member: string): string => textOf(of?.[member]);
  const decision = check(world, mode, user, {
    isResource: resource !== undefined,
    verb: text(resource ?? path, 'verb'),
    group: text(resource, 'group'),
    resource: text(resource, 'resource'),
    subresource: text(resource, 'subresource'),
    namespace: text(resource, 'namespace'),
    name: text(resource, 'name'),
    path: text(path, 'path'),
  });
  const status = {
    allowed: decision.allowed,
    ...(decision.reason === '' ? {} : { reason: decision.reason }),
  };
  return created({ ...object, metadata: { creationTimestamp: null }, status });
}

const subjectOf = (spec: JsonObject): UserInfo => ({
  username: textOf(spec['user']),
  groups: Array.isArray(spec['groups']) ? (spec['groups'] as string[]) : [],
});

export function rulesReview(world: World, mode: AuthorizationMode, call: Call, kind: Kind): Answer {
  const { object } = decodeObject(call, kind, false);
  const spec: JsonObject = isObject(object['spec']) ? object['spec'] : {};
  const everything = [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ];
  const isAll = mode === 'AlwaysAllow' || call.user.groups.includes('system:masters');
  const rules = isAll ? everything : rulesFor(world.store, call.user, textOf(spec['namespace']));
  return created({
    ...object,
    metadata: { creationTimestamp: null },
    status: {
      resourceRules: rules.filter((rule) => 'resources' in rule),
      nonResourceRules: rules.filter((rule) => 'nonResourceURLs' in rule),
      incomplete: false,
    },
  });
}

export const selfReview = (call: Call, kind: Kind): Answer =>
  created({
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: { creationTimestamp: null },
    status: { userInfo: userJson(call.user) },
  });
