/** `serviceaccounts/token` and TokenReview: creates and validates tokens. */
import { table } from '../../lib/objects.ts';
import type { Answer, Call, World } from '../api.ts';
import { decodeObject } from '../http/body.ts';
import * as field from '../schema/field-errors.ts';
import type { Kind } from '../kinds/kinds.ts';
import { badRequest, invalid, methodNotAllowed, notFound } from '../status.ts';
import type { BoundObject, TokenSigner } from './tokens.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject, UserInfo } from '../types.ts';

const REQUEST = {
  group: 'authentication.k8s.io',
  version: 'v1',
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
} as const;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

/** POST serviceaccounts/NAME/token. */
export function tokenRequest(world: World, signer: TokenSigner, call: Call, kind: Kind): Answer {
  if (call.method !== 'POST') throw methodNotAllowed();
  const { object } = decodeObject(call, { ...kind, ...REQUEST }, false);
  const { namespace, name } = call.info;
  const account = world.store.get(kind.resource, `${namespace}/${name}`)?.obj;
  if (!account) throw notFound(kind, name);
  const spec: JsonObject = isObject(object['spec']) ? object['spec'] : {};
  const seconds = typeof spec['expirationSeconds'] === 'number' ? spec['expirationSeconds'] : 3600;
  checkExpiration(seconds);
  const given = Array.isArray(spec['audiences']) ? (spec['audiences'] as string[]) : [];
  const audiences = given.length > 0 ? given : [world.issuer];
  const bound = boundObject(world, namespace, spec['boundObjectRef']);
  const issuedAt = Math.floor(world.clock.wall() / 1000);
  const expiresAt = issuedAt + seconds;
  const token = signer.sign({
    account,
    audiences,
    issuedAt,
    expiresAt,
    id: world.newUid(),
    issuer: world.issuer,
    ...(bound ? { bound } : {}),
  });
  return {
    type: 'document',
    code: 201,
    value: {
      kind: REQUEST.kind,
      apiVersion: REQUEST.apiVersion,
      metadata: { name, namespace, creationTimestamp: iso(issuedAt) },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec['boundObjectRef'] ?? null },
      status: { token, expirationTimestamp: iso(expiresAt) },
    },
  };
}

const iso = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;

function checkExpiration(seconds: number): void {
  const why =
    seconds < MIN_SECONDS
      ? 'may not specify a duration less than 10 minutes'
      : seconds > MAX_SECONDS
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (why !== undefined) throw invalid(REQUEST, '', [field.invalid('spec.expirationSeconds', seconds, why)]);
}

const BINDABLE: Readonly<Record<string, 'pod' | 'secret'>> = table({ Pod: 'pod', Secret: 'secret' });

function boundObject(world: World, namespace: string, ref: unknown): BoundObject | undefined {
  if (!isObject(ref)) return undefined;
  const word = BINDABLE[String(ref['kind'])];
  if (!word)
    throw badRequest(`cannot bind token for serviceaccount to object of type ${String(ref['kind'])}`);
  const name = textOf(ref['name']);
  const found = world.store.get(`/${word}s`, `${namespace}/${name}`)?.obj;
  if (!found) throw notFound({ group: '', plural: `${word}s`, kind: String(ref['kind']) }, name);
  return { kind: word, name, uid: found.metadata.uid ?? '' };
}

/**
 * POST tokenreviews. @param authenticate validates any credential that the server accepts; undefined if it is
 * invalid
 */
export function tokenReview(
  world: World,
  authenticate: (token: string) => { user: UserInfo; audiences: readonly string[] } | undefined,
  call: Call,
  kind: Kind,
): Answer {
  const { object } = decodeObject(call, kind, false);
  const spec: JsonObject = isObject(object['spec']) ? object['spec'] : {};
  const found = authenticate(textOf(spec['token']));
  const wanted = Array.isArray(spec['audiences']) ? (spec['audiences'] as string[]) : [];
  const audiences = found?.audiences.filter((a) => wanted.length === 0 || wanted.includes(a)) ?? [];
  const isGood =
    found !== undefined && (wanted.length === 0 || audiences.length > 0 || found.audiences.length === 0);
  return {
    type: 'document',
    code: 201,
    value: {
      ...object,
      metadata: { creationTimestamp: null },
      status: isGood
        ? {
            authenticated: true,
            user: userJson(found.user),
            audiences: audiences.length > 0 ? audiences : [world.issuer],
          }
        : { user: {}, error: 'invalid bearer token' },
    },
  };
}

export const userJson = (user: UserInfo): JsonObject => ({
  username: user.username,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: user.groups,
  ...(user.extra && Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
});
