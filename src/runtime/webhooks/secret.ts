/**
 * Stores the certificates in a secret that all replicas share. If two replicas create certificates, the first write
 * wins.
 */
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyPair } from '../../lib/certificates.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import { Secret } from '../core-kinds.ts';
import { AlreadyExists, Conflict, NotFound } from '../errors.ts';
import { splitKey } from '../keys.ts';
import { getIfThere } from '../transport/read.ts';
import type { Client, Key } from '../types.ts';
import { renewal, type Certificates } from './certificates.ts';

/** The keys of the secret. */
const KEYS = {
  caBundle: 'ca.crt',
  caKey: 'ca.key',
  certificate: 'tls.crt',
  key: 'tls.key',
} as const satisfies Record<keyof Certificates, string>;

/** Higher than the number of replicas that may write at the same time. */
const MAX_ATTEMPTS = 10;

interface SecretPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  /** Name of the secret. */
  readonly secretName: string;
  /** Common name of the server's certificate. */
  readonly commonName: string;
  /** Names and addresses of the server. */
  readonly hosts: readonly string[];
}

const newKeyPair = promisify(generateKeyPair);

const rsaKeys = (): Promise<KeyPair> => newKeyPair('rsa', { modulusLength: 2048 });

/**
 * The certificates to use from now on; new ones are stored first.
 * @param inUse replace the content of a deleted secret, so that API servers continue to trust the server
 * @throws the errors of runtime/errors.ts
 */
export async function currentCertificates(ports: SecretPorts, inUse?: Certificates): Promise<Certificates> {
  const { client, clock, log, namespace, secretName, commonName, hosts } = ports;
  const key = `${namespace}/${secretName}`;
  for (let attempt = 1; ; attempt++) {
    const secret = await getIfThere(client, Secret, key);
    const stored = secret ? certificatesIn(secret) : inUse;
    const due = await renewal(stored, hosts, clock.wall(), { commonName, newKeys: rsaKeys });
    if (!due && secret && stored) return stored;
    const certificates = due?.certificates ?? stored;
    if (!certificates) throw new TypeError('bug: no certificates are stored and none were created');
    try {
      await store(client, key, secret, certificates);
      const why = due?.why ?? 'the secret was deleted';
      log.info({ secret: key, why }, 'certificates stored');
      return certificates;
    } catch (error) {
      const isConflict =
        error instanceof AlreadyExists || error instanceof Conflict || (secret && error instanceof NotFound);
      if (!isConflict || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** A missing entry counts as an empty one, which is as invalid as an unreadable one. */
function certificatesIn({ data = {} }: Secret): Certificates {
  const entry = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  return {
    caBundle: entry(KEYS.caBundle),
    caKey: entry(KEYS.caKey),
    certificate: entry(KEYS.certificate),
    key: entry(KEYS.key),
  };
}

async function store(
  client: Client,
  key: Key,
  secret: Secret | undefined,
  certificates: Certificates,
): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(certificates).map(([name, pem]: [string, string]) => [
      KEYS[name as keyof Certificates],
      Buffer.from(pem).toString('base64'),
    ]),
  );
  if (secret) {
    const { resourceVersion } = secret.metadata;
    await client.send({
      verb: 'merge',
      kind: Secret,
      key,
      body: { metadata: { resourceVersion }, data },
    });
    return;
  }
  const { namespace = '', name } = splitKey(key);
  const metadata = { name, namespace };
  const object: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data };
  await client.send({ verb: 'create', kind: Secret, object });
}
