/** Kubeconfigs for users of this server. */
import { toYaml } from '../lib/yaml.ts';

export interface KubeconfigUser {
  readonly token?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** @param ca PEM of the authority; absent for plain HTTP */
export function kubeconfigText(
  server: string,
  ca: string | undefined,
  user: KubeconfigUser,
  namespace?: string,
): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return toYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'espalier',
        cluster: { server, ...(ca === undefined ? {} : { 'certificate-authority-data': base64(ca) }) },
      },
    ],
    users: [
      {
        name: 'espalier',
        user: {
          ...(user.token === undefined ? {} : { token: user.token }),
          ...(user.certificate === undefined ? {} : { 'client-certificate-data': base64(user.certificate) }),
          ...(user.key === undefined ? {} : { 'client-key-data': base64(user.key) }),
        },
      },
    ],
    contexts: [
      {
        name: 'espalier',
        context: { cluster: 'espalier', user: 'espalier', ...(namespace === undefined ? {} : { namespace }) },
      },
    ],
    'current-context': 'espalier',
  });
}
