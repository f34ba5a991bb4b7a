/** The kind: its schema is the source of its types and of its CustomResourceDefinition. */
import { crdOf } from 'espalier/crd';
import type { Kind, Obj } from 'espalier/runtime';
import { z } from 'zod';

const spec = z.object({
  message: z.string().min(1).describe('What the pods show.'),
  replicas: z.int().min(0).max(10).default(1).describe('Number of pods.'),
  port: z.int().min(1).max(65535).default(8080).describe('Port of the Service. It cannot be changed.'),
});

const status = z.object({
  ready: z.boolean().optional().describe('Whether all pods are available.'),
  error: z.string().optional().describe('Why the last reconcile failed.'),
});

/** A Skeleton as the API server returns it: fields with a default are set. */
export interface Skeleton extends Obj {
  kind: 'Skeleton';
  spec: z.output<typeof spec>;
  status?: z.output<typeof status>;
}

export const skeletons: Kind<Skeleton> = {
  group: 'example.org',
  version: 'v1alpha1',
  kind: 'Skeleton',
  plural: 'skeletons',
  namespaced: true,
};

/** `npm run crd` writes it to crd.yaml. */
export const crd = crdOf({
  kind: skeletons,
  description: 'Shows a message.',
  schema: z.object({ spec: spec.describe('The desired state.'), status: status.optional() }),
  columns: [
    { name: 'Ready', type: 'boolean', path: '.status.ready' },
    { name: 'Error', type: 'string', path: '.status.error', isWide: true },
    { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
  ],
  rules: [{ path: 'spec.port', rule: 'self == oldSelf', message: 'the port cannot be changed' }],
});
