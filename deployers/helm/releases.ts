/** Helm's records of releases, as it stores them: one secret for each revision. Read to decide, and to clean up. */
import { gunzipSync } from 'node:zlib';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { parseYaml, YamlError } from '../../src/lib/yaml.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { splitManifests } from '../../src/templating/helm/manifests.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { SECRET, type Secret } from '../sdk/kinds.ts';
import { isKubeObject, type KubeObject } from '../sdk/manifests/model.ts';

export interface ReleaseRecord {
  readonly revision: number;
  /** Such as `deployed`, `failed`, `pending-upgrade`. */
  readonly status: string;
  /** RFC 3339; when the record was made. */
  readonly createdAt: string | undefined;
  readonly secret: Secret;
}

const MAX_RECORD_BYTES = 64 * 2 ** 20;

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

/** Helm has ended the release and kept its records, or was at it. */
export const isEnded = ({ status }: ReleaseRecord): boolean =>
  status === 'uninstalling' || status === 'uninstalled';

/** Takes a record away, so that Helm no longer believes in an action that is under way. */
export async function dropRecord(
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

/** The objects of a revision as the chart printed them, lists as one. What cannot be read is none. */
export const objectsIn = (record: ReleaseRecord): readonly KubeObject[] =>
  documentsIn(record).filter(isKubeObject);

/** All that a revision is made of. */
export function documentsIn({ secret }: ReleaseRecord): readonly unknown[] {
  const manifest = manifestIn(secret);
  return splitManifests(manifest).flatMap((text) => {
    try {
      return [parseYaml(text, { integers: 'exact' })];
    } catch (error) {
      if (error instanceof YamlError) return [];
      throw error;
    }
  });
}

function manifestIn(secret: Secret): string {
  try {
    const packed = Buffer.from(
      Buffer.from(secret.data?.['release'] ?? '', 'base64').toString('latin1'),
      'base64',
    );
    const record: unknown = JSON.parse(
      gunzipSync(packed, { maxOutputLength: MAX_RECORD_BYTES }).toString('utf8'),
    );
    const manifest = ownField(isObject(record) ? record : {}, 'manifest');
    return typeof manifest === 'string' ? manifest : '';
  } catch {
    return '';
  }
}
