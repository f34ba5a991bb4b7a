/**
 * Creates the `default` service account and the ConfigMap with the certificate authority in every namespace; adds
 * tokens to Secrets that request one.
 */
import type { World } from '../api.ts';
import type { InternalClient } from '../internal.ts';
import { itemUrl } from '../internal.ts';
import { isObject } from '../types.ts';
import type { KubeObject } from '../types.ts';
import { KeyQueue } from './queue.ts';

interface Parts {
  readonly world: World;
  /** Writes service accounts. */
  readonly accounts: InternalClient;
  /** Writes the ConfigMap with the certificate. */
  readonly publisher: InternalClient;
  /** PEM. */
  readonly ca: string;
  /** A token without expiry for a service account, bound to the Secret that contains it. */
  readonly mint: (account: KubeObject, secret: KubeObject) => string;
}

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';
const TOKEN_TYPE = 'kubernetes.io/service-account-token';

export class ServiceAccountController {
  readonly #parts: Parts;
  readonly #queue: KeyQueue<string>;
  /** Keys of Secrets that request a token. */
  readonly #secrets: KeyQueue<string>;
  readonly #stop: () => void;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { store, clock, log } = parts.world;
    this.#queue = new KeyQueue({ run: (name) => this.#sync(name), textOf: (name) => name, clock, log });
    this.#secrets = new KeyQueue({ run: (key) => this.#fill(key), textOf: (key) => key, clock, log });
    const listener: Parameters<typeof store.listeners.add>[0] = (resource, change) => {
      if (resource.id === '/namespaces' && change.next) this.#queue.add(change.key);
      if (resource.id === '/secrets' && change.next?.obj['type'] === TOKEN_TYPE)
        this.#secrets.add(change.key);
      const isOurs = OURS.get(resource.id);
      if (isOurs !== undefined && change.next === undefined && change.key.endsWith(`/${isOurs}`))
        this.#queue.add(change.key.slice(0, change.key.indexOf('/')));
    };
    store.listeners.add(listener);
    this.#stop = () => store.listeners.delete(listener);
  }

  stop(): void {
    this.#stop();
    this.#queue.stop();
    this.#secrets.stop();
  }

  /** Processes all existing namespaces, once before the server is ready. */
  async settle(): Promise<void> {
    for (const name of [...this.#parts.world.store.resource('/namespaces').entries.keys()])
      await this.#sync(name);
  }

  async #sync(namespace: string): Promise<void> {
    const { world, accounts, publisher, ca } = this.#parts;
    const live = world.store.get('/namespaces', namespace)?.obj;
    if (live?.metadata.deletionTimestamp !== undefined || !live) return;
    const base = `/api/v1/namespaces/${namespace}`;
    if (!world.store.get('/serviceaccounts', `${namespace}/default`))
      await accounts.request('POST', `${base}/serviceaccounts`, { metadata: { name: 'default' } });
    if (ca !== '' && !world.store.get('/configmaps', `${namespace}/kube-root-ca.crt`))
      await publisher.request('POST', `${base}/configmaps`, {
        metadata: {
          name: 'kube-root-ca.crt',
          annotations: {
            'kubernetes.io/description':
              'Certificate of the authority that signs what the API server presents.',
          },
        },
        data: { 'ca.crt': ca },
      });
  }

  async #fill(key: string): Promise<void> {
    const { world, accounts, ca, mint } = this.#parts;
    const secret = world.store.get('/secrets', key)?.obj;
    const kind = world.registry.byResource('/secrets');
    if (!secret || !kind || (isObject(secret['data']) && secret['data']['token'] !== undefined)) return;
    const { namespace = '', annotations } = secret.metadata;
    const account = world.store.get(
      '/serviceaccounts',
      `${namespace}/${annotations?.[ACCOUNT_NAME] ?? ''}`,
    )?.obj;
    if (!account) return;
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    await accounts.request(
      'PATCH',
      itemUrl(kind, secret),
      {
        metadata: { annotations: { [ACCOUNT_UID]: account.metadata.uid } },
        data: { token: base64(mint(account, secret)), namespace: base64(namespace), 'ca.crt': base64(ca) },
      },
      'application/merge-patch+json',
    );
  }
}

const OURS: ReadonlyMap<string, string> = new Map([
  ['/serviceaccounts', 'default'],
  ['/configmaps', 'kube-root-ca.crt'],
]);
