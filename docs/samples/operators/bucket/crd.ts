/** The CustomResourceDefinition of buckets. Run it to print the manifest for `kubectl apply -f -`. */
import { externalSpecProperties, externalStatusProperties } from 'espalier/external';
import { bucketKind } from './bucket.ts';

const { group, version, kind, plural } = bucketKind;
const properties = { quotaGiB: { type: 'integer', minimum: 1 }, region: { type: 'string' } };

export const bucketCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural, singular: 'bucket', listKind: 'BucketList' },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['quotaGiB'],
                properties: { ...properties, ...externalSpecProperties },
              },
              status: { type: 'object', properties: externalStatusProperties },
            },
          },
        },
      },
    ],
  },
};

if (process.argv[1] === import.meta.filename) process.stdout.write(`${JSON.stringify(bucketCrd)}\n`);
