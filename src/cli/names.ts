/** What controllers and deployers are called in options, apart from their code so that help can name them. */

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

export const deployerNames = ['helm', 'manifest', 'mock'] as const;
export type DeployerName = (typeof deployerNames)[number];
