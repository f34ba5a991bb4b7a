/** Template functions that read components. Without a component they exist, and fail with the reason. */
import { componentFunctionNames, componentFunctions } from '../components/functions.ts';
import { ComponentProblem } from '../components/errors.ts';
import type { ComponentView } from '../components/view.ts';
import type { FunctionTable } from '../templating/gotemplate/env.ts';
import { FunctionError } from '../templating/gotemplate/errors.ts';
import { toPlain } from '../templating/gotemplate/funcs/json.ts';
import { fn } from '../templating/gotemplate/signature.ts';
import { fromJson, type Value } from '../templating/gotemplate/values.ts';

/** `getResourceContent` may interrupt the execution, see components/view.ts. */
function goFunctionsFor(view: ComponentView | undefined): FunctionTable {
  const functions = componentFunctions(view);
  return Object.fromEntries(
    componentFunctionNames.map((name) => [
      name,
      fn('...any', (...args: readonly Value[]) => {
        try {
          return fromJson(functions[name](args.map(toPlain)));
        } catch (error) {
          if (error instanceof ComponentProblem) throw new FunctionError(error.message, { cause: error });
          throw error;
        }
      }),
    ]),
  );
}

const functionsWithoutComponent: FunctionTable = goFunctionsFor(undefined);
const tables = new WeakMap<ComponentView, FunctionTable>();

/** One table per component, because engines cache results by table. */
export function componentFunctionsFor(component: ComponentView | undefined): FunctionTable {
  if (!component) return functionsWithoutComponent;
  const known = tables.get(component) ?? goFunctionsFor(component);
  tables.set(component, known);
  return known;
}
