/** Impersonation of another user, for users with the permission. */
import type { World } from '../api.ts';
import { check, refusal } from './access.ts';
import type { AuthorizationMode } from './access.ts';
import { authenticated } from './authn.ts';
import type { AccessAttributes } from './rbac.ts';
import { internalError } from '../status.ts';
import type { UserInfo } from '../types.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const EXTRA = 'impersonate-extra-';
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : value.split(/,\s*/);

/**
 * The user that a request impersonates; undefined if it does not impersonate.
 * @throws ApiError 403 if the requester may not, 500 for a request that names no user
 */
export function impersonated(
  world: World,
  mode: AuthorizationMode,
  user: UserInfo,
  headers: Headers,
): UserInfo | undefined {
  const name = listOf(headers['impersonate-user'])[0] ?? '';
  const groups = listOf(headers['impersonate-group']);
  const extras = Object.entries(headers).filter(([header]) => header.startsWith(EXTRA));
  if (name === '') {
    if (groups.length > 0 || extras.length > 0 || headers['impersonate-uid'] !== undefined)
      throw internalError(
        `requested [${groups.map((g) => `{Group  ${g}    }`).join(' ')}] without impersonating a user`,
      );
    return undefined;
  }
  const account = ACCOUNT.exec(name);
  if (account)
    demand(world, mode, user, {
      resource: 'serviceaccounts',
      namespace: account[1] ?? '',
      name: account[2] ?? '',
    });
  else demand(world, mode, user, { resource: 'users', name });
  for (const group of groups) demand(world, mode, user, { resource: 'groups', name: group });
  const extra: Record<string, string[]> = {};
  for (const [header, value] of extras) {
    const key = decodeURIComponent(header.slice(EXTRA.length));
    extra[key] = listOf(value);
    for (const each of extra[key])
      demand(world, mode, user, {
        group: 'authentication.k8s.io',
        resource: 'userextras',
        subresource: key,
        name: each,
      });
  }
  const own = account ? ['system:serviceaccounts', `system:serviceaccounts:${account[1] ?? ''}`] : [];
  const acting: UserInfo = {
    username: name,
    groups: groups.length > 0 ? groups : own,
    ...(extras.length > 0 ? { extra } : {}),
  };
  return name === 'system:anonymous'
    ? { ...acting, groups: [...acting.groups, 'system:unauthenticated'] }
    : authenticated(acting);
}

function demand(
  world: World,
  mode: AuthorizationMode,
  user: UserInfo,
  what: Partial<AccessAttributes>,
): void {
  const wanted: AccessAttributes = {
    isResource: true,
    verb: 'impersonate',
    group: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
    path: '',
    ...what,
  };
  if (!check(world, mode, user, wanted).allowed) throw refusal(user, wanted);
}
