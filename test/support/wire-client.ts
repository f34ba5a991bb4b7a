/**
 * A bare HTTP client for an API server, for tests about the protocol: statuses and warnings are results, nothing
 * throws.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { parseYaml } from '../../src/lib/yaml.ts';

/** A JSON object of the server; tests read its fields freely. */
export type Json = Record<string, any>;

export interface Answer {
  readonly status: number;
  /** The texts of the Warning headers. */
  readonly warnings: readonly string[];
  readonly body: Json;
}

export interface WireClient {
  /** @param type media type of the body; default JSON */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; type?: string; accept?: string },
  ): Promise<Answer>;
  close(): Promise<void>;
}

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly { name: string; context: { cluster: string; user?: string } }[];
  readonly clusters: readonly { name: string; cluster: Record<string, string> }[];
  readonly users?: readonly { name: string; user: Record<string, string> }[];
}

/** A client for the current context of a kubeconfig file: tokens and certificates, inline or in files. */
export function wireClient(kubeconfigFile: string): WireClient {
  const config = parseYaml(readFileSync(kubeconfigFile, 'utf8')) as Kubeconfig;
  const current = config.contexts.find(({ name }) => name === config['current-context'])?.context;
  const cluster = config.clusters.find(({ name }) => name === current?.cluster)?.cluster ?? {};
  const user = config.users?.find(({ name }) => name === current?.user)?.user ?? {};
  const material = (from: Record<string, string>, name: string): string | undefined => {
    const inline = from[`${name}-data`];
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    return from[name] === undefined ? undefined : readFileSync(from[name], 'utf8');
  };
  const ca = material(cluster, 'certificate-authority');
  const cert = material(user, 'client-certificate');
  const key = material(user, 'client-key');
  const agent = new Agent({ connect: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } });
  const headers = user['token'] ? { authorization: `Bearer ${user['token']}` } : {};

  return {
    async call(method, path, { body, type = 'application/json', accept = 'application/json' } = {}) {
      const response = await request(`${cluster['server']}${path}`, {
        method: method as 'GET',
        dispatcher: agent,
        headers: { ...headers, accept, ...(body !== undefined && { 'content-type': type }) },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.body.text();
      const warnings = [response.headers['warning'] ?? []]
        .flat()
        .map((line) => /"(.*)"/.exec(line)?.[1] ?? line);
      const answer = text.startsWith('{') ? (JSON.parse(text) as Json) : {};
      return { status: response.statusCode, warnings, body: answer };
    },
    close: () => agent.close(),
  };
}

/** The kubeconfig of the server for conformance tests; undefined if none was given. */
export const subjectKubeconfig = (): string | undefined =>
  process.env['ESPALIER_TEST_KUBECONFIG'] || undefined;
