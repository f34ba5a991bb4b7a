/**
 * Reads and deletes helm's release records: one secret for each revision. Only the metadata of all records is read, and
 * the content, which may be a MiB each, of the record that is needed.
 */
import { parseExactJson } from '../../src/lib/exact-json.ts';
import { inPortions } from '../../src/lib/portions.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import type { ChartRunner } from '../../src/templating/helm/work.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import { SECRET } from '../sdk/kinds.ts';

export interface ReleaseRecord {
  readonly revision: number;
  /** For example `deployed`, `failed`, `pending-upgrade`. */
  readonly status: string;
  /** RFC 3339; creation time of the record. */
  readonly createdAt: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** The secret that contains the record. */
  readonly secret: { readonly name: string; readonly namespace: string; readonly uid: string | undefined };
  /** The content of the record. @throws RetryError if it was deleted meanwhile */
  readonly content: () => Promise<string>;
}

const OPERATION = 'RealHelmDeployer.ReadRelease';

/** Oldest first. */
export async function recordsOf(
  { client }: KubeAccess,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<readonly ReleaseRecord[]> {
  const records: ReleaseRecord[] = [];
  const query = { namespace, labels: `owner=helm,name=${name}`, metadataOnly: true };
  for await (const page of client.list(SECRET, query, signal)) {
    for (const { metadata } of page.items) {
      const { labels = {}, creationTimestamp: createdAt, uid } = metadata;
      const revision = Number(labels['version']);
      const secret = { name: metadata.name, namespace: metadata.namespace ?? namespace, uid };
      if (!Number.isInteger(revision)) continue;
      records.push({
        revision,
        status: labels['status'] ?? '',
        createdAt,
        labels,
        secret,
        content: () => contentOf(client, secret, signal),
      });
    }
  }
  return records.sort((a, b) => a.revision - b.revision);
}

async function contentOf(
  client: KubeAccess['client'],
  { name, namespace }: ReleaseRecord['secret'],
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await client.get(SECRET, `${namespace}/${name}`, signal)).data?.['release'] ?? '';
  } catch (cause) {
    if (!(cause instanceof NotFound)) throw cause;
    const message = `the release record in secret ${namespace}/${name} of the target was deleted while it was read`;
    throw new RetryError({ operation: OPERATION, reason: 'ReadRelease', message, cause });
  }
}

export const isPending = ({ status }: ReleaseRecord): boolean => status.startsWith('pending-');

/** Whether helm has uninstalled the release and kept its records, or has started to. */
export const isEnded = ({ status }: ReleaseRecord): boolean =>
  status === 'uninstalling' || status === 'uninstalled';

/** Deletes a record, so that helm no longer considers the action pending. */
export async function deleteRecord(
  { client }: KubeAccess,
  { secret }: ReleaseRecord,
  signal: AbortSignal,
): Promise<void> {
  const { name, namespace, uid } = secret;
  try {
    await client.send(
      { verb: 'delete', kind: SECRET, key: `${namespace}/${name}`, ...(uid !== undefined && { uid }) },
      signal,
    );
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

/** All documents of a revision. @throws ConfigurationError if the record exceeds the size limit */
export const documentsIn = async (record: ReleaseRecord, charts: ChartRunner): Promise<readonly unknown[]> =>
  inPortions(await textsIn(record, charts), parseExactJson, (text) => text.length);

async function textsIn({ secret, content }: ReleaseRecord, charts: ChartRunner): Promise<readonly string[]> {
  const release = await content();
  try {
    return await charts.recordDocuments({ release });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    const message = `the release record in secret ${secret.namespace}/${secret.name} of the target cannot be read: ${error.message}`;
    throw new ConfigurationError({ operation: OPERATION, reason: 'ReadRelease', message, cause: error });
  }
}
