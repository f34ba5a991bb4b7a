/** The schema of the provider configuration of the helm deployer, for editors, pages, and the report of unknown fields. */
import { z } from 'zod';
import { GROUP } from '../../src/api/labels.ts';
import { exportSchema, exportsSchema } from '../objects/exports.ts';
import { groupsSchema } from '../objects/manifests/groups.ts';
import { strategies } from '../objects/manifests/model.ts';
import { readinessSchema } from '../objects/readiness/custom.ts';
import { continuousSchema } from '../sdk/continuous.ts';
import { configurationHead } from '../sdk/schema.ts';

export const HELM_GROUP = `helm.deployer.${GROUP}`;
export const HELM_API_VERSION = `${HELM_GROUP}/v1alpha1`;

const flag = (text: string) => z.boolean().nullish().meta({ fallback: false }).describe(text);
const wait = flag('Waits until the objects of the release are ready.');
const timeout = z
  .union([z.string(), z.number()])
  .nullish()
  .describe('Timeout of the action: "5m". Default: the remaining time of the item.');
/** Upstream accepts any option here, since helm has many; they are not reported as unknown. */
const action = z
  .looseObject({
    atomic: flag('Undoes the action if it fails. Includes wait.'),
    force: flag('Replaces objects that cannot be updated.'),
    skipSchemaValidation: flag('Does not check the values against the schema of the chart.'),
    takeOwnership: flag('Takes over objects that do not belong to the release.'),
    timeout,
    wait,
  })
  .nullish();

const chart = z.object({
  ref: z
    .string()
    .nullish()
    .describe('Chart in a registry, with a tag or digest: "registry/charts/app:1.2.3".'),
  resourceRef: z
    .string()
    .nullish()
    .describe('Resource of a component, as the template function getResourceKey returns it.'),
  helmChartRepo: z
    .object({
      helmChartRepoUrl: z.string().describe('Address of the repository.'),
      helmChartName: z.string().describe('Name of the chart.'),
      helmChartVersion: z.string().describe('Version of the chart.'),
    })
    .nullish()
    .describe('Chart in a chart repository.'),
  archive: z
    .object({
      raw: z.string().nullish().describe('The packed chart, as base64.'),
      remote: z
        .object({ url: z.string().describe('Address of the packed chart, with http or https.') })
        .nullish()
        .describe('A packed chart at an address.'),
    })
    .nullish()
    .describe('A packed chart.'),
  fromResource: z
    .unknown()
    .optional()
    .meta({ deprecated: true })
    .describe('No longer supported; use resourceRef.'),
});

export const helmSchema = z.object({
  ...configurationHead(HELM_API_VERSION),
  name: z.string().describe('Name of the release.'),
  namespace: z.string().describe('Namespace of the release.'),
  createNamespace: flag('Creates the namespace if it does not exist.'),
  values: z.record(z.string(), z.unknown()).nullish().describe('Values of the chart.'),
  chart: chart.describe('Where the chart is. Exactly one source.'),
  helmDeployment: z
    .boolean()
    .nullish()
    .meta({ fallback: true })
    .describe('Whether the chart is installed as a release; otherwise its objects are applied directly.'),
  helmDeploymentConfig: z
    .object({
      install: action.describe('Options of installing.'),
      upgrade: action.describe('Options of upgrading.'),
      uninstall: z.looseObject({ timeout, wait }).nullish().describe('Options of uninstalling.'),
    })
    .nullish()
    .describe('Options of the actions on a release.'),
  updateStrategy: z
    .enum(strategies)
    .nullish()
    .meta({ fallback: 'update' })
    .describe('How objects that exist are changed, without a release.'),
  readinessChecks: readinessSchema,
  exports: exportsSchema,
  exportsFromManifests: z
    .array(exportSchema)
    .nullish()
    .meta({ deprecated: true })
    .describe('Older form of exports.'),
  deletionGroups: groupsSchema.describe(
    'In which order objects are deleted with the item, without a release.',
  ),
  deletionGroupsDuringUpdate: groupsSchema.describe('The same for objects that an update removes.'),
  continuousReconcile: continuousSchema,
});
