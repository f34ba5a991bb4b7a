/** Optional features of the language: all disabled, as in Landscaper. */
import type { SpiffFunctionTable } from '../function.ts';
import { fail, text } from './arguments.ts';

export const featureFunctions: SpiffFunctionTable = {
  features: (args) => {
    if (args.length > 1) fail('features acctepts a maximum of one arguments');
    if (args.length === 0) return [];
    text(args[0], 'features: argument must be a string');
    return false;
  },
};
