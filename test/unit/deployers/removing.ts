/** A test bench for a removal: a cluster in memory, and the requests and messages of the rounds. */
import type { DeployItem } from '../../../deployers/sdk/kinds.ts';
import { newProgress, removeRound, type RemovePorts } from '../../../deployers/objects/manifests/delete.ts';
import { defaultGroups } from '../../../deployers/objects/manifests/groups.ts';
import { ownershipOf } from '../../../deployers/objects/manifests/label.ts';
import type { ManagedResource } from '../../../deployers/objects/manifests/model.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Obj, View, Write } from '../../../src/runtime/types.ts';
import { configMap, LS } from './bench.ts';
import { FakeCluster } from './fake-cluster.ts';

export const ownership = ownershipOf({ name: 'web', namespace: 'proj' });
export const refusal = (status: number, message = 'no'): Error =>
  apiErrorFrom(status, { message }, { verb: 'delete', kind: 'ConfigMap' });
export const other = (name: string): View<DeployItem> => ({
  apiVersion: `${LS}/v1alpha1`,
  kind: 'DeployItem',
  metadata: { name, namespace: 'proj' },
  spec: { type: `${LS}/kubernetes-manifest` },
});
export const held = { finalizers: ['test/hold'] };

export class Removal {
  readonly cluster = new FakeCluster('app', 'late');
  /** The target `elsewhere`. */
  readonly elsewhere = new FakeCluster('app');
  readonly notes: string[] = [];
  readonly checkpoints: string[] = [];
  readonly sent: Write<Obj>[] = [];
  readonly life = new AbortController();
  /** The other items that manage the object with the uid. */
  others: (uid: string) => readonly View<DeployItem>[] = () => [];
  groups = defaultGroups;
  progress = newProgress();

  constructor() {
    const send = this.cluster.send.bind(this.cluster);
    this.cluster.send = (write) => {
      this.sent.push(write);
      return send(write);
    };
  }

  /** An object that the item created. */
  made(name: string, metadata: object = {}, more: Partial<ManagedResource> = {}): ManagedResource {
    const { uid = '' } = this.cluster.put(
      configMap(name, {}, { labels: ownership.labels, ...metadata }),
    ).metadata;
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'app' };
    return { policy: 'manage', ...more, resource: { ...ref, uid } };
  }

  /** A user deletes the object and creates another one of the same name. */
  anew(name: string, labels: Readonly<Record<string, string>> = {}): void {
    this.cluster.drop('ConfigMap', `app/${name}`);
    this.cluster.put(configMap(name, {}, { labels }));
  }

  refuse(verb: string, error: Error): void {
    this.cluster.fail = (asked) => {
      if (asked === verb) throw error;
    };
  }

  /** @returns the remaining objects, and why they remain */
  async round(...entries: readonly ManagedResource[]): Promise<readonly string[]> {
    const ports: RemovePorts = {
      access: this.cluster,
      ownership,
      groups: this.groups,
      log: silentLogger,
      signal: this.life.signal,
      progress: this.progress,
      secondary: (name) =>
        name === 'elsewhere' ? Promise.resolve(this.elsewhere) : Promise.reject(new Error('not needed')),
      alsoManagedBy: (uid) => this.others(uid),
      onLeftToOthers: (note) => this.notes.push(note),
      assertTimeLeft: (name) => this.checkpoints.push(name),
    };
    this.cluster.takeRequests();
    const { left } = await removeRound(entries, ports);
    return left.map(({ ref, why }) => `${ref.name}: ${why}`);
  }

  failure(...entries: readonly ManagedResource[]): Promise<unknown> {
    return this.round(...entries).catch((error: unknown) => error);
  }

  get there(): readonly string[] {
    return this.cluster.names('ConfigMap').map((key) => key.replace('app/', ''));
  }

  /** Writes of the last round. */
  get writes(): readonly string[] {
    return this.cluster.takeRequests().filter((request) => /^(create|replace|merge|delete)/.test(request));
  }
}

/** The reason for a remaining object. */
export const STAYS = 'it still exists, probably because of its finalizers';
