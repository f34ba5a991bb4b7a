/** What a kubeconfig of a tenant may contain: no files of this machine, and no commands. Pure. */
import type { Fields } from '../../lib/objects.ts';
import { KubeconfigError } from '../errors.ts';

/** Fields of clusters and users that contain paths of files. */
export const FILE_FIELDS = [
  'certificate-authority',
  'client-certificate',
  'client-key',
  'tokenFile',
] as const;

/** Fields that lead to files or commands of this machine. */
const REACHING: readonly string[] = [...FILE_FIELDS, 'exec', 'auth-provider'];

/** The cluster and the user of a context. */
interface Entries {
  readonly cluster: Fields;
  readonly user: Fields;
}

/**
 * The entries without the fields that lead to files or commands, so that nothing behind this function can use them.
 * They may only be empty.
 * @throws KubeconfigError that names the fields
 */
export function confined({ cluster, user }: Entries): Entries {
  const reaching = REACHING.filter((field) => isUsed(cluster[field]) || isUsed(user[field]));
  if (reaching.length > 0) {
    throw new KubeconfigError({
      message:
        `the kubeconfig uses ${reaching.join(', ')}, which would access files or commands of the controller; ` +
        'put the certificates and the token into the kubeconfig itself',
    });
  }
  return { cluster: withoutReach(cluster), user: withoutReach(user) };
}

const isUsed = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

const withoutReach = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => !REACHING.includes(field)));
