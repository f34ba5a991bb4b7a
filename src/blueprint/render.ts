/** The root values of every template execution, and how an execution runs: the bridge to the template engines. */
import type { z } from 'zod';
import type { TemplateExecutor } from '../api/blueprint.ts';
import type { InstallationLimits } from '../api/limits.ts';
import type { Installation } from '../api/kinds/installation.ts';
import type { View } from '../lib/objects.ts';
import { RenderError } from '../templating/errors.ts';
import { ComponentProblem } from '../components/errors.ts';
import type { SchemaVersion } from '../components/descriptor.ts';
import type { ComponentView } from '../components/view.ts';
import { TemplateFailed } from './errors.ts';
import type { IssuedKubeconfigs } from './kubeconfigs/issued.ts';
import type { LoadedBlueprint } from './load.ts';
import type { JsonMap } from './model.ts';
import { stateSecretName, type States } from './state.ts';
import { unknownFieldsIn } from './unknown-fields.ts';
import type { TemplateRunner } from './work.ts';

/** Root values shared by all executions of an installation. */
interface TemplateScope {
  readonly imports: JsonMap;
  readonly cd: unknown;
  readonly components: unknown;
  readonly blueprint: unknown;
  readonly blueprintDef: unknown;
  readonly componentDescriptorDef: unknown;
}

export interface RenderContext {
  readonly blueprint: LoadedBlueprint;
  readonly scope: TemplateScope;
  /** Name of the installation; the names of state secrets contain it. */
  readonly installation: string;
  /** Stored and new states of executions. */
  readonly states: States;
  readonly runner: TemplateRunner;
  /** Default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits | undefined;
  /** Undefined if there is no cluster. */
  readonly kubeconfigs?: IssuedKubeconfigs | undefined;
  /** Receives a line for each unknown field in the result of an execution; again when a step is repeated. */
  readonly onUnknownField?: ((line: string) => void) | undefined;
}

export type ExecutionKind = 'import' | 'subinstallation' | 'deploy' | 'export';

/**
 * The root values of templates of an installation.
 * @throws TemplateFailed when the blueprint requests its component in an unknown format
 */
export function templateScope(
  installation: View<Installation>,
  imports: JsonMap,
  { component, info = {} }: Partial<Pick<LoadedBlueprint, 'component' | 'info'>> = {},
): TemplateScope {
  formOf({ component, info });
  return {
    imports,
    // Set in the worker process: a component can be large, and is sent once for all executions.
    cd: null,
    components: null,
    blueprint: installation.spec.blueprint,
    blueprintDef: installation.spec.blueprint,
    componentDescriptorDef: component
      ? definitionOf(component)
      : (installation.spec.componentDescriptor ?? {}),
  };
}

/** Annotation of a blueprint: the descriptor format that its templates expect. */
const FORM_ANNOTATION = 'ocmSchemaVersion';

function formOf({ component, info }: Pick<LoadedBlueprint, 'component' | 'info'>): SchemaVersion | undefined {
  try {
    return component?.formFor(info.annotations?.[FORM_ANNOTATION]);
  } catch (cause) {
    if (!(cause instanceof ComponentProblem)) throw cause;
    const message = `error during serializing of the resolved components: ${cause.message}`;
    throw new TemplateFailed(`${HEADINGS.import}${message}`, { cause });
  }
}

/** Where the component is read from, after overwrites. */
function definitionOf({ source }: ComponentView): unknown {
  if (source.kind === 'inline') return { inline: source.document };
  const { repositoryContext, componentName, version } = source.effective;
  return { ref: { ...(repositoryContext && { repositoryContext }), componentName, version } };
}

/** Reports the unknown fields of a result to the context. */
export function noteUnknownFields(
  { onUnknownField }: RenderContext,
  schema: z.ZodType,
  output: unknown,
  kind: ExecutionKind,
  { name = '' }: View<TemplateExecutor>,
): void {
  if (!onUnknownField) return;
  for (const message of unknownFieldsIn(schema, output)) {
    onUnknownField(`result of ${kind} execution "${name}": ${message}`);
  }
}

/** Prefixes of the engine's message, nested like upstream's. */
const HEADINGS: Readonly<Record<ExecutionKind, string>> = {
  import: 'unable to template executions: ',
  subinstallation: 'unable to get installation templates of blueprint: unable to template subinstallations: ',
  deploy: 'unable to template executions: ',
  export: '',
};

/**
 * The result of an execution. Its new state is added to the states of the context.
 * @param more root values of this kind besides the common ones
 * @throws TemplateFailed
 */
export async function runExecution(
  { blueprint, scope, installation, states, runner, kubeconfigs: issued }: RenderContext,
  execution: View<TemplateExecutor>,
  { kind, more = {} }: { readonly kind: ExecutionKind; readonly more?: JsonMap },
): Promise<unknown> {
  const common = { execution, blueprint, form: formOf(blueprint), kubeconfigs: issued?.byKey };
  try {
    if (kind === 'import') {
      const { output } = await runner.render({ ...common, values: { ...scope } });
      return output;
    }
    const group = kind === 'export' ? 'export' : 'deploy';
    const secretName = stateSecretName(installation, group, execution.name ?? '');
    const { output, state } = await runner.render({
      ...common,
      values: { ...scope, ...more },
      stored: states.get(secretName),
      refuseNoValueIn: `${kind} execution`,
    });
    if (state) states.note({ secretName, ...state });
    return output;
  } catch (cause) {
    if (!(cause instanceof RenderError)) throw cause;
    throw new TemplateFailed(`${HEADINGS[kind]}${cause.message}${whichExecution(kind, execution)}`, {
      cause,
    });
  }
}

/** The last line of a message: which execution it was, which upstream does not say. */
const whichExecution = (
  kind: ExecutionKind,
  { name = '', file, template }: View<TemplateExecutor>,
): string => {
  const isFile = file !== undefined && (template === undefined || template === null);
  return `\nin ${kind} execution "${name}"${isFile ? `, file ${file}` : ''}`;
};

/** The error if the output of a template is not a valid result. */
export function unreadableResult(
  kind: ExecutionKind,
  execution: View<TemplateExecutor>,
  cause: unknown,
): TemplateFailed {
  const heading = kind === 'export' ? '' : `${HEADINGS[kind]}error while decoding templated execution: `;
  const why = `${(cause as Error).message}${whichExecution(kind, execution)}`;
  return new TemplateFailed(`${heading}${why}`, { cause });
}
