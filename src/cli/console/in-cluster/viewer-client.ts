/** A client with the token of a viewer, and the viewer's name. */
import type { Clock } from '../../../lib/clock.ts';
import { isObject, ownField } from '../../../lib/objects.ts';
import type { Logger } from '../../../observability/log.ts';
import { NotFound } from '../../../runtime/errors.ts';
import { createClient } from '../../../runtime/transport/client.ts';
import { connect, type ServerAddress } from '../../../runtime/transport/http.ts';
import type { Client } from '../../../runtime/types.ts';
import { digest } from '../guard.ts';

/** A viewer sends few requests, so a browser cannot use up the sockets of the process. */
const MAX_SOCKETS = 8;

/** @returns a client that has to be closed */
export type ClientOf = (token: string) => Promise<Client>;

export const clientsOf =
  (self: ServerAddress, { clock, log }: { readonly clock: Clock; readonly log: Logger }): ClientOf =>
  async (token) =>
    createClient(
      await connect({
        kubeconfig: { text: kubeconfigWith(self, token) },
        userAgent: 'espalier-console',
        fieldManager: 'espalier-console',
        maxSockets: MAX_SOCKETS,
        clock,
        log,
      }),
    );

/** A kubeconfig without other credentials; JSON is valid YAML. */
export const kubeconfigWith = (
  { server, caData, insecureSkipTlsVerify }: ServerAddress,
  token: string,
): string =>
  JSON.stringify({
    'current-context': 'viewer',
    clusters: [
      {
        name: 'cluster',
        cluster: {
          server,
          ...(caData && { 'certificate-authority-data': caData }),
          ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
        },
      },
    ],
    users: [{ name: 'viewer', user: { token } }],
    contexts: [{ name: 'viewer', context: { cluster: 'cluster', user: 'viewer' } }],
  });

/** API servers before 1.28 do not tell users their name. */
const UNNAMED = 'unknown user';

/**
 * The name of the user, and an id that is the same in all sessions of the user if the name is known.
 * @throws Unauthorized if the token is not valid, and the other errors of runtime/errors.ts
 */
export async function whoIs(
  client: Client,
  token: string,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly id: string }> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  try {
    const answer = await client.raw(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      review,
      signal,
    );
    const user = isObject(answer) ? ownField(ownField(answer['status'], 'userInfo'), 'username') : undefined;
    if (typeof user === 'string' && user !== '') return { name: user, id: user };
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  return { name: UNNAMED, id: digest(token).toString('base64') };
}
