/** The kind: the schemas of its versions are the source of its types and of its CustomResourceDefinition. */
import { crdOf, type PrinterColumn } from 'espalier/crd';
import type { Kind, Obj } from 'espalier/runtime';
import { z } from 'zod';

const spec = z.object({
  message: z.string().min(1).describe('What the pods show.'),
  replicas: z.int().min(0).max(10).default(1).describe('Number of pods.'),
  port: z.int().min(1).max(65535).default(8080).describe('Port of the Service. It cannot be changed.'),
});

const olderSpec = z.object({
  text: z.string().min(1).describe('What the pods show.'),
  replicas: z.int().min(0).max(10).default(1).describe('Number of pods.'),
});

const status = z.object({
  ready: z.boolean().optional().describe('Whether all pods are available.'),
  error: z.string().optional().describe('Why the last reconcile failed.'),
});

/** A Skeleton as the API server returns it: fields with a default are set. */
export interface Skeleton extends Obj {
  spec: z.output<typeof spec>;
  status?: z.output<typeof status>;
}

/** A Skeleton in the older version. */
export interface OlderSkeleton extends Obj {
  spec: z.output<typeof olderSpec>;
  status?: z.output<typeof status>;
}

const kind = { group: 'example.org', kind: 'Skeleton', plural: 'skeletons', namespaced: true } as const;

/** The version that the operator works with, and in which objects are stored. */
export const skeletons: Kind<Skeleton> = { ...kind, version: 'v1beta1' };

/** For clients that still use it; conversion.ts converts from and to it. */
export const older: Kind<OlderSkeleton> = { ...kind, version: 'v1alpha1' };

const columns: readonly PrinterColumn[] = [
  { name: 'Ready', type: 'boolean', path: '.status.ready' },
  { name: 'Error', type: 'string', path: '.status.error', isWide: true },
  { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
];

/** `npm run crd` writes it to crd.yaml. */
export const crd = crdOf({
  kind: skeletons,
  description: 'Shows a message.',
  schema: z.object({ spec: spec.describe('The desired state.'), status: status.optional() }),
  columns,
  rules: [{ path: 'spec.port', rule: 'self == oldSelf', message: 'the port cannot be changed' }],
  versions: [
    {
      version: older.version,
      schema: z.object({ spec: olderSpec.describe('The desired state.'), status: status.optional() }),
      columns,
      deprecated: true,
    },
  ],
  // From the beginning: without it, API servers would drop the fields that a version does not have.
  conversion: { service: { namespace: 'skeleton-operator', name: 'skeleton-operator' } },
});
