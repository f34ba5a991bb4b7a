/**
 * Simulated workloads, which become ready although nothing runs them: pods are assigned to an imaginary node and
 * succeed, and their owners count them. Each object is handled when it changes, and its next state is written.
 */
import { table } from '../../lib/objects.ts';
import type { World } from '../api.ts';
import type { InternalClient } from '../internal.ts';
import type { Change, OwnedRef, Resource } from '../store/storage.ts';
import { KeyQueue } from './queue.ts';
import { simulateDaemonSet } from './simulate-daemonset.ts';
import { simulateDeployment } from './simulate-deployment.ts';
import { simulateJob } from './simulate-job.ts';
import { createNode, simulatePod } from './simulate-pod.ts';
import { simulateReplicaSet, simulateStatefulSet } from './simulate-sets.ts';
import type { Simulator } from './simulator.ts';
import { Workbench } from './simulator.ts';

const SIMULATORS: Readonly<Record<string, Simulator>> = table({
  '/pods': simulatePod,
  'apps/deployments': simulateDeployment,
  'apps/replicasets': simulateReplicaSet,
  'apps/statefulsets': simulateStatefulSet,
  'apps/daemonsets': simulateDaemonSet,
  'batch/jobs': simulateJob,
});

export class WorkloadSimulation {
  readonly #world: World;
  readonly #bench: Workbench;
  readonly #queue: KeyQueue<OwnedRef>;
  readonly #listener: (resource: Resource, change: Change) => void;

  /** @param manager writes workloads @param kubelet writes pods and nodes */
  constructor(world: World, manager: InternalClient, kubelet: InternalClient) {
    this.#world = world;
    this.#queue = new KeyQueue({
      run: (ref) => this.#sync(ref),
      textOf: (ref) => `${ref.resource} ${ref.key}`,
      clock: world.clock,
      log: world.log,
    });
    this.#bench = new Workbench(world, manager, kubelet);
    this.#listener = (resource, change) => {
      if (resource.id in SIMULATORS) this.#queue.add({ resource: resource.id, key: change.key });
      if (!change.next) this.#bench.forget(change.prev?.obj.metadata.uid ?? '');
      const owners = (change.next ?? change.prev)?.obj.metadata.ownerReferences ?? [];
      for (const owner of owners) {
        const ref = world.store.byUid(owner.uid);
        if (ref && ref.resource in SIMULATORS) this.#queue.add(ref);
      }
    };
    world.store.listeners.add(this.#listener);
    for (const resource of Object.keys(SIMULATORS))
      for (const key of world.store.resource(resource).entries.keys()) this.#queue.add({ resource, key });
  }

  /** Creates the imaginary node. */
  async settle(): Promise<void> {
    await createNode(this.#bench);
  }

  stop(): void {
    this.#world.store.listeners.delete(this.#listener);
    this.#queue.stop();
  }

  async #sync(ref: OwnedRef): Promise<void> {
    const live = this.#world.store.get(ref.resource, ref.key)?.obj;
    const simulator = SIMULATORS[ref.resource];
    if (!live || !simulator) return;
    const again = await simulator(this.#bench, live);
    if (again !== undefined) this.#queue.addAfter(ref, again);
  }
}
