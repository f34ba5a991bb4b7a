/** A controller of rollouts: it applies a Deployment, waits until it is available, and reports if that takes too long. */
import {
  Deployment,
  generationChanged,
  or,
  type Expectation,
  type Kind,
  type Manager,
  type Obj,
  type Predicate,
  type View,
} from 'espalier/runtime';
import { addWorkflowController, kubernetes } from 'espalier/workflow';

export interface Rollout extends Obj {
  spec: { image: string; replicas: number };
  status?: { image?: string; phase?: 'Waiting' | 'Available' | 'Stuck' };
}

export const rollouts: Kind<Rollout> = {
  group: 'rollout.example.org',
  version: 'v1',
  kind: 'Rollout',
  plural: 'rollouts',
  namespaced: true,
};

const isAvailable = (server: View<Deployment> | undefined): boolean =>
  server !== undefined &&
  server.status?.observedGeneration === server.metadata.generation &&
  (server.status?.availableReplicas ?? 0) >= (server.spec?.replicas ?? 1);

const available: Expectation<Rollout> = {
  until: (_rollout, { secondary }) => isAvailable(secondary(Deployment)),
  timeoutMs: 600_000,
};

const availabilityChanged: Predicate<Deployment> = {
  update: (old, now) => isAvailable(old) !== isAvailable(now),
};

const server = kubernetes<Deployment, Rollout>({
  kind: Deployment,
  filter: or<Deployment>(generationChanged, availabilityChanged),
  desired({ metadata: { name }, spec }) {
    const labels = { rollout: name };
    const containers = [{ name: 'server', image: spec.image }];
    return {
      metadata: { name, labels },
      spec: {
        replicas: spec.replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    };
  },
});

export const addRollouts = (manager: Manager) =>
  addWorkflowController<Rollout>(manager, {
    name: 'rollouts',
    kind: rollouts,

    // Ten rollouts at once, and then one every 5 s, over all objects.
    totalLimit: { perSecond: 0.2, burst: 10 },

    workflow: { nodes: [{ use: server }] },
    reconciler: {
      async reconcile({ spec, status }, ctx) {
        const { expectations } = ctx;
        const isSame = status?.image === spec.image;
        if (!isSame || isAvailable(ctx.secondary(Deployment))) expectations.drop('available');
        const waited = expectations.resultOf('available');
        const object = ctx.draft();
        object.status = { image: spec.image, phase: 'Waiting' };
        if (isAvailable(ctx.secondary(Deployment))) object.status.phase = 'Available';
        else if (waited === 'timed out') object.status.phase = 'Stuck';
        else if (isSame && status?.phase === 'Stuck') object.status.phase = 'Stuck';
        else expectations.expect('available', available);
        return { write: 'status', object };
      },
    },
  });
