/** What controllers and deployers are called in options, apart from their code so that help can name them. */

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

/** The type of the deploy items that each one serves. */
export const itemTypes: Readonly<Record<DeployerName, string>> = {
  helm: `${GROUP}/helm`,
  manifest: `${GROUP}/kubernetes-manifest`,
  container: `${GROUP}/container`,
  mock: `${GROUP}/mock`,
};
