/**
 * The template functions that blueprints have in addition to those of Go templates, except for those that depend on
 * nothing outside.
 */
import type { ComponentView } from '../components/view.ts';
import type { FunctionTable } from '../templating/gotemplate/env.ts';
import { componentFunctionsFor } from './component-functions.ts';
import { kubeconfigFunctionsFor } from './kubeconfigs/engines.ts';
import type { IssuedByKey } from './kubeconfigs/request.ts';

const tables = new WeakMap<FunctionTable, WeakMap<FunctionTable, FunctionTable>>();

/**
 * One table for each pair, because engines cache results by table.
 * @param issued undefined if there is no cluster to request kubeconfigs from
 */
export function templateFunctions(component: ComponentView | undefined, issued?: IssuedByKey): FunctionTable {
  const own = componentFunctionsFor(component);
  const kubeconfigs = kubeconfigFunctionsFor(issued);
  const known = tables.get(own) ?? new WeakMap<FunctionTable, FunctionTable>();
  tables.set(own, known);
  const table = known.get(kubeconfigs) ?? { ...own, ...kubeconfigs };
  known.set(kubeconfigs, table);
  return table;
}
