/** Reads and deletes helm's release records: one secret for each revision. */
import { setImmediate as turn } from 'node:timers/promises';
import { parseExactJson } from '../../src/lib/exact-json.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import type { ChartRunner } from '../../src/templating/helm/work.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { ConfigurationError } from '../sdk/errors.ts';
import { SECRET, type Secret } from '../sdk/kinds.ts';
import { isKubeObject, type KubeObject } from '../objects/manifests/model.ts';

export interface ReleaseRecord {
  readonly revision: number;
  /** For example `deployed`, `failed`, `pending-upgrade`. */
  readonly status: string;
  /** RFC 3339; creation time of the record. */
  readonly createdAt: string | undefined;
  readonly secret: Secret;
}

const OPERATION = 'RealHelmDeployer.ReadRelease';

/** Oldest first. */
export async function recordsOf(
  { client }: KubeAccess,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  signal: AbortSignal,
): Promise<readonly ReleaseRecord[]> {
  const records: ReleaseRecord[] = [];
  for await (const page of client.list(SECRET, { namespace, labels: `owner=helm,name=${name}` }, signal)) {
    for (const secret of page.items) {
      const { labels = {}, creationTimestamp } = secret.metadata;
      const revision = Number(labels['version']);
      if (Number.isInteger(revision)) {
        records.push({ revision, status: labels['status'] ?? '', createdAt: creationTimestamp, secret });
      }
    }
  }
  return records.sort((a, b) => a.revision - b.revision);
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
  const { name, namespace = '', uid } = secret.metadata;
  try {
    await client.send(
      { verb: 'delete', kind: SECRET, key: `${namespace}/${name}`, ...(uid !== undefined && { uid }) },
      signal,
    );
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

/** The objects of a revision as the chart rendered them; lists are not expanded. A damaged record contains none. */
export const objectsIn = async (record: ReleaseRecord, charts: ChartRunner): Promise<readonly KubeObject[]> =>
  (await documentsIn(record, charts)).filter(isKubeObject);

/** Characters to parse before the event loop gets a turn. */
const CHARACTERS_PER_TURN = 256 << 10;

/** All documents of a revision. @throws ConfigurationError if the record exceeds the size limit */
export async function documentsIn(
  { secret }: ReleaseRecord,
  charts: ChartRunner,
): Promise<readonly unknown[]> {
  const documents: unknown[] = [];
  let portion = 0;
  for (const text of await textsIn(secret, charts)) {
    documents.push(parseExactJson(text));
    portion += text.length;
    if (portion < CHARACTERS_PER_TURN) continue;
    portion = 0;
    await turn();
  }
  return documents;
}

async function textsIn({ data, metadata }: Secret, charts: ChartRunner): Promise<readonly string[]> {
  try {
    return await charts.recordDocuments({ release: data?.['release'] ?? '' });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    const message = `the release record in secret ${metadata.namespace ?? ''}/${metadata.name} of the target cannot be read: ${error.message}`;
    throw new ConfigurationError({ operation: OPERATION, reason: 'ReadRelease', message, cause: error });
  }
}
