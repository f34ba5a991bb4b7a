/** Applies manifests to a cluster in memory, and returns the requests and messages. */
import { applyAll, resolveKinds, type ApplyResult } from '../../../deployers/objects/manifests/apply.ts';
import { ownershipOf } from '../../../deployers/objects/manifests/label.ts';
import type {
  ManagedResource,
  Manifest,
  Policy,
  Strategy,
} from '../../../deployers/objects/manifests/model.ts';
import { applyOne, type Applied, type ApplyPorts } from '../../../deployers/objects/manifests/object.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Obj, Write } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';
import { configMap } from './bench.ts';
import { FakeCluster } from './fake-cluster.ts';

export const ownership = ownershipOf({ name: 'web', namespace: 'proj' });
export const answer = (status: number, message = 'no'): Error =>
  apiErrorFrom(status, { message }, { verb: 'create', kind: 'ConfigMap' });
export const mine = (policy: Policy = 'manage', more: Partial<Manifest> = {}): Manifest => ({
  policy,
  object: configMap('one', { a: 'new' }),
  ...more,
});
export const entry = (uid: string): ManagedResource => ({
  resource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', namespace: 'app', uid },
});

export class Applying {
  readonly clock = new FakeClock();
  readonly cluster = new FakeCluster('app');
  readonly warnings: string[] = [];
  readonly sent: Write<Obj>[] = [];
  readonly life = new AbortController();
  strategy: Strategy = 'update';

  constructor() {
    const send = this.cluster.send.bind(this.cluster);
    this.cluster.send = (write) => {
      this.sent.push(write);
      return send(write);
    };
  }

  get ports(): ApplyPorts {
    return {
      access: this.cluster,
      ownership,
      strategy: this.strategy,
      targetName: 'cluster-a',
      fieldManager: 'm',
      clock: this.clock,
      signal: this.life.signal,
      mask: (text: string) => text,
      warn: (reason, note) => this.warnings.push(`${reason}: ${note}`),
    };
  }

  refuse(errors: Readonly<Record<string, Error>>): void {
    this.cluster.fail = (verb) => {
      const error = errors[verb];
      if (error) throw error;
    };
  }

  async one(manifest: Manifest, known?: ManagedResource): Promise<Applied> {
    const [p] = await resolveKinds([manifest], this.cluster, 'cluster-a');
    if (!p) throw new Error('no manifest was resolved');
    this.cluster.takeRequests();
    return applyOne(p, known, this.ports);
  }

  failure(manifest: Manifest, known?: ManagedResource): Promise<unknown> {
    return this.one(manifest, known).catch((error: unknown) => error);
  }

  async all(manifests: readonly Manifest[], old: readonly ManagedResource[] = []): Promise<ApplyResult> {
    return applyAll(await resolveKinds(manifests, this.cluster, 'cluster-a'), old, this.ports);
  }

  get requests(): readonly string[] {
    return this.cluster.takeRequests().map((request) => request.split(' ')[0] ?? '');
  }

  get live() {
    return this.cluster.find('ConfigMap', 'app/one');
  }
}
