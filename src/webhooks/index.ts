/**
 * Serves the validating webhooks: creates the certificates, starts the server, and then installs the configuration
 * that sends requests of API servers here. Afterwards it checks certificates and configuration periodically. If the
 * certificate is in files, the server only reads these.
 */
import { join } from 'node:path';
import type { InstallationLimits } from '../api/limits.ts';
import type { ValidatedResource } from '../api/validation/index.ts';
import { sleep, type Clock } from '../lib/clock.ts';
import type { Logger } from '../observability/log.ts';
import {
  followCertificateFiles,
  readCertificateFiles,
  type CertificatePair,
} from '../runtime/certificate-files.ts';
import type { Client, OwnerReference } from '../runtime/types.ts';
import type { Certificates } from '../runtime/webhooks/certificates.ts';
import { checkPeriodically } from '../runtime/webhooks/checking.ts';
import { hostsOf, withPort, type Endpoint } from '../runtime/webhooks/endpoint.ts';
import { currentCertificates } from '../runtime/webhooks/secret.ts';
import {
  CERTIFICATES_SECRET,
  clusterRoleKind,
  CONFIGURATION_NAME,
  SERVER_NAME,
  webhookConfiguration,
  type Skipping,
} from './configuration.ts';
import { installConfiguration, removeConfiguration } from './install.ts';
import { ownSecret } from './owned-secret.ts';
import type { LargeItemsCheck } from './review.ts';
import { startWebhookServer, type Identity, type WebhookServer } from './server.ts';
import { skipRights } from './skip-rights.ts';

interface WebhooksOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** The address for API servers. In a URL, port 0 stands for the port that the server gets. */
  readonly endpoint: Endpoint;
  /** The address to listen on; port 0 takes any free one. */
  readonly host: string;
  readonly port: number;
  /** Namespace of the secret with the certificates. */
  readonly certNamespace: string;
  /** The kinds to validate; if empty, the configuration is deleted. */
  readonly resources: readonly ValidatedResource[];
  /** Limits for an installation; default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits;
  /** Reads large lists of deploy items; default: in this thread. */
  readonly checkLargeItems?: LargeItemsCheck;
  /** Whether to manage the configuration in the cluster. */
  readonly install: boolean;
  /**
   * Folder with the certificate `tls.crt` and its key `tls.key`. Then the server writes neither the secret nor the
   * configuration. Default: it creates the certificate.
   */
  readonly certificateFolder?: string;
  /** Who may skip validation with the label; default `admins`. */
  readonly skipping?: Skipping;
  /**
   * Name of a ClusterRole that becomes the owner of the configuration and of the secret: Kubernetes deletes them after
   * this role, so they do not outlive a `helm uninstall`.
   */
  readonly ownerRole?: string;
  /**
   * How long `close` still answers requests, in milliseconds; default 0. Behind a Service, API servers send requests
   * until they know that this endpoint is gone.
   */
  readonly drainMs?: number;
}

export interface Webhooks {
  readonly port: number;
  /** Stops the server, after `drainMs`. The configuration stays, so the API server refuses objects that it cannot validate. */
  close(): Promise<void>;
}

type StopFollowing = () => Promise<void> | undefined;

/** Where the certificate comes from. */
interface CertificateSource {
  readonly identity: Identity;
  /** Called when the server listens; replaces its certificate until the returned function is called. */
  follow(server: WebhookServer): Promise<StopFollowing>;
}

/** @throws WebhookPortError; UnusableCertificate; the errors of runtime/errors.ts */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  const { client, clock, log, skipping = 'admins', drainMs = 0, certificateFolder } = options;
  const source =
    certificateFolder === undefined
      ? await sharedCertificates(options)
      : mountedCertificates(options, certificateFolder);
  const { host, port, resources, limits, checkLargeItems } = options;
  const server = await startWebhookServer({
    host,
    port,
    identity: source.identity,
    resources,
    limits,
    checkLargeItems,
    maySkip: skipping === 'admins' ? skipRights({ client, clock }) : undefined,
    log,
  });
  let stopFollowing: StopFollowing;
  try {
    stopFollowing = await source.follow(server);
  } catch (error) {
    await server.close();
    throw error;
  }
  return {
    port: server.port,
    async close() {
      await stopFollowing();
      server.drain();
      if (drainMs > 0) await sleep(clock, drainMs);
      await server.close();
    },
  };
}

/** From a secret that all replicas share; also keeps the configuration up to date. */
async function sharedCertificates(options: WebhooksOptions): Promise<CertificateSource> {
  const { clock, log } = options;
  const secret = {
    ...options,
    namespace: options.certNamespace,
    secretName: CERTIFICATES_SECRET,
    commonName: SERVER_NAME,
    hosts: hostsOf(options.endpoint),
  };
  let inUse = await currentCertificates(secret);
  return {
    identity: inUse,
    async follow(server) {
      const reachable = { ...options, endpoint: withPort(options.endpoint, server.port) };
      const life = new AbortController();
      const check = async (): Promise<void> => {
        const certificates = await currentCertificates(secret, inUse);
        await updateConfiguration(reachable, certificates);
        if (certificates.certificate !== inUse.certificate) {
          server.useIdentity(certificates);
          log.info({}, 'serving with a new certificate');
        }
        inUse = certificates;
      };
      await updateConfiguration(reachable, inUse);
      const checking = checkPeriodically(check, { clock, log, signal: life.signal });
      return async () => {
        life.abort(new Error('webhooks stopping'));
        await checking;
      };
    },
  };
}

/** From files that another program writes, which also manages the configuration. @throws UnusableCertificate */
function mountedCertificates({ endpoint, clock, log }: WebhooksOptions, folder: string): CertificateSource {
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  // API servers use the last name of a Service, the longest one.
  const host = hostsOf(endpoint).at(-1) ?? '';
  const first = readCertificateFiles(files, host);
  return {
    identity: identityOf(first),
    follow(server) {
      const use = (pair: CertificatePair): void => {
        server.useIdentity(identityOf(pair));
      };
      const stop = followCertificateFiles(files, first, { clock, log, host, use });
      return Promise.resolve(() => {
        stop();
        return undefined;
      });
    },
  };
}

const identityOf = ({ cert, key }: CertificatePair): Identity => ({ certificate: cert, key });

/**
 * If the role is missing, the product is being uninstalled, so there must be no configuration.
 * @throws NotFound; the other errors of runtime/errors.ts
 */
async function ownerOf(client: Client, role: string | undefined): Promise<OwnerReference | undefined> {
  if (role === undefined) return undefined;
  const { metadata } = await client.get(clusterRoleKind, role);
  const { group, version, kind } = clusterRoleKind;
  return { apiVersion: `${group}/${version}`, kind, name: role, uid: metadata.uid ?? '' };
}

/** Called before a new certificate is used, so that API servers trust its authority. */
async function updateConfiguration(options: WebhooksOptions, { caBundle }: Certificates): Promise<void> {
  const { client, log, endpoint, resources, install, ownerRole, certNamespace, skipping } = options;
  if (!install) return;
  const owner = await ownerOf(client, ownerRole);
  if (owner) await ownSecret(client, `${certNamespace}/${CERTIFICATES_SECRET}`, owner);
  const hasChanged =
    resources.length === 0
      ? await removeConfiguration(client)
      : await installConfiguration(
          client,
          webhookConfiguration(endpoint, resources, caBundle, { owner, skipping }),
        );
  if (!hasChanged) return;
  log.info(
    { configuration: CONFIGURATION_NAME, resources },
    resources.length === 0 ? 'webhook configuration removed' : 'webhook configuration installed',
  );
}
