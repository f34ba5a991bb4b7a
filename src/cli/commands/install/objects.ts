/** All objects of an installation of the product, in the order in which they are written. Pure but for the definitions. */
import { loadCrds } from '../../../api/crds.ts';
import type { Obj } from '../../../runtime/types.ts';
import { namespaceObject } from '../../objects.ts';
import { configMapOf } from './configuration.ts';
import { controllerDeployment, webhookDeployment, webhookService } from './deployment.ts';
import { controllerRights, webhookRights } from './rights.ts';
import { policies } from './policies.ts';
import type { InstallSettings } from './settings.ts';

/** The CustomResourceDefinitions aside. Rights come before those who use them. */
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

/** What `--dry-run` prints. @throws Error when this copy comes without definitions */
export const printedObjects = (settings: InstallSettings): readonly unknown[] => [
  ...(settings.crds ? loadCrds() : []),
  ...productObjects(settings),
];
