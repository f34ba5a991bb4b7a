/** The kind: its schema is the source of its types and of its CustomResourceDefinition, and is checked again by the operator. */
import { crdOf } from 'espalier/crd';
import { withExternalFields, type ExternalObject } from 'espalier/external';
import type { Kind } from 'espalier/runtime';
import { z } from 'zod';

export const spec = z.object({
  // The definition cannot express the rule of `refine`.
  message: z.string().refine((text) => text.trim() !== '', 'must not be blank'),
  size: z.int().min(1).max(10).default(1),
});

/** A Skeleton as the API server returns it: fields with a default are set. */
export interface Skeleton extends ExternalObject {
  kind: 'Skeleton';
  spec: z.output<typeof spec>;
}

export const skeletons: Kind<Skeleton> = {
  group: 'example.org',
  version: 'v1alpha1',
  kind: 'Skeleton',
  plural: 'skeletons',
  namespaced: true,
};

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`;

/** `npm run crd` writes it to crd.yaml. */
export const crd = withExternalFields(
  crdOf({
    kind: skeletons,
    description: 'A resource in another service.',
    schema: z.object({ spec }),
    columns: [
      { name: 'Ready', type: 'string', path: condition('Ready') },
      { name: 'Synced', type: 'string', path: condition('Synced') },
      { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
    ],
  }),
);
