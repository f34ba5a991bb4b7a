/** The operator: a ConfigMap, a Deployment and a Service for each Skeleton. */
import { ConfigMap, Deployment, Service, type Manager, type View } from 'espalier/runtime';
import { addWorkflowController, kubernetes } from 'espalier/workflow';
import { skeletons, type Skeleton } from './kind.ts';

const labels = { 'app.kubernetes.io/managed-by': 'skeleton-operator' };
const selector = 'app.kubernetes.io/managed-by=skeleton-operator';
const metadataOf = ({ metadata }: View<Skeleton>) => ({ name: metadata.name, labels });
const podLabels = ({ metadata }: View<Skeleton>) => ({ 'example.org/skeleton': metadata.name });

const message = kubernetes<ConfigMap, Skeleton>({
  kind: ConfigMap,
  selector,
  desired: (primary) => ({
    metadata: metadataOf(primary),
    data: { 'index.html': primary.spec.message },
  }),
});

const server = kubernetes<Deployment, Skeleton>({
  kind: Deployment,
  selector,
  desired: (primary) => ({
    metadata: metadataOf(primary),
    spec: {
      replicas: primary.spec.replicas,
      selector: { matchLabels: podLabels(primary) },
      template: {
        metadata: { labels: podLabels(primary) },
        spec: {
          containers: [
            {
              name: 'server',
              image: 'nginx:1.29',
              ports: [{ containerPort: 80 }],
              volumeMounts: [{ name: 'message', mountPath: '/usr/share/nginx/html' }],
            },
          ],
          volumes: [{ name: 'message', configMap: { name: primary.metadata.name } }],
        },
      },
    },
  }),
});

const service = kubernetes<Service, Skeleton>({
  kind: Service,
  selector,
  desired: (primary) => ({
    metadata: metadataOf(primary),
    spec: { selector: podLabels(primary), ports: [{ port: primary.spec.port, targetPort: 80 }] },
  }),
});

const isReady = (primary: View<Skeleton>, deployment: View<Deployment> | undefined): boolean =>
  deployment !== undefined && (deployment.status?.availableReplicas ?? 0) >= primary.spec.replicas;

/** Adds the controller to a manager. */
export const addController = (manager: Manager) =>
  addWorkflowController<Skeleton>(manager, {
    name: 'skeletons',
    kind: skeletons,
    workflow: {
      nodes: [{ use: message }, { use: server, dependsOn: [message] }, { use: service }],
    },
    reconciler: {
      async reconcile(primary, ctx) {
        const status = { ready: isReady(primary, ctx.secondary(Deployment)) };
        return { write: 'status', object: { ...ctx.draft(), status } };
      },
      async onError(primary, ctx, error) {
        const status = { ...primary.status, ready: false, error: String(error) };
        return { retry: true, status: { ...ctx.draft(), status } };
      },
    },
  });
