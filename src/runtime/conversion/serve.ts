/**
 * Serves the conversions of an operator: creates the certificates, starts the server, and then writes the definitions, so
 * that API servers send their requests here. Afterwards it checks certificates and definitions periodically.
 */
import { conversionPath } from '../../lib/crd/conversion-path.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { Client } from '../types.ts';
import type { Certificates } from '../webhooks/certificates.ts';
import { CHECK_MS, checkPeriodically } from '../webhooks/checking.ts';
import { hostsOf, withPort, type Endpoint } from '../webhooks/endpoint.ts';
import { currentCertificates } from '../webhooks/secret.ts';
import type { Conversion } from './conversion.ts';
import { installConversion } from './definition.ts';
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
  readonly log: Logger;
  /** Name of the operator. */
  readonly name: string;
  readonly namespace: string;
}

const DEFAULT_PORT = 9443;
/** Until a missing definition is looked for again. */
const MISSING_MS = 10_000;

interface Conversions {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws EspalierError if the port is in use; DefinitionError for a served version without conversion */
export async function serveConversions(
  options: ConversionOptions,
  ports: ConversionPorts,
): Promise<Conversions> {
  const { conversions, listen = {} } = options;
  const { client, clock, log } = ports;
  const endpoint = endpointOf(options, ports);
  const secret = { ...ports, ...secretOf(options, ports), hosts: hostsOf(endpoint) };
  let inUse = await currentCertificates(secret);
  const server = await startConversionServer({
    host: listen.host ?? '0.0.0.0',
    port: listen.port ?? DEFAULT_PORT,
    identity: inUse,
    conversions: new Map(conversions.map((each) => [conversionPath(each.hub), each])),
    log,
  });
  const reachable = withPort(endpoint, server.port);
  /** @returns milliseconds until the next check */
  const install = async ({ caBundle }: Certificates): Promise<number> => {
    let waitMs = CHECK_MS;
    for (const conversion of conversions) {
      const { plural, group } = conversion.hub;
      const done = await installConversion(client, conversion, reachable, caBundle);
      const definition = `${plural}.${group}`;
      if (done === 'written') log.info({ definition }, 'conversion webhook installed');
      if (done !== 'missing') continue;
      log.warn({ definition }, 'the definition is not installed, so its versions are not converted yet');
      waitMs = MISSING_MS;
    }
    return waitMs;
  };
  const check = async (): Promise<number> => {
    const certificates = await currentCertificates(secret, inUse);
    // API servers must trust a new authority before its certificate is used.
    const waitMs = await install(certificates);
    if (certificates.certificate !== inUse.certificate) server.useIdentity(certificates);
    inUse = certificates;
    return waitMs;
  };
  const life = new AbortController();
  try {
    const firstMs = await install(inUse);
    const checking = checkPeriodically(check, { clock, log, signal: life.signal, firstMs });
    return {
      port: server.port,
      async close() {
        life.abort(new Error('operator stopping'));
        await checking;
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
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
