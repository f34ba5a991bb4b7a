/** Target: the address and the credentials of a place to deploy to. */
import { z } from 'zod';
import { CATEGORY, labels } from '../labels.ts';
import { targetKind } from '../landscaper-kinds.ts';
import {
  ageColumn,
  anyJson,
  labelColumn,
  localKeyReference,
  objectOf,
  open,
  typeColumn,
  type Definition,
} from '../shared.ts';

const targetSpec = open({
  type: z.string().describe('Type of the target; it determines the format of the configuration.'),
  config: anyJson().optional().describe('Access data. At most one of config and secretRef may be given.'),
  secretRef: localKeyReference
    .optional()
    .describe('Secret of the same namespace that holds the access data.'),
});
export type TargetSpec = z.infer<typeof targetSpec>;

export const target = objectOf('Target', { spec: targetSpec.describe('Where to deploy to.') });
/** A place to deploy to, with the credentials for it. */
export type Target = z.infer<typeof target>;

export { targetKind };

export const targetDefinition: Definition = {
  kind: targetKind,
  singular: 'target',
  shortNames: ['tgt', 'tg'],
  categories: [CATEGORY],
  columns: [
    typeColumn,
    labelColumn('Context', labels.dataContext),
    labelColumn('Key', labels.dataKey),
    labelColumn('Idx', labels.dataIndex),
    labelColumn('TMKey', labels.dataTargetMapKey),
    ageColumn,
  ],
  statusSubresource: false,
  description: 'A place to deploy to, with the credentials for it.',
  schema: target,
};
