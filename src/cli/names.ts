/** The names of controllers and deployers in options, separate from their code so that help does not load it. */

import { GROUP } from '../api/labels.ts';

export const controllerNames = [
  'installation',
  'execution',
  'deployitem',
  'context',
  'targetsync',
  'syncobject',
  'health',
] as const;
export type ControllerName = (typeof controllerNames)[number];

export const deployerNames = ['helm', 'manifest', 'container', 'mock'] as const;
export type DeployerName = (typeof deployerNames)[number];

/** Of all pods that work on landscapes: the deployers may have a Deployment of their own. */
export const POD_LABELS =
  'app.kubernetes.io/name=espalier,app.kubernetes.io/component in (controllers,deployers)';
/** Selects the pods and Deployments of the controllers that `espalier install` and the chart create. */
export const CONTROLLER_LABELS = 'app.kubernetes.io/name=espalier,app.kubernetes.io/component=controllers';

/** The type of deploy items that each deployer handles. */
export const itemTypes: Readonly<Record<DeployerName, string>> = {
  helm: `${GROUP}/helm`,
  manifest: `${GROUP}/kubernetes-manifest`,
  container: `${GROUP}/container`,
  mock: `${GROUP}/mock`,
};
