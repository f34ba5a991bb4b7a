/** Two clusters, the one with the TargetSync and its source, and what a user does in both. */
import { targetKind, type Target } from '../../../src/api/kinds/target.ts';
import { targetSyncKind, type TargetSync } from '../../../src/api/kinds/targetsync.ts';
import { API_VERSION, annotations } from '../../../src/api/labels.ts';
import { startApiServer, type ApiServer } from '../../../src/apiserver/server.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { shootKind } from '../../../src/landscape/source-cluster.ts';
import { namespaceKind, secretKind, type Secret } from '../../../src/landscape/world.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { NotFound } from '../../../src/runtime/errors.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client, Kind, Obj, View } from '../../../src/runtime/types.ts';
import type { Scene } from '../../support/scene.ts';
import { eventually } from '../../support/waiting.ts';

export const RECONCILE = { [annotations.operation]: 'reconcile' };

export interface Source {
  readonly server: ApiServer;
  readonly client: Client;
  readonly kubeconfig: string;
  /** A new namespace. */
  place(): Promise<Place>;
  close(): Promise<void>;
}

/** A cluster of its own. */
export async function startSource(): Promise<Source> {
  const server = await startApiServer({ listen: { tls: false } });
  const { kubeconfig } = server;
  const access = {
    kubeconfig: { text: kubeconfig },
    userAgent: 'test',
    clock: systemClock,
    log: silentLogger,
  };
  const client = createClient(await connect(access));
  let places = 0;
  return {
    server,
    client,
    kubeconfig,
    async place() {
      const name = `clusters-${String(++places)}`;
      const object = { apiVersion: 'v1', kind: 'Namespace' as const, metadata: { name } };
      await client.send({ verb: 'create', kind: namespaceKind, object });
      return new Place(client, name);
    },
    async close() {
      await client.close();
      await server.close();
    },
  };
}

/** Makes a cluster serve shoots, as far as reading them is concerned. */
export async function serveShoots({ client }: Source): Promise<void> {
  const { group, version, plural } = shootKind;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await client.raw('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind: shootKind.kind, plural, singular: 'shoot' },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  const list = (): Promise<unknown> => client.raw('GET', `/apis/${group}/${version}/${plural}`);
  await eventually('shoots are served', () => list().catch(() => undefined));
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What a user does in one namespace of a cluster. */
export class Place {
  readonly client: Client;
  readonly namespace: string;

  constructor(client: Client, namespace: string) {
    this.client = client;
    this.namespace = namespace;
  }

  async secret(name: string, entries: Readonly<Record<string, string>>, more: object = {}): Promise<void> {
    const data = Object.fromEntries(Object.entries(entries).map(([key, text]) => [key, base64(text)]));
    const metadata = { name, namespace: this.namespace };
    const object = { apiVersion: 'v1', kind: 'Secret' as const, metadata, type: 'Opaque', data, ...more };
    await this.client.send({ verb: 'create', kind: secretKind, object });
  }

  async change(kind: Kind, name: string, body: object): Promise<void> {
    await this.client.send({ verb: 'merge', kind, key: `${this.namespace}/${name}`, body });
  }

  setEntry(name: string, key: string, text: string): Promise<void> {
    return this.change(secretKind, name, { data: { [key]: base64(text) } });
  }

  async remove(kind: Kind, name: string): Promise<void> {
    await this.client.send({ verb: 'delete', kind, key: `${this.namespace}/${name}` });
  }

  async find<T extends Obj>(kind: Kind<T>, name: string): Promise<T | undefined> {
    return this.client.get(kind, `${this.namespace}/${name}`).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
  }

  /** An entry of a secret as a string. */
  async entry(name: string, key: string): Promise<string | undefined> {
    const data = (await this.find<Secret>(secretKind, name))?.data?.[key];
    return data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');
  }

  async names(kind: Kind): Promise<string[]> {
    const names: string[] = [];
    for await (const page of this.client.list(kind, { namespace: this.namespace })) {
      names.push(...page.items.map(({ metadata }) => metadata.name));
    }
    return names.sort();
  }

  targets(): Promise<string[]> {
    return this.names(targetKind);
  }
  secrets(): Promise<string[]> {
    return this.names(secretKind);
  }
  target(name: string): Promise<Target | undefined> {
    return this.find(targetKind, name);
  }
}

/** TargetSyncs of a scene. */
export class Syncs {
  readonly #scene: Scene;
  readonly #source: Place;

  constructor(scene: Scene, source: Place) {
    this.#scene = scene;
    this.#source = source;
  }

  get(name: string): View<TargetSync> | undefined {
    return this.#scene.cluster.world.targetSyncs.get(`${this.#scene.ns}/${name}`);
  }

  async create(name: string, spec: Partial<TargetSync['spec']>): Promise<void> {
    const object: TargetSync = {
      apiVersion: API_VERSION,
      kind: 'TargetSync',
      metadata: { name, namespace: this.#scene.ns, annotations: RECONCILE },
      spec: {
        sourceNamespace: this.#source.namespace,
        secretRef: { name: 'source-access', key: 'kubeconfig' },
        ...spec,
      },
    };
    await this.#scene.cluster.client.send({ verb: 'create', kind: targetSyncKind, object });
  }

  /** Waits for the end of a requested reconcile. */
  passed(name: string): Promise<View<TargetSync>> {
    return this.#scene.until(`the pass of ${name} that was asked for has ended`, () => {
      const sync = this.get(name);
      const isAsked = sync?.metadata.annotations?.[annotations.operation] !== undefined;
      return sync?.status?.lastUpdateTime && !isAsked ? sync : undefined;
    });
  }

  /** Requests a reconcile and waits for its end. */
  async again(name: string, more: Readonly<Record<string, string>> = {}): Promise<View<TargetSync>> {
    const asked = await this.#scene.annotate(targetSyncKind, name, { ...RECONCILE, ...more });
    await this.#scene.until('the wish is seen', () => this.isAt(name, asked.metadata.resourceVersion ?? ''));
    return this.passed(name);
  }

  isAt(name: string, version: string): boolean {
    return Number(this.get(name)?.metadata.resourceVersion ?? 0) >= Number(version);
  }

  complains(name: string, about: RegExp): Promise<View<TargetSync>> {
    return this.#scene.until(`${name} complains about ${about.source}`, () => {
      const sync = this.get(name);
      return sync?.status?.lastErrors?.some((error) => about.test(error)) ? sync : undefined;
    });
  }

  content(name: string): Promise<View<TargetSync>> {
    return this.#scene.until(`${name} is content`, () => {
      const sync = this.get(name);
      return sync?.status?.lastUpdateTime && !sync.status.lastErrors?.length ? sync : undefined;
    });
  }

  async delete(name: string): Promise<void> {
    await this.#scene.remove(targetSyncKind, name);
    await this.#scene.until(`${name} is gone`, () => !this.get(name));
  }
}
