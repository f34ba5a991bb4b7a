/** The address of an API server as kubeconfigs write it: a URL, or a host with a port, as client-go reads it. Pure. */
import { trimmedEnd } from '../../lib/trim.ts';
import { KubeconfigError } from '../errors.ts';

/** Schemes are written in any case. */
const HTTP = /^https?:\/\//i;
/** A host, with a port or without. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d+)?\/?$/i;

interface Written {
  readonly server: string | undefined;
  /** The scheme of an address without one is https. */
  readonly isEncrypted: boolean;
}

/**
 * @param title of the kubeconfig, at the beginning of a message
 * @throws KubeconfigError
 */
export function serverOf({ server = '', isEncrypted }: Written, title: string): string {
  const written = server.trim();
  const url = HOST.test(written) ? `${isEncrypted ? 'https' : 'http'}://${written}` : written;
  if (!HTTP.test(url) || !URL.canParse(url))
    throw new KubeconfigError({
      message: `${title}: the cluster's server is not an http or https address, nor a host with a port`,
    });
  return trimmedEnd(
    url.replace(HTTP, (scheme) => scheme.toLowerCase()),
    '/',
  );
}
