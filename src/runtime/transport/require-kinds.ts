/** Checks at the start of an operator that its kinds are served. */
import { NoSuchKind } from '../errors.ts';
import { apiVersionOf } from '../keys.ts';
import type { Client, Kind } from '../types.ts';
import { createDiscovery } from './discovery.ts';

/**
 * Checks that the cluster serves kinds, with one request for each group and version. An operator that needs no other
 * start calls it first, so that a missing CustomResourceDefinition is reported at once.
 * @param install how to install the missing definitions, such as `kubectl apply -f crd.yaml`
 * @throws NoSuchKind naming the first missing kind and `install`; ApiError, TransportError when a request fails
 */
export async function requireKinds(
  client: Client,
  kinds: readonly (Kind | Kind<never>)[],
  install: string,
): Promise<void> {
  const { kindOf } = createDiscovery(client);
  for (const kind of kinds) {
    try {
      await kindOf(apiVersionOf(kind), kind.kind);
    } catch (error) {
      if (!(error instanceof NoSuchKind)) throw error;
      throw new NoSuchKind({ apiVersion: apiVersionOf(kind), kind: kind.kind, install });
    }
  }
}
