/** Serves the HTML of a WebPage: a ConfigMap, a Deployment and a Service, and an Ingress if the page requests one. */
import type { Kind, Manager, Obj, View } from 'espalier/runtime';
import { addOperator, kubernetes, type Condition } from 'espalier/workflow';

export interface WebPage extends Obj {
  spec: { html: string; exposed?: boolean };
  status?: { configMap?: string; ready?: boolean; error?: string };
}

type Fields = Obj & Record<string, unknown>;
const group = 'example.org';
export const webPages: Kind<WebPage> = {
  ...{ group, version: 'v1', kind: 'WebPage', plural: 'webpages' },
  namespaced: true,
};
const kindOf = (of: string, kind: string, plural: string): Kind<Fields> => ({
  ...{ group: of, version: 'v1', kind, plural },
  namespaced: true,
});
export const configMaps = kindOf('', 'ConfigMap', 'configmaps');
export const deployments = kindOf('apps', 'Deployment', 'deployments');
export const services = kindOf('', 'Service', 'services');
export const ingresses = kindOf('networking.k8s.io', 'Ingress', 'ingresses');

const selector = 'app.kubernetes.io/managed-by=webpage-operator';
const named = (page: View<WebPage>) => ({
  metadata: { name: page.metadata.name, labels: { 'app.kubernetes.io/managed-by': 'webpage-operator' } },
});

const html = kubernetes<Fields, WebPage>({
  kind: configMaps,
  selector,
  desired: (page) => ({ ...named(page), data: { 'index.html': page.spec.html } }),
});

const server = kubernetes<Fields, WebPage>({
  kind: deployments,
  selector,
  desired: (page) => `
metadata:
  name: ${page.metadata.name}
  labels: { app.kubernetes.io/managed-by: webpage-operator }
spec:
  selector: { matchLabels: { page: ${page.metadata.name} } }
  template:
    metadata: { labels: { page: ${page.metadata.name} } }
    spec:
      containers:
        - name: nginx
          image: nginx:1.29
          ports: [{ containerPort: 80 }]
          volumeMounts: [{ name: html, mountPath: /usr/share/nginx/html }]
      volumes: [{ name: html, configMap: { name: ${page.metadata.name} } }]
`,
});

const service = kubernetes<Fields, WebPage>({
  kind: services,
  selector,
  desired: (page) => ({
    ...named(page),
    spec: { selector: { page: page.metadata.name }, ports: [{ port: 80 }] },
  }),
});

const ingress = kubernetes<Fields, WebPage>({
  kind: ingresses,
  selector,
  desired(page) {
    const backend = { service: { name: page.metadata.name, port: { number: 80 } } };
    const path = { path: `/${page.metadata.name}`, pathType: 'Prefix', backend };
    return { ...named(page), spec: { rules: [{ http: { paths: [path] } }] } };
  },
});

const isExposed: Condition<WebPage> = (_node, page) => page.spec.exposed === true;
const isAvailable = (deployment: unknown): boolean =>
  ((deployment as { status?: { availableReplicas?: number } }).status?.availableReplicas ?? 0) > 0;

export interface WebPageOptions {
  /**
   * Whether the cluster has an Ingress controller; without one, Ingresses are neither created nor watched. Default
   * true.
   */
  readonly hasIngress?: boolean;
}

/** Adds the web page controller to a manager. */
export const addWebPages = (manager: Manager, { hasIngress = true }: WebPageOptions = {}) =>
  addOperator<WebPage>(manager, {
    name: 'webpages',
    kind: webPages,
    workflow: {
      explicit: true,
      nodes: [
        { use: html },
        { use: server, dependsOn: ['configMap'] },
        { use: service, dependsOn: ['configMap'] },
        { use: ingress, dependsOn: ['service'], active: () => hasIngress, when: isExposed },
      ],
    },
    reconciler: {
      async reconcile(page, ctx) {
        const object = ctx.draft();
        if (!/<\/html>\s*$/.test(page.spec.html)) {
          object.status = { error: 'spec.html does not end with </html>' };
          return { write: 'status', object };
        }
        await ctx.workflow.reconcile();
        const deployment = ctx.secondary(deployments);
        object.status = { ready: isAvailable(deployment ?? {}) };
        const configMap = ctx.secondary(configMaps)?.metadata.name;
        if (configMap) object.status.configMap = configMap;
        return { write: 'status', object };
      },
      onError(_page, ctx, error) {
        const status = { ...ctx.draft(), status: { error: String(error) } };
        return Promise.resolve({ retry: true, status });
      },
    },
  });
