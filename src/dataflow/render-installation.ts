/**
 * Renders an installation: from its imports to the objects that it creates, and from their results to its exports.
 * A job, `espalier plan` and rendering without a cluster use the same steps in the same order.
 */
import type { InstallationTemplate } from '../api/blueprint.ts';
import type { DeployItemTemplate } from '../api/kinds/execution.ts';
import type { Installation } from '../api/kinds/installation.ts';
import { parentInstallation } from '../api/job.ts';
import type { InstallationLimits } from '../api/limits.ts';
import { refusalForJob } from '../api/validation/index.ts';
import { renderDeployItems } from '../blueprint/deployitems.ts';
import { BlueprintProblem, DeployItemsInvalid, SubInstallationsInvalid } from '../blueprint/errors.ts';
import { renderExports, type ExportSources } from '../blueprint/exports.ts';
import type { ImportSet } from '../blueprint/import-set.ts';
import { constructImports, runImportExecutions } from '../blueprint/imports.ts';
import { withSupplies } from '../blueprint/interruptions.ts';
import { KubeconfigProblem } from '../blueprint/kubeconfigs/errors.ts';
import type { IssuedKubeconfigs } from '../blueprint/kubeconfigs/issued.ts';
import type { LoadedBlueprint } from '../blueprint/load.ts';
import type { JsonMap } from '../blueprint/model.ts';
import { templateScope, type RenderContext } from '../blueprint/render.ts';
import { openTexts, secretFinder, secretInChildren, secretInItems } from '../blueprint/secret-names.ts';
import type { States, StateUpdate } from '../blueprint/state.ts';
import {
  childInstallation,
  renderSubInstallations,
  type ChildInstallation,
} from '../blueprint/sub-installations.ts';
import type { TemplateRunner } from '../blueprint/work.ts';
import { ComponentProblem } from '../components/errors.ts';
import type { ComponentView } from '../components/view.ts';
import type { View } from '../lib/objects.ts';
import { exportObjects, importObjects, type WrittenObject } from './objects.ts';

export type RenderStep =
  'imports' | 'importExecutions' | 'importObjects' | 'subInstallations' | 'deployItems' | 'exports';

/** A step has failed; `cause` says why. */
export class StepFailed extends Error {
  override readonly cause: unknown;
  readonly step: RenderStep;

  constructor(step: RenderStep, cause: unknown) {
    super(`rendering failed at step ${step}`, { cause });
    this.name = 'StepFailed';
    this.cause = cause;
    this.step = step;
  }
}

/** A desired sub-installation, with the name of its template. */
export interface WantedChild {
  readonly name: string;
  readonly object: ChildInstallation;
}

/** The rendered blueprint. If sub-installations or deploy items cannot be rendered, they are a `Failure`. */
export interface Rendered<Failure = StepFailed> {
  readonly importObjects: readonly WrittenObject[];
  readonly children: readonly WantedChild[] | Failure;
  readonly items: readonly DeployItemTemplate[] | Failure;
  /** New states of executions, even if a later execution failed. */
  readonly states: readonly StateUpdate[];
  /** A line for each unknown field in the results of executions. */
  readonly unknownFields: readonly string[];
  /** Values of secrets in names, if they are allowed. */
  readonly secretsInNames: readonly string[];
}

export interface RenderedExports {
  readonly objects: readonly WrittenObject[];
  readonly states: readonly StateUpdate[];
}

export interface RenderTools {
  readonly runner: TemplateRunner;
  /** The stored states before the rendering. */
  readonly states: States;
  /** The kubeconfigs that templates requested; undefined without a cluster. */
  readonly kubeconfigs?: IssuedKubeconfigs | undefined;
  /** Default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits | undefined;
  /** Whether values of secrets in names are only reported; default: they are refused. */
  readonly allowsSecretsInNames?: boolean | undefined;
}

/** The input of a rendering. */
interface RenderInput {
  readonly self: View<Installation>;
  readonly blueprint: LoadedBlueprint;
  readonly imports: ImportSet;
  readonly tools: RenderTools;
  /** Receives values of secrets in names. */
  readonly exposed: string[];
}

