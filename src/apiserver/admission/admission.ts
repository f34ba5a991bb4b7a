/** Admission webhooks: which webhooks are called for a write, in which order, and how their responses are applied. */
import { append } from '../../lib/lists.ts';
import type { Admission, AdmissionRequest, World } from '../api.ts';
import { applyJsonPatch } from '../patch/patch.ts';
import { ApiError, internalError } from '../status.ts';
import { userJson } from '../auth/token-request.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { askWebhook, WebhookFailure } from './webhook-call.ts';
import type { WebhookAnswer } from './webhook-call.ts';
import { endpointOf, serviceNameOf, type Endpoint } from '../http/webhook-post.ts';
import { wantsRequest } from './webhook-match.ts';

const GROUP = 'admissionregistration.k8s.io';
const RESOURCES = {
  mutating: `${GROUP}/mutatingwebhookconfigurations`,
  validating: `${GROUP}/validatingwebhookconfigurations`,
} as const;

export class WebhookAdmission implements Admission {
  readonly #world: World;
  readonly #services: Readonly<Record<string, string>>;

  /**
   * @param services URLs of the services that webhooks reference, keyed by `namespace/name`, because there is no
   * cluster network
   */
  constructor(world: World, services: Readonly<Record<string, string>>) {
    this.#world = world;
    this.#services = services;
  }

  get active(): boolean {
    const { store } = this.#world;
    return (
      store.resource(RESOURCES.mutating).entries.size + store.resource(RESOURCES.validating).entries.size > 0
    );
  }

  async admit(request: AdmissionRequest): Promise<KubeObject | undefined> {
    const hooks = this.#hooks(request);
    if (hooks.length === 0) return undefined;
    if (request.phase === 'mutating') return this.#mutate(request, hooks);
    await Promise.all(hooks.map((hook) => this.#validate(request, hook)));
    return undefined;
  }

  /** Matching webhooks, sorted by the name of their configuration, then in its order. */
  #hooks(request: AdmissionRequest): JsonObject[] {
    const labels = this.#namespaceLabels(request);
    return this.#world.store
      .resource(RESOURCES[request.phase])
      .list('')
      .flatMap((entry) =>
        (Array.isArray(entry.obj['webhooks']) ? entry.obj['webhooks'] : []).filter(isObject),
      )
      .filter((hook) => wantsRequest(hook, request, labels));
  }

  #namespaceLabels({
    kind,
    namespace,
    object,
    oldObject,
  }: AdmissionRequest): Record<string, string> | undefined {
    if (kind.resource === '/namespaces') return (object ?? oldObject)?.metadata.labels ?? {};
    if (!kind.namespaced) return undefined;
    return this.#world.store.get('/namespaces', namespace)?.obj.metadata.labels ?? {};
  }

  async #mutate(request: AdmissionRequest, hooks: readonly JsonObject[]): Promise<KubeObject | undefined> {
    let object = request.object;
    let isChanged = false;
    const again: JsonObject[] = [];
    const round = async (each: readonly JsonObject[], isFirst: boolean): Promise<void> => {
      for (const hook of each) {
        const answer = await this.#ask({ ...request, object }, hook);
        if (!answer) continue;
        refuse(hook, answer);
        const patched = object && answer.patch !== undefined ? patch(hook, object, answer) : undefined;
        if (!patched) continue;
        object = patched;
        isChanged = true;
        // Webhooks that ran before this change are called again if they request it.
        if (isFirst)
          for (const earlier of each.slice(0, each.indexOf(hook)))
            if (earlier['reinvocationPolicy'] === 'IfNeeded' && !again.includes(earlier)) again.push(earlier);
      }
    };
    await round(hooks, true);
    if (again.length > 0) await round(again, false);
    return isChanged ? object : undefined;
  }

  async #validate(request: AdmissionRequest, hook: JsonObject): Promise<void> {
    const answer = await this.#ask(request, hook);
    if (!answer) return;
    if (answer.patch !== undefined) {
      if (hook['failurePolicy'] === 'Ignore') return;
      throw failure(
        hook,
        'received invalid webhook response: webhook returned response.patch which is not supported for validating webhooks',
      );
    }
    refuse(hook, answer);
  }

  /** undefined if the webhook failed and its failure policy is Ignore. */
  async #ask(request: AdmissionRequest, hook: JsonObject): Promise<WebhookAnswer | undefined> {
    const timeout = typeof hook['timeoutSeconds'] === 'number' ? hook['timeoutSeconds'] : 10;
    try {
      const endpoint = this.#endpoint(isObject(hook['clientConfig']) ? hook['clientConfig'] : {});
      const answer = await askWebhook(
        this.#world.clock,
        endpoint,
        reviewOf(this.#world.newUid(), request),
        timeout,
      );
      append(request.warnings, answer.warnings);
      return answer;
    } catch (error) {
      if (!(error instanceof WebhookFailure)) throw error;
      if (hook['failurePolicy'] === 'Ignore') {
        this.#world.log.warn({ err: error, webhook: hook['name'] }, 'webhook failed, ignored');
        return undefined;
      }
      throw failure(hook, error.message);
    }
  }

  #endpoint(config: JsonObject): Endpoint {
    const endpoint = endpointOf(config, this.#services);
    if (endpoint) return endpoint;
    const name = JSON.stringify(serviceNameOf(config));
    throw new WebhookFailure(`failed to call webhook: service ${name} not found`);
  }
}

const nameOf = (hook: JsonObject): string => textOf(hook['name']);

const failure = (hook: JsonObject, why: string): ApiError =>
  internalError(`failed calling webhook ${JSON.stringify(nameOf(hook))}: ${why}`);

/** @throws ApiError with the code and reason of the webhook, 400 by default */
function refuse(hook: JsonObject, answer: WebhookAnswer): void {
  if (answer.allowed) return;
  const { message, code, reason } = answer.status;
  const name = JSON.stringify(nameOf(hook));
  const text =
    typeof message === 'string' && message !== ''
      ? `admission webhook ${name} denied the request: ${message}`
      : typeof reason === 'string' && reason !== ''
        ? `admission webhook ${name} denied the request: ${reason}`
        : `admission webhook ${name} denied the request without explanation`;
  throw new ApiError(
    typeof code === 'number' && code !== 0 ? code : 400,
    typeof reason === 'string' && reason !== '' ? reason : undefined,
    text,
    isObject(answer.status['details']) ? answer.status['details'] : undefined,
  );
}

/** @throws ApiError 500 for a patch that cannot be applied */
function patch(hook: JsonObject, object: KubeObject, answer: WebhookAnswer): KubeObject {
  try {
    if (answer.patchType !== undefined && answer.patchType !== 'JSONPatch')
      throw new TypeError(`invalid patchType ${JSON.stringify(answer.patchType)}`);
    const operations: unknown = JSON.parse(Buffer.from(answer.patch ?? '', 'base64').toString('utf8'));
    return applyJsonPatch(object, operations);
  } catch (error) {
    throw failure(hook, `received invalid webhook response: ${(error as Error).message}`);
  }
}

function reviewOf(uid: string, request: AdmissionRequest): JsonObject {
  const { kind, operation, subresource, name, namespace, object, oldObject, user, dryRun, options } = request;
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const gvr = { group: kind.group, version: kind.version, resource: kind.plural };
  const sub = subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: gvk,
      resource: gvr,
      requestKind: gvk,
      requestResource: gvr,
      ...sub,
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: userJson(user),
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun,
      options,
    },
  };
}
