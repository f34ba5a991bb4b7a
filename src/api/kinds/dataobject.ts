/** DataObject: one value, shared between installations of a scope. */
import type { z } from 'zod';
import { CATEGORY, labels } from '../labels.ts';
import { dataObjectKind } from '../landscaper-kinds.ts';
import { ageColumn, anyJson, labelColumn, objectOf, type Definition } from '../shared.ts';

const dataObject = objectOf('DataObject', {
  data: anyJson().meta({ nullable: true }).describe('The value: any JSON, null included.'),
});
export type DataObject = z.infer<typeof dataObject>;

export { dataObjectKind };

export const dataObjectDefinition: Definition = {
  kind: dataObjectKind,
  singular: 'dataobject',
  shortNames: ['dobj', 'do'],
  categories: [CATEGORY],
  columns: [
    labelColumn('Context', labels.dataContext),
    labelColumn('Key', labels.dataKey),
    ageColumn,
    { ...labelColumn('Source', labels.dataSource), isWide: true },
    { ...labelColumn('SourceType', labels.dataSourceType), isWide: true },
  ],
  statusSubresource: false,
  description: 'One value that an installation exports or imports.',
  schema: dataObject,
};
