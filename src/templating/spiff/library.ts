/** The functions of the language that need nothing but their arguments. */
export { standardFunctions as library } from './functions/index.ts';
