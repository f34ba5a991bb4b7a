/**
 * Credentials from a command or an auth provider of a kubeconfig, by @kubernetes/client-node. The module of that
 * package that runs commands takes 3 ms to import; the others need the generated API, which takes a third of a
 * second.
 */
import type { RequestOptions } from 'node:https';
import { commandFailed, runnable } from './exec-plugin.ts';
import type { Credentials, ExternalCredentials } from './kubeconfig.ts';

type Apply = (options: RequestOptions) => Promise<void>;

/** Credentials of plugins are reused until they expire or the server rejects them. */
export function clientNodeCredentials(): ExternalCredentials {
  let apply: Apply | undefined;
  return async ({ kubeconfig, context, user, refused }) => {
    if (!apply || refused)
      apply = user['exec'] === undefined ? await byProvider(kubeconfig, context) : await byCommand(user);
    const options: RequestOptions = {};
    await apply(options);
    return credentialsIn(options);
  };
}

async function byCommand(user: Readonly<Record<string, unknown>>): Promise<Apply> {
  const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
  const plugin = new ExecAuth();
  const exec = runnable(user['exec']);
  return async (options) => {
    try {
      await plugin.applyAuthentication({ name: 'user', exec }, options);
    } catch (error) {
      throw commandFailed(exec, error);
    }
  };
}

async function byProvider(kubeconfig: string, context: string): Promise<Apply> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  config.setCurrentContext(context);
  return (options) => config.applyToHTTPSOptions(options);
}

function credentialsIn({ headers, cert, key }: RequestOptions): Credentials {
  const named = Object.entries(headers ?? {}).map(([k, v]) => [k.toLowerCase(), String(v)]);
  return {
    headers: Object.fromEntries(named) as Record<string, string>,
    tls: { ...(cert && { cert: cert as string }), ...(key && { key: key as string }) },
  };
}
