/** ComponentVersionOverwrites: replaces component versions by others before they are fetched. */
import { z } from 'zod';
import { componentVersionOverwritesKind } from '../landscaper-kinds.ts';
import { anyObject, objectOf, open, type Definition } from '../shared.ts';

const componentVersionOverwriteReference = open({
  repositoryContext: anyObject().optional().describe('Repository that holds the component.'),
  componentName: z.string().optional().describe('Name of the component.'),
  version: z.string().optional().describe('Version of the component.'),
});

const componentVersionOverwrite = open({
  source: componentVersionOverwriteReference.describe(
    'Component version to replace. An unset field matches any value.',
  ),
  substitution: componentVersionOverwriteReference.describe('Replacement. An unset field is not changed.'),
});

const componentVersionOverwrites = objectOf('ComponentVersionOverwrites', {
  overwrites: z.array(componentVersionOverwrite).optional().describe('The replacements, tried in order.'),
});
export type ComponentVersionOverwrites = z.infer<typeof componentVersionOverwrites>;

export { componentVersionOverwritesKind };

export const componentVersionOverwritesDefinition: Definition = {
  kind: componentVersionOverwritesKind,
  singular: 'componentversionoverwrite',
  shortNames: ['compveroverwrite', 'cvo'],
  columns: [],
  statusSubresource: false,
  description: 'Replaces component versions by others, for all installations that use a context.',
  schema: componentVersionOverwrites,
};
