/** What every template execution sees, and how one is run: the bridge to the template engines. */
import type { TemplateExecutor } from '../api/blueprint.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { Clock } from '../lib/clock.ts';
import type { View } from '../lib/objects.ts';
import type { Rng } from '../lib/rng.ts';
import type { FunctionTable } from '../templating/gotemplate/env.ts';
import { RenderError } from '../templating/errors.ts';
import { renderExecution, renderWithState, type EngineOptions } from '../templating/render.ts';
import type { SpiffFunctionTable } from '../templating/spiff/function.ts';
import { ComponentProblem } from '../components/errors.ts';
import { componentValues } from '../components/functions.ts';
import type { ComponentView } from '../components/view.ts';
import { functionsWithoutComponent, goFunctionsFor } from './componentfunctions.ts';
import { TemplateFailed } from './errors.ts';
import type { LoadedBlueprint } from './load.ts';
import type { JsonMap } from './model.ts';
import { spiffFunctionsFor } from './spifffunctions.ts';
import { stateSecretName, type States } from './state.ts';

/** Root values shared by all executions of an installation. */
export interface TemplateScope {
  readonly imports: JsonMap;
  readonly cd: unknown;
  readonly components: unknown;
  readonly blueprint: unknown;
  readonly blueprintDef: unknown;
  readonly componentDescriptorDef: unknown;
}

/** For template functions such as `now` and `randAlpha`, and for limits. */
export interface Chance {
  readonly clock: Clock;
  readonly rng: Rng;
}

export interface RenderContext extends Chance {
  readonly blueprint: LoadedBlueprint;
  readonly scope: TemplateScope;
  /** Name of the installation; the names of state secrets contain it. */
  readonly installation: string;
  /** What executions have remembered, and what they want to. */
  readonly states: States;
}

export type ExecutionKind = 'import' | 'subinstallation' | 'deploy' | 'export';

/**
 * The root values of an installation.
 * @throws TemplateFailed when the blueprint wants its component in a form that nobody knows
 */
export function templateScope(
  installation: View<Installation>,
  imports: JsonMap,
  { component, info }: Partial<Pick<LoadedBlueprint, 'component' | 'info'>> = {},
): TemplateScope {
  return {
    imports,
    ...(component ? componentScope(component, info?.annotations) : { cd: null, components: null }),
    blueprint: installation.spec.blueprint,
    blueprintDef: installation.spec.blueprint,
    componentDescriptorDef: component
      ? definitionOf(component)
      : (installation.spec.componentDescriptor ?? {}),
  };
}

/** Annotation of a blueprint: the form of descriptors that its templates were written for. */
const FORM_ANNOTATION = 'ocmSchemaVersion';

function componentScope(component: ComponentView, annotations: View<Record<string, string>> | undefined) {
  try {
    return componentValues(component, annotations?.[FORM_ANNOTATION]);
  } catch (cause) {
    if (!(cause instanceof ComponentProblem)) throw cause;
    const message = `error during serializing of the resolved components: ${cause.message}`;
    throw new TemplateFailed(`${HEADINGS.import}${message}`, { cause });
  }
}

/** Where the component comes from, after overwrites. */
function definitionOf({ source }: ComponentView): unknown {
  if (source.kind === 'inline') return { inline: source.document };
  const { repositoryContext, componentName, version } = source.effective;
  return { ref: { ...(repositoryContext && { repositoryContext }), componentName, version } };
}

/** What goes before the message of the engine, as upstream nests it. */
const HEADINGS: Readonly<Record<ExecutionKind, string>> = {
  import: 'unable to template executions: ',
  subinstallation: 'unable to get installation templates of blueprint: unable to template subinstallations: ',
  deploy: 'unable to template executions: ',
  export: '',
};

/**
 * The result of an execution. What it wants to remember is noted in the context's states.
 * @param more root values of this kind besides the common ones
 * @throws TemplateFailed
 */
export function runExecution(
  { blueprint, scope, installation, states, clock, rng }: RenderContext,
  executor: View<TemplateExecutor>,
  { kind, more = {} }: { readonly kind: ExecutionKind; readonly more?: JsonMap },
): unknown {
  const options: EngineOptions = {
    clock,
    rng,
    files: blueprint.files,
    ...functionsOf(blueprint.component),
  };
  try {
    if (kind === 'import') {
      return renderExecution(executor, { ...scope }, options);
    }
    const group = kind === 'export' ? 'export' : 'deploy';
    const secretName = stateSecretName(installation, group, executor.name ?? '');
    const { output, state } = renderWithState(
      executor,
      { ...scope, ...more },
      { ...options, refuseNoValueIn: `${kind} execution` },
      states.get(secretName),
    );
    if (state) states.note({ secretName, ...state });
    return output;
  } catch (cause) {
    if (!(cause instanceof RenderError)) throw cause;
    throw new TemplateFailed(`${HEADINGS[kind]}${cause.message}`, { cause });
  }
}

interface Functions {
  readonly functions: FunctionTable;
  readonly spiffFunctions: SpiffFunctionTable;
}
const tables = new WeakMap<ComponentView, Functions>();
const withoutComponent: Functions = {
  functions: functionsWithoutComponent,
  spiffFunctions: spiffFunctionsFor(undefined),
};

/** One table per component, because engines remember what they make of it. */
function functionsOf(component: ComponentView | undefined): Functions {
  if (!component) return withoutComponent;
  const known = tables.get(component);
  if (known) return known;
  const table = { functions: goFunctionsFor(component), spiffFunctions: spiffFunctionsFor(component) };
  tables.set(component, table);
  return table;
}

/** The failure to read what a template produced as what it should be. */
export function unreadableResult(kind: ExecutionKind, why: string, cause: unknown): TemplateFailed {
  const heading = kind === 'export' ? '' : `${HEADINGS[kind]}error while decoding templated execution: `;
  return new TemplateFailed(`${heading}${why}`, { cause });
}
