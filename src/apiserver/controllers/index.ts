/** The simulated controllers: starts and stops them together. */
import type { World } from '../api.ts';
import type { Handler } from '../http/handler.ts';
import { InternalClient } from '../internal.ts';
import type { KubeObject } from '../types.ts';
import { RoleAggregation } from './aggregate.ts';
import { EventExpiry } from './event-expiry.ts';
import { GarbageCollector } from './garbage.ts';
import { NamespaceController } from './namespace.ts';
import { ServiceAccountController } from './service-account.ts';
import { WorkloadSimulation } from './simulate.ts';

export type ControllerName = 'namespace' | 'garbage' | 'serviceAccount' | 'aggregation' | 'eventExpiry';

export interface Controllers {
  stop(): void;
}

/** @param ca PEM, published in every namespace; empty for a server without TLS */
export async function startControllers(parts: {
  readonly world: World;
  readonly handler: Handler;
  readonly ca: string;
  /** Signs the tokens that Secrets request. */
  readonly mint: (account: KubeObject, secret: KubeObject) => string;
  readonly enabled: Partial<Record<ControllerName, boolean>>;
  /** Makes workloads ready although nothing runs. */
  readonly simulate: boolean;
}): Promise<Controllers> {
  const { world, handler, ca, enabled } = parts;
  const client = (name: string): InternalClient =>
    new InternalClient(
      handler,
      {
        username: `system:serviceaccount:kube-system:${name}`,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
      },
      `kube-controller-manager/v1.34.0 (espalier) kubernetes/0000000/system:serviceaccount:kube-system:${name}`,
    );
  const isOn = (name: ControllerName): boolean => enabled[name] !== false;
  const running: { stop(): void }[] = [];
  if (isOn('serviceAccount')) {
    const controller = new ServiceAccountController({
      world,
      accounts: client('service-account-controller'),
      publisher: client('root-ca-cert-publisher'),
      ca,
      mint: parts.mint,
    });
    await controller.settle();
    running.push(controller);
  }
  if (isOn('aggregation')) {
    const controller = new RoleAggregation(world, client('clusterrole-aggregation-controller'));
    await controller.settle();
    running.push(controller);
  }
  if (isOn('garbage')) running.push(new GarbageCollector(world, client('generic-garbage-collector')));
  if (isOn('namespace')) running.push(new NamespaceController(world, client('namespace-controller')));
  if (isOn('eventExpiry')) running.push(new EventExpiry(world));
  if (parts.simulate) {
    const plain = (name: string): InternalClient =>
      new InternalClient(handler, { username: `system:${name}`, groups: ['system:authenticated'] }, name);
    const simulation = new WorkloadSimulation(world, plain('kube-controller-manager'), plain('kubelet'));
    await simulation.settle();
    running.push(simulation);
  }
  return {
    stop() {
      for (const controller of running) controller.stop();
    },
  };
}
