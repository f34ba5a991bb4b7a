// Preloaded into Stryker: its mocha runner imports files of mocha without their extension, which mocha 12 no longer
// supports.
import { registerHooks } from 'node:module';

const ASKED = /[\\/]mocha[\\/]lib[\\/]cli[\\/](?:run-helpers|options|collect-files)$/;

registerHooks({
  resolve: (specifier, context, next) =>
    next(ASKED.test(specifier) ? `${specifier}.cjs` : specifier, context),
});
