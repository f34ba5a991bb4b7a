/** The kubeconfig functions as the engines call them. Each may interrupt the execution, see request.ts. */
import type { FunctionTable } from '../../templating/gotemplate/env.ts';
import { FunctionError } from '../../templating/gotemplate/errors.ts';
import { toPlain } from '../../templating/gotemplate/funcs/json.ts';
import { fn } from '../../templating/gotemplate/signature.ts';
import { GoMap, int64, type Value } from '../../templating/gotemplate/values.ts';
import {
  Unresolvable,
  type SpiffFunction,
  type SpiffFunctionTable,
} from '../../templating/spiff/function.ts';
import { fromJsonValue, toJsonValue } from '../../templating/spiff/json.ts';
import { KubeconfigUnusable } from './document.ts';
import { KubeconfigProblem } from './errors.ts';
import { kubeconfigFunctionNames, kubeconfigFunctions, type ExpiringKubeconfig } from './functions.ts';
import type { IssuedByKey } from './request.ts';

function goFunctions(issued: IssuedByKey | undefined): FunctionTable {
  const functions = kubeconfigFunctions(issued);
  const wrap = (name: (typeof kubeconfigFunctionNames)[number]) =>
    fn('...any', (...args: readonly Value[]) =>
      telling(
        () => goValue(functions[name](args.map(toPlain))),
        (message, options) => new FunctionError(message, options),
      ),
    );
  return Object.fromEntries(kubeconfigFunctionNames.map((name) => [name, wrap(name)]));
}

function goValue(result: string | ExpiringKubeconfig): Value {
  if (typeof result === 'string') return result;
  const { expirationTimestamp, ...texts } = result;
  return new GoMap(
    new Map<string, Value>([...Object.entries(texts), ['expirationTimestamp', int64(expirationTimestamp)]]),
  );
}

const without = goFunctions(undefined);
const asking = goFunctions({});

/** For GoTemplate and Handlebars. Without issued kubeconfigs, the table is always the same. */
export function kubeconfigFunctionsFor(issued: IssuedByKey | undefined): FunctionTable {
  if (!issued) return without;
  return Object.keys(issued).length === 0 ? asking : goFunctions(issued);
}

export function spiffKubeconfigFunctions(issued: IssuedByKey | undefined): SpiffFunctionTable {
  const functions = kubeconfigFunctions(issued);
  const wrap =
    (name: (typeof kubeconfigFunctionNames)[number]): SpiffFunction =>
    (args) =>
      telling(
        () => fromJsonValue(functions[name](args.map((arg) => toJsonValue(arg))), 'document'),
        (message, options) => new Unresolvable(message, options),
      );
  return Object.fromEntries(kubeconfigFunctionNames.map((name) => [name, wrap(name)]));
}

/** Throws problems in the class that the engine reports with their position. */
function telling<T>(work: () => T, asError: (message: string, options: ErrorOptions) => Error): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof KubeconfigProblem) && !(error instanceof KubeconfigUnusable)) throw error;
    throw asError(error.message, { cause: error });
  }
}
