/** How API servers reach a webhook server. Pure. */
import { trimmedEnd } from '../../lib/trim.ts';

/** The address for API servers: a Service of the cluster, or a URL. */
export type Endpoint =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: URL };

/** Names and addresses that the certificate must contain. */
export function hostsOf(endpoint: Endpoint): readonly string[] {
  if ('url' in endpoint) return [endpoint.url.hostname.replace(/^\[(.*)\]$/, '$1')];
  const { namespace, name } = endpoint.service;
  return [name, `${name}.${namespace}`, `${name}.${namespace}.svc`];
}

/** A `clientConfig` of Kubernetes. @param caBundle PEM */
export const clientConfig = (endpoint: Endpoint, path: string, caBundle: string): object => ({
  caBundle: Buffer.from(caBundle).toString('base64'),
  ...addressOf(endpoint, path),
});

function addressOf(endpoint: Endpoint, path: string): object {
  if ('service' in endpoint) return { service: { ...endpoint.service, path } };
  const url = new URL(endpoint.url);
  url.pathname = `${trimmedEnd(url.pathname, '/')}${path}`;
  return { url: url.href };
}

/** In a URL, port 0 stands for the port that the server got. */
export function withPort(endpoint: Endpoint, port: number): Endpoint {
  if (!('url' in endpoint) || endpoint.url.port !== '0') return endpoint;
  const url = new URL(endpoint.url);
  url.port = String(port);
  return { url };
}
