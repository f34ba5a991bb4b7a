/** The objects and release records of a cluster, without times and generated values, so that two can be compared. */
import { gunzipSync } from 'node:zlib';
import type { ReleaseTarget } from '../../deployers/helm/release/cluster.ts';
import { parseExactJson } from '../../src/lib/exact-json.ts';
import { isObject, type Fields } from '../../src/lib/objects.ts';
import { NoSuchKind } from '../../src/runtime/errors.ts';
import type { Obj } from '../../src/runtime/types.ts';
import { NAMESPACE } from './charts.ts';

const KINDS = [
  ['v1', 'ConfigMap'],
  ['v1', 'Secret'],
  ['v1', 'Service'],
  ['v1', 'ServiceAccount'],
  ['v1', 'Pod'],
  ['v1', 'Namespace'],
  ['apps/v1', 'Deployment'],
  ['apps/v1', 'StatefulSet'],
  ['batch/v1', 'Job'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
  ['stories.example.com/v1', 'Thing'],
] as const;

export async function stateOf({ access, signal }: ReleaseTarget): Promise<Readonly<Record<string, unknown>>> {
  const state: Record<string, unknown> = {};
  for (const [apiVersion, name] of KINDS) {
    const kind = await access.kindOf(apiVersion, name).catch((error: unknown) => {
      if (error instanceof NoSuchKind) return undefined;
      throw error;
    });
    if (!kind) continue;
    const query = kind.namespaced ? { namespace: NAMESPACE } : {};
    for await (const page of access.client.list(kind, query, signal)) {
      for (const object of page.items) {
        const { name: own, ownerReferences = [] } = object.metadata;
        const isGenerated = ownerReferences.length > 0 || own === 'kube-root-ca.crt';
        if (!isGenerated) state[`${name} ${own}`] = comparable({ ...object, kind: name });
      }
    }
  }
  return state;
}

const GENERATED = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'];
const TIMES = [
  'first_deployed',
  'last_deployed',
  'deleted',
  'started_at',
  'completed_at',
  'modifiedAt',
  'createdAt',
];

function comparable(object: Obj): unknown {
  const { metadata, status: _, ...rest } = object as Obj & { status?: unknown; data?: { release?: string } };
  const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !GENERATED.includes(key)));
  const release = rest.kind === 'Secret' ? rest.data?.release : undefined;
  const plain = { ...rest, metadata: kept, ...(release !== undefined && { data: recordIn(release) }) };
  return withoutGenerated(plain);
}

const recordIn = (release: string): unknown =>
  parseExactJson(gunzipSync(Buffer.from(Buffer.from(release, 'base64').toString(), 'base64')).toString());

/** Times are replaced by whether there is one, and addresses and labels that a server generates are left out. */
function withoutGenerated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutGenerated);
  if (typeof value === 'bigint') return String(value);
  if (!isObject(value)) return value;
  const result: Fields = {};
  for (const [key, field] of Object.entries(value)) {
    if (
      [
        'clusterIP',
        'clusterIPs',
        'controller-uid',
        'batch.kubernetes.io/controller-uid',
        'nodePort',
      ].includes(key)
    )
      continue;
    if (TIMES.includes(key)) {
      if (key !== 'modifiedAt' && key !== 'createdAt') result[key] = field === '' ? 'none' : 'some';
    } else if (key === 'deployment.kubernetes.io/revision') continue;
    else result[key] = withoutGenerated(field);
  }
  return result;
}
