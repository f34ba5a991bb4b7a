/** Tells API servers where the versions of a kind are converted: writes `spec.conversion` of its definition. */
import { conversionPath } from '../../lib/crd/conversion-path.ts';
import { equal } from '../../lib/json.ts';
import { CustomResourceDefinition } from '../core-kinds.ts';
import { Conflict, DefinitionError } from '../errors.ts';
import { getIfThere } from '../transport/read.ts';
import type { Client } from '../types.ts';
import { clientConfig, type Endpoint } from '../webhooks/endpoint.ts';
import type { Conversion } from './conversion.ts';
import type { ServedConversion } from './served.ts';

/** Higher than the number of replicas that may write at the same time. */
const MAX_ATTEMPTS = 10;

/** Name of the CustomResourceDefinition of the kind. */
export const definitionOf = ({ hub }: Conversion): string => `${hub.plural}.${hub.group}`;

/** What was done, and the version of the definition that is right. */
interface Installed {
  readonly outcome: 'written' | 'unchanged' | 'missing';
  readonly version?: string | undefined;
}

/**
 * @param caBundle PEM
 * @returns whether the definition was written, and its version now; `missing` if there is none
 * @throws DefinitionError if it serves a version that cannot be converted; the errors of runtime/errors.ts
 */
export async function installConversion(
  client: Client,
  served: ServedConversion,
  endpoint: Endpoint,
  caBundle: string,
): Promise<Installed> {
  const { conversion } = served;
  const key = definitionOf(conversion);
  const config = clientConfig(endpoint, conversionPath(conversion.hub), caBundle);
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: config };
  const wanted = { strategy: 'Webhook', webhook };
  for (let attempt = 1; ; attempt++) {
    const present = await getIfThere(client, CustomResourceDefinition, key);
    if (!present) return { outcome: 'missing' };
    served.learn(present);
    const { metadata, spec } = present;
    const unknown = spec.versions.filter(({ name, served }) => served && !conversion.versions.includes(name));
    if (unknown.length > 0) {
      const names = unknown.map(({ name }) => name).join(', ');
      throw new DefinitionError({
        message: `the definition ${key} serves ${names}, but the conversion has only ${conversion.versions.join(', ')}`,
      });
    }
    if (equal(spec.conversion, wanted)) return { outcome: 'unchanged', version: metadata.resourceVersion };
    // A merge patch keeps what it does not name.
    const other = 'url' in config ? { service: null } : { url: null };
    const body = {
      metadata: { resourceVersion: metadata.resourceVersion },
      spec: { conversion: { ...wanted, webhook: { ...webhook, clientConfig: { ...config, ...other } } } },
    };
    try {
      const written = await client.send({ verb: 'merge', kind: CustomResourceDefinition, key, body });
      return { outcome: 'written', version: written.metadata.resourceVersion };
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