/** @throws StepFailed if the imports are invalid, and for temporary failures of any step */
export async function renderInstallation(
  self: View<Installation>,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  tools: RenderTools,
): Promise<Rendered> {
  const exposed: string[] = [];
  const input = { self, blueprint, imports, tools, exposed };
  const { states } = tools;
  const unknown = new Set<string>();
  const context = { ...(await contextOf(input)), onUnknownField: (line: string) => void unknown.add(line) };
  const objects = await step(input, 'importObjects', () =>
    importObjects(self, blueprint, context.scope.imports),
  );
  const children = await returnFailure(
    step(input, 'subInstallations', () => states.attempt(() => renderChildren(input, context))),
  );
  const items = await returnFailure(
    step(input, 'deployItems', () => states.attempt(() => renderItems(input, context))),
  );
  const reported = { unknownFields: [...unknown], secretsInNames: [...new Set(exposed)] };
  return { importObjects: objects, children, items, states: states.updates, ...reported };
}

/** The exports as they are stored, and the new states of their executions. @throws StepFailed */
export async function renderInstallationExports(
  self: View<Installation>,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  sources: ExportSources,
  tools: RenderTools,
): Promise<RenderedExports> {
  const input = { self, blueprint, imports, tools, exposed: [] };
  const { states } = tools;
  const context = await contextOf(input);
  const values = await step(input, 'exports', () =>
    states.attempt(() => renderExports(context, self, sources)),
  );
  return { objects: exportObjects(self, parentInstallation(self.metadata), values), states: states.updates };
}

// ---------------------------------------------------------------- steps

/** The input of executions, with the values that import executions set. */
async function contextOf(input: RenderInput): Promise<RenderContext> {
  const { self, blueprint, imports, tools } = input;
  const contextFor = (values: JsonMap): RenderContext => ({
    ...tools,
    blueprint,
    scope: templateScope(self, values, blueprint),
    installation: self.metadata.name,
  });
  const constructed = await step(input, 'imports', () =>
    constructImports(self, blueprint, imports, tools.runner),
  );
  return step(input, 'importExecutions', async () =>
    contextFor(await runImportExecutions(contextFor(constructed))),
  );
}

const finderFor = ({ self, blueprint, imports }: RenderInput) =>
  secretFinder(imports, () => openTexts(self.metadata, blueprint.files, imports));

/** @param found a value of a secret in a name. @throws the problem, unless such values are allowed */
function checkNames(
  { tools, exposed }: RenderInput,
  found: string | undefined,
  Problem: typeof DeployItemsInvalid | typeof SubInstallationsInvalid,
): void {
  if (found === undefined) return;
  if (!tools.allowsSecretsInNames) throw new Problem(found);
  exposed.push(found);
}

async function renderChildren(input: RenderInput, context: RenderContext): Promise<WantedChild[]> {
  const { self, blueprint } = input;
  const templates = await renderSubInstallations(context);
  checkNames(input, secretInChildren(templates, finderFor(input)), SubInstallationsInvalid);
  return templates.map((template) => ({
    name: template.name,
    object: validChild(self, template, blueprint.component),
  }));
}

/** Refuses a child that no controller would accept. @throws SubInstallationsInvalid */
function validChild(
  self: View<Installation>,
  template: InstallationTemplate,
  component: ComponentView | undefined,
): ChildInstallation {
  const child = childInstallation(self, template, component);
  const refusal = refusalForJob('installations', child);
  if (refusal === undefined) return child;
  throw new SubInstallationsInvalid(`unable to create installation for ${template.name}: ${refusal}`);
}

async function renderItems(
  input: RenderInput,
  context: RenderContext,
): Promise<readonly DeployItemTemplate[]> {
  const { self, imports } = input;
  const items = await renderDeployItems(context, { ...imports, namespace: self.metadata.namespace ?? '' });
  checkNames(input, secretInItems(items, finderFor(input)), DeployItemsInvalid);
  return items;
}

/** Runs one step, and repeats it whenever it requests content or a kubeconfig. */
async function step<T>(
  { blueprint: { component }, tools: { kubeconfigs } }: RenderInput,
  name: RenderStep,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await withSupplies({ component, kubeconfigs }, work);
  } catch (error) {
    throw new StepFailed(name, error);
  }
}

const returnFailure = <T>(result: Promise<T>): Promise<T | StepFailed> =>
  result.catch((error: unknown) => {
    if (error instanceof StepFailed && isPermanent(error.cause)) return error;
    throw error;
  });

/** Whether a retry with the same input fails in the same way. */
const isPermanent = (error: unknown): boolean =>
  error instanceof BlueprintProblem ||
  ((error instanceof ComponentProblem || error instanceof KubeconfigProblem) && !error.isPassing);
