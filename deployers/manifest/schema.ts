/** The schema of the provider configuration of the manifest deployer, for editors, pages, and the report of unknown fields. */
import { z } from 'zod';
import { GROUP } from '../../src/api/labels.ts';
import { exportsSchema } from '../objects/exports.ts';
import { groupsSchema } from '../objects/manifests/groups.ts';
import { policies, strategies } from '../objects/manifests/model.ts';
import { readinessSchema } from '../objects/readiness/custom.ts';
import { continuousSchema } from '../sdk/continuous.ts';
import { configurationHead } from '../sdk/schema.ts';

export const MANIFEST_GROUP = `manifest.deployer.${GROUP}`;

export const V1ALPHA2 = `${MANIFEST_GROUP}/v1alpha2`;
/** Manifests of this version are plain objects, and all of them are managed. */
export const V1ALPHA1 = `${MANIFEST_GROUP}/v1alpha1`;

const object = z.record(z.string(), z.unknown());
const annotations = z.record(z.string(), z.string());

const entry = z.object({
  policy: z
    .enum(policies)
    .nullish()
    .meta({ fallback: 'manage' })
    .describe('Who owns the object: whether it is updated, and whether it is deleted with the item.'),
  manifest: object.describe('The object to apply.'),
  annotateBeforeCreate: annotations
    .nullish()
    .describe('Annotations that the object gets when it is created.'),
  annotateBeforeDelete: annotations
    .nullish()
    .describe('Annotations that the object gets before it is deleted.'),
  patchAfterDeployment: object.nullish().describe('Merge patch for the object after it has been applied.'),
  patchBeforeDelete: object.nullish().describe('Merge patch for the object before it is deleted.'),
});

const fields = {
  updateStrategy: z
    .enum(strategies)
    .nullish()
    .meta({ fallback: 'update' })
    .describe('How objects that exist are changed.'),
  readinessChecks: readinessSchema,
  exports: exportsSchema,
  deletionGroups: groupsSchema.describe('In which order objects are deleted with the item.'),
  deletionGroupsDuringUpdate: groupsSchema.describe('The same for objects that an update removes.'),
  continuousReconcile: continuousSchema,
};

export const manifestSchema = z.object({
  ...configurationHead(V1ALPHA2),
  manifests: z.array(entry).nullish().describe('Objects to apply.'),
  ...fields,
});

export const olderManifestSchema = z.object({
  ...configurationHead(V1ALPHA1),
  manifests: z.array(object).nullish().describe('Objects to apply.'),
  ...fields,
});
