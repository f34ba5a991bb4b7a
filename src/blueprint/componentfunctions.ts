/** Template functions that look into components. Without a component they exist and say why they cannot answer. */
import type { FunctionTable } from '../templating/gotemplate/env.ts';
import { FunctionError } from '../templating/gotemplate/errors.ts';
import { fn } from '../templating/gotemplate/signature.ts';

const failing = (message: string) =>
  fn('...any', () => {
    throw new FunctionError(message);
  });

const NO_RESOURCE = 'Unable to search for a resource as no ComponentDescriptor is defined.';
const NO_COMPONENT = 'Unable to search for a component as no ComponentDescriptor is defined.';
const NO_CONTEXT = 'Unable to get effective component descriptor as no ComponentDescriptor is defined.';
const NO_VERSION = 'unable to use this function without ocm component version';

export const functionsWithoutComponent: FunctionTable = {
  getResource: failing(NO_RESOURCE),
  getResources: failing(NO_RESOURCE),
  getComponent: failing(NO_COMPONENT),
  getRepositoryContext: failing(NO_CONTEXT),
  getResourceKey: failing(NO_VERSION),
  getResourceContent: failing(NO_VERSION),
};
