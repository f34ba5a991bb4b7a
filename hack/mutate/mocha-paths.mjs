// Preloaded into Stryker: its mocha runner asks for files of mocha without their ending, which mocha 12 no longer answers.
import { registerHooks } from 'node:module';

const ASKED = /[\\/]mocha[\\/]lib[\\/]cli[\\/](?:run-helpers|options|collect-files)$/;

registerHooks({
  resolve: (specifier, context, next) =>
    next(ASKED.test(specifier) ? `${specifier}.cjs` : specifier, context),
});
