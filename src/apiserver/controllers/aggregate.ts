/** ClusterRoles that combine the rules of others, by their labels. */
import type { World } from '../api.ts';
import type { InternalClient } from '../internal.ts';
import { labelSelectorOf } from '../selectors/selectors.ts';
import type { Change, Resource } from '../store/storage.ts';
import { equalJson, isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { KeyQueue } from './queue.ts';

const CLUSTER_ROLES = 'rbac.authorization.k8s.io/clusterroles';

export class RoleAggregation {
  readonly #world: World;
  readonly #client: InternalClient;
  readonly #queue: KeyQueue<string>;
  readonly #listener: (resource: Resource, change: Change) => void;

  constructor(world: World, client: InternalClient) {
    this.#world = world;
    this.#client = client;
    const { clock, log } = world;
    this.#queue = new KeyQueue({ run: (name) => this.#sync(name), textOf: (name) => name, clock, log });
    this.#listener = (resource) => {
      if (resource.id === CLUSTER_ROLES) this.#enqueueAll();
    };
    world.store.listeners.add(this.#listener);
  }

  stop(): void {
    this.#world.store.listeners.delete(this.#listener);
    this.#queue.stop();
  }

  /** Updates all roles; repeated, because aggregated roles may be aggregated again. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round++) for (const name of this.#gatherers()) await this.#sync(name);
  }

  #gatherers(): string[] {
    return [...this.#world.store.resource(CLUSTER_ROLES).entries.values()]
      .filter((entry) => isObject(entry.obj['aggregationRule']))
      .map((entry) => entry.key);
  }

  #enqueueAll(): void {
    for (const name of this.#gatherers()) this.#queue.add(name);
  }

  async #sync(name: string): Promise<void> {
    const live = this.#world.store.get(CLUSTER_ROLES, name)?.obj;
    const kind = this.#world.registry.byResource(CLUSTER_ROLES);
    if (!live || !kind || !isObject(live['aggregationRule'])) return;
    const rules = this.#gather(live, live['aggregationRule']);
    if (equalJson(rules, live['rules'] ?? [])) return;
    await this.#client.mergePatch(kind, live, { rules });
  }

  #gather(self: KubeObject, rule: JsonObject): JsonObject[] {
    const selectors = (Array.isArray(rule['clusterRoleSelectors']) ? rule['clusterRoleSelectors'] : []).map(
      labelSelectorOf,
    );
    const rules: JsonObject[] = [];
    for (const { obj } of this.#world.store.resource(CLUSTER_ROLES).list('')) {
      if (obj.metadata.name === self.metadata.name) continue;
      if (!selectors.some((selector) => selector.matches(obj.metadata.labels))) continue;
      for (const each of (obj['rules'] ?? []) as JsonObject[])
        if (!rules.some((known) => equalJson(known, each))) rules.push(each);
    }
    return rules;
  }
}
