/** Assembles the parts of a server: authentication, authorization, and handlers. No sockets. */
import { accessReview, authorize, rulesReview, selfReview } from './auth/access.ts';
import type { AuthorizationMode } from './auth/access.ts';
import { WebhookAdmission } from './admission/admission.ts';
import type { Answer, Call, World } from './api.ts';
import type { AuditLog } from './http/audit.ts';
import { ADMIN, Authenticator } from './auth/authn.ts';
import type { StaticUser } from './auth/authn.ts';
import type { Services } from './verbs/dispatch.ts';
import { Handler } from './http/handler.ts';
import type { Identity } from './auth/identity.ts';
import { impersonated } from './auth/impersonation.ts';
import type { Kind } from './kinds/kinds.ts';
import { pageAnswer } from './http/pages.ts';
import { subresourceHandlers } from './verbs/subresources.ts';
import type { TestHooks } from './test-hooks.ts';
import { tokenRequest, tokenReview } from './auth/token-request.ts';
import { TokenSigner } from './auth/tokens.ts';
import type { KubeObject } from './types.ts';

interface Parts {
  readonly world: World;
  readonly identity: Identity;
  readonly audit: AuditLog;
  readonly test: TestHooks;
  readonly mode: AuthorizationMode;
  readonly users: readonly StaticUser[];
  readonly anonymousIsAdmin: boolean;
  readonly isReady: () => boolean;
  /** URLs of services that webhooks reference, by `namespace/name`. */
  readonly services: Readonly<Record<string, string>>;
}

export interface Assembled {
  readonly handler: Handler;
  readonly authenticator: Authenticator;
  /** A token without expiry for a service account, bound to a Secret. */
  readonly mint: (account: KubeObject, secret: KubeObject) => string;
}

export function assemble(parts: Parts): Assembled {
  const { world, identity, audit, test, mode } = parts;
  const signer = new TokenSigner(() => identity.tokenKey());
  const verify = (token: string): ReturnType<TokenSigner['verify']> => {
    try {
      return signer.verify(token, world.store, world.clock.wall() / 1000);
    } catch {
      return undefined;
    }
  };
  const admin: StaticUser = { ...ADMIN, token: identity.adminToken };
  const authenticator = new Authenticator([admin, ...parts.users], (token) => verify(token)?.user);
  const admission = new WebhookAdmission(world, parts.services);
  const services: Services = {
    world,
    admission,
    subresources: subresourceHandlers(world, admission, (call, kind) =>
      Promise.resolve(tokenRequest(world, signer, call, kind)),
    ),
    virtual: virtualKinds(world, mode, (token) => {
      const found = verify(token);
      if (found) return found;
      const user = authenticator.byStaticToken(token);
      return user && { user, audiences: [] };
    }),
    page: (call) =>
      call.info.path === '/openid/v1/jwks'
        ? { type: 'document', code: 200, value: signer.keySet() }
        : pageAnswer(call, parts.isReady),
  };
  const handler = new Handler({
    services,
    authenticator,
    audit,
    ...(parts.anonymousIsAdmin ? { anonymous: ADMIN } : {}),
    impersonate: (user, headers) => impersonated(world, mode, user, headers),
    authorize: (user, info, query) => {
      authorize(world, mode, user, info, query);
    },
    sabotage: (method, info) => test.sabotage(method, info),
  });
  const mint: Assembled['mint'] = (account, secret) =>
    signer.sign({
      account,
      audiences: [world.issuer],
      issuedAt: Math.floor(world.clock.wall() / 1000),
      id: world.newUid(),
      issuer: 'kubernetes/serviceaccount',
      bound: { kind: 'secret', name: secret.metadata.name, uid: secret.metadata.uid ?? '' },
    });
  return { handler, authenticator, mint };
}

type VirtualHandler = (call: Call, kind: Kind) => Answer;

function virtualKinds(
  world: World,
  mode: AuthorizationMode,
  authenticate: Parameters<typeof tokenReview>[1],
): ReadonlyMap<string, VirtualHandler> {
  const review: VirtualHandler = (call, kind) => accessReview(world, mode, call, kind);
  return new Map<string, VirtualHandler>([
    ['authorization.k8s.io/selfsubjectaccessreviews', review],
    ['authorization.k8s.io/subjectaccessreviews', review],
    ['authorization.k8s.io/localsubjectaccessreviews', review],
    ['authorization.k8s.io/selfsubjectrulesreviews', (call, kind) => rulesReview(world, mode, call, kind)],
    ['authentication.k8s.io/selfsubjectreviews', (call, kind) => selfReview(call, kind)],
    ['authentication.k8s.io/tokenreviews', (call, kind) => tokenReview(world, authenticate, call, kind)],
  ]);
}
