/** TargetSync: creates targets in its namespace from secrets or shoots of another cluster. */
import { z } from 'zod';
import { targetSyncKind } from '../landscaper-kinds.ts';
import { int64, localKeyReference, objectName, objectOf, open, time, type Definition } from '../shared.ts';

const targetSyncSpec = open({
  sourceNamespace: objectName().describe('Namespace on the source cluster.'),
  secretRef: localKeyReference.describe('Secret with the kubeconfig of the source cluster.'),
  secretNameExpression: z
    .string()
    .optional()
    .describe('Regular expression for names of secrets to synchronise; "*" alone means all.'),
  shootNameExpression: z
    .string()
    .optional()
    .describe(
      'Regular expression for names of shoots to synchronise, instead of secrets; "*" alone means all.',
    ),
  createTargetToSource: z.boolean().optional().describe('Also create a target for the source cluster.'),
  targetToSourceName: objectName()
    .optional()
    .describe('Name of that target. Default: the name of the source namespace.'),
  tokenRotation: open({
    enabled: z.boolean().optional().describe('Whether the token is renewed.'),
  })
    .optional()
    .describe('Renews the token in the kubeconfig of the source cluster periodically.'),
});
export type TargetSyncSpec = z.infer<typeof targetSyncSpec>;

const targetSyncStatus = open({
  observedGeneration: int64().optional().describe('Generation of the spec that was synchronised last.'),
  lastUpdateTime: time().optional().describe('When the last reconcile ended.'),
  lastErrors: z.array(z.string()).optional().describe('Errors of the last reconcile.'),
  lastTokenRotationTime: time().optional().describe('When the token was renewed last.'),
});

const targetSync = objectOf('TargetSync', {
  spec: targetSyncSpec.describe('What to synchronise.'),
  status: targetSyncStatus.optional().describe('Result of the last reconcile.'),
});
export type TargetSync = z.infer<typeof targetSync>;

export { targetSyncKind };

export const targetSyncDefinition: Definition = {
  kind: targetSyncKind,
  singular: 'targetsync',
  shortNames: ['tgs'],
  columns: [],
  statusSubresource: true,
  description: 'Creates targets from secrets or shoots of another cluster and keeps them up to date.',
  schema: targetSync,
};
