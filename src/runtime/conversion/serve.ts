/**
 * Serves the conversions of an operator: creates the certificates, starts the server, and then writes the definitions, so
 * that API servers send their requests here. Afterwards it watches the definitions, and checks certificates periodically.
 */
import { conversionPath } from '../../lib/crd/conversion-path.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { Client } from '../types.ts';
import { checkPeriodically } from '../webhooks/checking.ts';
import { hostsOf, withPort, type Endpoint } from '../webhooks/endpoint.ts';
import { currentCertificates } from '../webhooks/secret.ts';
import type { Conversion } from './conversion.ts';
import { definitionOf, installConversion } from './definition.ts';
import { followDefinition, type Installation } from './following.ts';
import { ServedConversion } from './served.ts';
import { startConversionServer } from './server.ts';

/** The conversions of an operator, and how API servers reach it. All replicas serve them. */
export interface ConversionOptions {
  readonly conversions: readonly Conversion[];
  /** A Service that selects the pods of the operator, or a URL. Defaults: namespace of the operator, port 443. */
  readonly endpoint:
    | { readonly service: { readonly name: string; readonly namespace?: string; readonly port?: number } }
    | { readonly url: string };
  /** Where to listen, by default on port 9443 of all addresses. Port 0 takes any free one; also in the URL. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /** The Secret with the certificates. Default: `<operator>-webhook-certs` in the namespace of the operator. */
  readonly secret?: { readonly name?: string; readonly namespace?: string };
}

interface ConversionPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  /** Name of the operator. */
  readonly name: string;
  readonly namespace: string;
}

const DEFAULT_PORT = 9443;

interface Conversions {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws EspalierError if the port is in use; DefinitionError for a served version without conversion */
export async function serveConversions(
  options: ConversionOptions,
  ports: ConversionPorts,
): Promise<Conversions> {
  const { listen = {} } = options;
  const conversions = options.conversions.map((each) => new ServedConversion(each));
  const { client, log } = ports;
  const endpoint = endpointOf(options, ports);
  const secret = { ...ports, ...secretOf(options, ports), hosts: hostsOf(endpoint) };
  let trusted = await currentCertificates(secret);
  const server = await startConversionServer({
    host: listen.host ?? '0.0.0.0',
    port: listen.port ?? DEFAULT_PORT,
    identity: trusted,
    conversions: new Map(conversions.map((each) => [conversionPath(each.conversion.hub), each])),
    log,
  });
  const reachable = withPort(endpoint, server.port);
  const installations = conversions.map((each) =>
    installationOf(each, { client, log, endpoint: reachable, caBundle: () => trusted.caBundle }),
  );
  const installAll = async (): Promise<void> => {
    for (const each of installations) await each.install();
  };
  let inUse = trusted;
  const check = async (): Promise<void> => {
    trusted = await currentCertificates(secret, inUse);
    // API servers must trust a new authority before its certificate is used.
    await installAll();
    if (trusted.certificate !== inUse.certificate) server.useIdentity(trusted);
    inUse = trusted;
  };
  const life = new AbortController();
  const { signal } = life;
  try {
    await installAll();
  } catch (error) {
    await server.close();
    throw error;
  }
  const work = [
    checkPeriodically(check, { ...ports, signal }),
    ...installations.map((each) => followDefinition(each, { ...ports, signal })),
  ];
  return {
    port: server.port,
    async close() {
      life.abort(new Error('operator stopping'));
      await Promise.all(work);
      await server.close();
    },
  };
}

interface InstallationPorts {
  readonly client: Client;
  readonly log: Logger;
  readonly endpoint: Endpoint;
  /** The current one. */
  readonly caBundle: () => string;
}

/** Writes one definition, and knows the version of it that needs no change. */
function installationOf(
  served: ServedConversion,
  { client, log, endpoint, caBundle }: InstallationPorts,
): Installation {
  const definition = definitionOf(served.conversion);
  let settled: string | undefined;
  return {
    definition,
    isSettled: (version) => version !== undefined && version === settled,
    async install() {
      const { outcome, version } = await installConversion(client, served, endpoint, caBundle());
      settled = version;
      if (outcome === 'written') log.info({ definition }, 'conversion webhook installed');
      if (outcome === 'missing')
        log.warn({ definition }, 'the definition is not installed, so its versions are not converted yet');
      return outcome === 'written';
    },
  };
}

function endpointOf({ endpoint }: ConversionOptions, { namespace }: ConversionPorts): Endpoint {
  if ('url' in endpoint) return { url: new URL(endpoint.url) };
  return { service: { namespace, port: 443, ...endpoint.service } };
}

const secretOf = ({ secret }: ConversionOptions, { name, namespace }: ConversionPorts) => ({
  namespace: secret?.namespace ?? namespace,
  secretName: secret?.name ?? `${name}-webhook-certs`,
  commonName: `${name}-webhook`,
});
