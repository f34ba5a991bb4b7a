/**
 * Functions of Spiff executions that read components; `getResourceContent` may interrupt them, see components/view.ts.
 */
import { YamlError } from '../lib/yaml.ts';
import { componentFunctions, type ComponentFunctionName } from '../components/functions.ts';
import { ComponentProblem } from '../components/errors.ts';
import type { ComponentView } from '../components/view.ts';
import { Unresolvable, type SpiffFunction, type SpiffFunctionTable } from '../templating/spiff/function.ts';
import { fromJsonValue, toJsonValue } from '../templating/spiff/json.ts';
import { readSpiffYaml } from '../templating/spiff/yaml/index.ts';
import type { SpiffValue } from '../templating/spiff/value.ts';

/** `getResources` and `getRepositoryContext` exist only in GoTemplate. */
const NAMES = ['getResource', 'getComponent', 'getResourceKey', 'getResourceContent'] as const;

/** How a JSON result is returned to the template. */
const READERS: Partial<Record<ComponentFunctionName, (result: unknown) => SpiffValue>> = {
  getResourceContent: (result) => parsed(String(result)),
};

export function spiffFunctionsFor(view: ComponentView | undefined): SpiffFunctionTable {
  const functions = componentFunctions(view);
  const wrap =
    (name: (typeof NAMES)[number]): SpiffFunction =>
    (args) => {
      try {
        const result = functions[name](args.map((arg) => argument(name, arg)));
        return READERS[name]?.(result) ?? fromJsonValue(result, 'document');
      } catch (error) {
        if (error instanceof ComponentProblem) throw new Unresolvable(error.message, { cause: error });
        throw error;
      }
    };
  return Object.fromEntries(NAMES.map((name) => [name, wrap(name)]));
}

/** References may be maps as well as strings. */
function argument(name: ComponentFunctionName, arg: SpiffValue): unknown {
  const value = toJsonValue(arg);
  const isReference = name === 'getResourceKey' || name === 'getResourceContent';
  return isReference && typeof value === 'object' ? JSON.stringify(value) : value;
}

/** Contents are returned as values if they are YAML, and as strings otherwise. */
function parsed(text: string): SpiffValue {
  try {
    return readSpiffYaml(text);
  } catch (error) {
    if (error instanceof YamlError) return text;
    throw error;
  }
}
