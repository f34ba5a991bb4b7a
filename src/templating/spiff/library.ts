/** The functions of the language that need nothing but their arguments. */
import type { SpiffFunctionTable } from './function.ts';

export const library: SpiffFunctionTable = {};
