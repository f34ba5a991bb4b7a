/** Serves the HTML of a WebPage: a ConfigMap, a Deployment and a Service, and an Ingress if the page requests one. */
import {
  ConfigMap,
  Deployment,
  Ingress,
  Service,
  type Kind,
  type Manager,
  type Obj,
  type View,
} from 'espalier/runtime';
import { addWorkflowController, kubernetes, type Condition } from 'espalier/workflow';

export interface WebPage extends Obj {
  spec: { html: string; exposed?: boolean };
  status?: { configMap?: string; ready?: boolean; error?: string };
}

export const webPages: Kind<WebPage> = {
  group: 'example.org',
  version: 'v1',
  kind: 'WebPage',
  plural: 'webpages',
  namespaced: true,
};

const selector = 'app.kubernetes.io/managed-by=webpage-operator';
const named = (page: View<WebPage>) => ({
  metadata: { name: page.metadata.name, labels: { 'app.kubernetes.io/managed-by': 'webpage-operator' } },
});

const html = kubernetes<ConfigMap, WebPage>({
  kind: ConfigMap,
  selector,
  desired: (page) => ({ ...named(page), data: { 'index.html': page.spec.html } }),
});

const server = kubernetes<Deployment, WebPage>({
  kind: Deployment,
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

const service = kubernetes<Service, WebPage>({
  kind: Service,
  selector,
  desired: (page) => ({
    ...named(page),
    spec: { selector: { page: page.metadata.name }, ports: [{ port: 80 }] },
  }),
});

const ingress = kubernetes<Ingress, WebPage>({
  kind: Ingress,
  selector,
  desired(page) {
    const backend = { service: { name: page.metadata.name, port: { number: 80 } } };
    const path = { path: `/${page.metadata.name}`, pathType: 'Prefix', backend };
    return { ...named(page), spec: { rules: [{ http: { paths: [path] } }] } };
  },
});

const isExposed: Condition<WebPage> = (_node, page) => page.spec.exposed === true;
const isAvailable = (deployment: View<Deployment> | undefined): boolean =>
  (deployment?.status?.availableReplicas ?? 0) > 0;

export interface WebPageOptions {
  /** Whether the cluster has an Ingress controller; without one, Ingresses are neither created nor watched. Default true. */
  readonly hasIngress?: boolean;
}

/** Adds the web page controller to a manager. */
export const addWebPages = (manager: Manager, { hasIngress = true }: WebPageOptions = {}) =>
  addWorkflowController<WebPage>(manager, {
    name: 'webpages',
    kind: webPages,
    workflow: {
      explicit: true,
      nodes: [
        { use: html },
        { use: server, dependsOn: [html] },
        { use: service, dependsOn: [html] },
        { use: ingress, dependsOn: [service], active: () => hasIngress, when: isExposed },
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
        object.status = { ready: isAvailable(ctx.secondary(Deployment)) };
        const configMap = ctx.secondary(ConfigMap)?.metadata.name;
        if (configMap) object.status.configMap = configMap;
        return { write: 'status', object };
      },
      onError(_page, ctx, error) {
        const status = { ...ctx.draft(), status: { error: String(error) } };
        return Promise.resolve({ retry: true, status });
      },
    },
  });
