/**
 * A client for the server's own controllers: they write through the normal request path, with their own user names.
 */
import type { Handler } from './http/handler.ts';
import type { Kind } from './kinds/kinds.ts';
import type { JsonObject, KubeObject, UserInfo } from './types.ts';

interface InternalAnswer {
  readonly code: number;
  readonly body: JsonObject;
}

export class InternalClient {
  readonly #handler: Handler;
  readonly #user: UserInfo;
  readonly #userAgent: string;

  constructor(handler: Handler, user: UserInfo, userAgent: string) {
    this.#handler = handler;
    this.#user = user;
    this.#userAgent = userAgent;
  }

  async request(
    method: string,
    url: string,
    body?: object,
    contentType = 'application/json',
  ): Promise<InternalAnswer> {
    const outgoing = await this.#handler.handle({
      method,
      url,
      headers: { 'content-type': contentType, accept: 'application/json', 'user-agent': this.#userAgent },
      body: body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
      remote: '127.0.0.1',
      user: this.#user,
    });
    if (outgoing.type !== 'bytes') throw new TypeError('controllers do not watch through HTTP');
    const text = outgoing.body.toString('utf8');
    // Paths that are not served, such as those of a kind whose definition has just gone, are answered in plain text.
    const answer = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { message: text };
    return { code: outgoing.code, body: answer };
  }

  create(kind: Kind, object: JsonObject, namespace = ''): Promise<InternalAnswer> {
    return this.request('POST', collectionUrl(kind, namespace), object);
  }

  mergePatch(kind: Kind, object: KubeObject, patch: JsonObject, subresource = ''): Promise<InternalAnswer> {
    return this.request(
      'PATCH',
      itemUrl(kind, object) + (subresource === '' ? '' : `/${subresource}`),
      patch,
      'application/merge-patch+json',
    );
  }

  update(kind: Kind, object: KubeObject, subresource = ''): Promise<InternalAnswer> {
    return this.request('PUT', itemUrl(kind, object) + (subresource === '' ? '' : `/${subresource}`), object);
  }

  delete(kind: Kind, object: KubeObject, options: JsonObject = {}): Promise<InternalAnswer> {
    return this.request('DELETE', itemUrl(kind, object), options);
  }
}

export function collectionUrl(kind: Kind, namespace: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  return namespace === '' ? `${root}/${kind.plural}` : `${root}/namespaces/${namespace}/${kind.plural}`;
}

export const itemUrl = (kind: Kind, object: KubeObject): string =>
  `${collectionUrl(kind, kind.namespaced ? (object.metadata.namespace ?? '') : '')}/${encodeURIComponent(object.metadata.name)}`;
