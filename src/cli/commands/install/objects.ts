/** All objects of the product, in the order in which they are written. Pure, except that it reads the CRD files. */
import { loadCrds } from '../../../api/crds.ts';
import type { Obj } from '../../../runtime/types.ts';
import { namespaceObject } from '../../objects.ts';
import { configMapOf } from './configuration.ts';
import { controllerDeployment, webhookDeployment, webhookService } from './deployment.ts';
import { controllerRights, webhookRights } from './rights.ts';
import { policies } from './policies.ts';
import type { InstallSettings } from './settings.ts';

/** All objects except the CustomResourceDefinitions. Rights are written before the Deployments that need them. */
export const productObjects = (settings: InstallSettings): readonly Obj[] => [
  namespaceObject(settings.namespace),
  ...controllerRights(settings),
  ...(settings.webhooks ? webhookRights(settings) : []),
  ...(settings.configuration ? [configMapOf(settings.namespace, settings.configuration)] : []),
  ...policies('controllers', settings),
  controllerDeployment(settings),
  ...(settings.webhooks
    ? [...policies('webhooks', settings), webhookService(settings), webhookDeployment(settings)]
    : []),
];

/** The output of `--dry-run`. @throws Error if this package contains no CRDs */
export const printedObjects = (settings: InstallSettings): readonly unknown[] => [
  ...(settings.crds ? loadCrds() : []),
  ...productObjects(settings),
];
