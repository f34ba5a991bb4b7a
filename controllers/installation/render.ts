/** Runs the blueprint of an installation, and says in upstream's words which step of it failed. */
import type { InstallationTemplate } from '../../src/api/blueprint.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import { parentInstallation } from '../../src/api/job.ts';
import type { InstallationLimits } from '../../src/api/limits.ts';
import { refusalForJob } from '../../src/api/validation/index.ts';
import { renderDeployItems } from '../../src/blueprint/deployitems.ts';
import {
  secretFinder,
  secretInChildren,
  secretInItems,
  type FindSecret,
} from '../../src/blueprint/secret-names.ts';
import {
  BlueprintProblem,
  ImportsRejected,
  DeployItemsInvalid,
  SubInstallationsInvalid,
} from '../../src/blueprint/errors.ts';
import { renderExports, type ExportSources } from '../../src/blueprint/exports.ts';
import { constructImports, runImportExecutions } from '../../src/blueprint/imports.ts';
import type { ImportSet } from '../../src/blueprint/import-set.ts';
import { loadBlueprint, type LoadedBlueprint } from '../../src/blueprint/load.ts';
import type { JsonMap } from '../../src/blueprint/model.ts';
import { templateScope, type RenderContext } from '../../src/blueprint/render.ts';
import type { States } from '../../src/blueprint/state.ts';
import type { TemplateRunner } from '../../src/blueprint/work.ts';
import { childInstallation, renderSubInstallations } from '../../src/blueprint/sub-installations.ts';
import { withSupplies, type Suppliers } from '../../src/blueprint/interruptions.ts';
import type { IssuedKubeconfigs } from '../../src/blueprint/kubeconfigs/issued.ts';
import type { ComponentView } from '../../src/components/view.ts';
import { exportObjects, importObjects } from '../../src/dataflow/objects.ts';
import { PhaseError, asText, type PhaseCondition } from '../../src/machine/decision.ts';
import type { View } from '../../src/runtime/types.ts';
import { maskError, shorten, type Mask } from '../../src/lib/masking.ts';
import { maskFor } from '../../src/blueprint/secrets.ts';
import { asPhaseError } from './component-errors.ts';
import type { Rendered, RenderedExportObjects, WantedChild } from './snapshot.ts';

type Self = View<Installation>;

/** @throws PhaseError when there is no usable blueprint */
export async function loadOrExplain(
  self: Self,
  component: ComponentView | undefined,
): Promise<LoadedBlueprint> {
  try {
    return await loadBlueprint(self.spec.blueprint, component);
  } catch (error) {
    if (!(error instanceof BlueprintProblem)) throw asPhaseError('ResolveBlueprint', error);
    throw new PhaseError('InitPrerequisites', 'ResolveBlueprint', error.message, error.codes, {
      cause: error,
    });
  }
}

/** @throws PhaseError when the imports do not fit; what fails later is an error inside the answer */
export async function renderForInit(
  self: Self,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  tools: Tools,
): Promise<Rendered> {
  const subject = {
    ...suppliersOf(blueprint, tools),
    mask: (text: string) => maskFor(imports, undefined, secretsIn(tools))(text),
  };
  const values = await importValues({ ...subject, steps: initSteps }, self, blueprint, imports, tools);
  const context = await explain(subject, initSteps, 'RenderImportExecutions', () =>
    renderContext(self, blueprint, values, tools),
  );
  const objects = await explain(
    subject,
    initSteps,
    'CreateOrUpdateImports',
    () => importObjects(self, blueprint, values),
    notStored,
  );
  const find = secretFinder(imports);
  const children = await orError(
    explain(subject, initSteps, 'EnsureSubinstallations', () =>
      context.states.attempt(() => renderChildren(self, context, find)),
    ),
  );
  const items = await orError(
    explain(
      subject,
      initSteps,
      'ReconcileExecution',
      () => context.states.attempt(() => renderItems(self, context, imports, find)),
      itemsFailed,
    ),
  );
  return { importObjects: objects, children, items, states: context.states.updates };
}

/** The exports as they are stored, and what their executions want to remember. @throws PhaseError */
export async function renderExportObjects(
  self: Self,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  sources: ExportSources,
  tools: Tools,
): Promise<RenderedExportObjects> {
  const subject = {
    ...suppliersOf(blueprint, tools),
    mask: (text: string) => maskFor(imports, sources, secretsIn(tools))(text),
  };
  const values = await importValues({ ...subject, steps: exportSteps }, self, blueprint, imports, tools);
  const context = await explain(subject, exportSteps, 'RenderImportExecutionsForExports', () =>
    renderContext(self, blueprint, values, tools),
  );
  const exported = await explain(subject, exportSteps, 'ConstructExports', () =>
    context.states.attempt(() => renderExports(context, self, sources)),
  );
  const objects = exportObjects(self, parentInstallation(self.metadata), exported);
  return { objects, states: context.states.updates };
}

async function importValues(
  { steps, ...subject }: Subject & { readonly steps: Steps },
  self: Self,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  tools: Tools,
): Promise<JsonMap> {
  const values = await explain(subject, steps, steps.construct, () =>
    constructImports(self, blueprint, imports, tools.runner),
  );
  return explain(
    subject,
    steps,
    steps.execute,
    () => runImportExecutions(renderContext(self, blueprint, values, tools)),
    steps.reason === undefined ? undefined : importsRejected,
  );
}

async function renderChildren(self: Self, context: RenderContext, find: FindSecret): Promise<WantedChild[]> {
  const templates = await renderSubInstallations(context);
  const exposed = secretInChildren(templates, find);
  if (exposed !== undefined) throw new SubInstallationsInvalid(exposed);
  return templates.map((template) => ({
    name: template.name,
    object: validChild(self, template, context.blueprint.component),
  }));
}

/** A child that could not be worked with is not made at all. @throws SubInstallationsInvalid */
function validChild(
  self: Self,
  template: InstallationTemplate,
  component: ComponentView | undefined,
): WantedChild['object'] {
  const child = childInstallation(self, template, component);
  const refusal = refusalForJob('installations', child);
  if (refusal === undefined) return child;
  throw new SubInstallationsInvalid(`unable to create installation for ${template.name}: ${refusal}`);
}

async function renderItems(
  self: Self,
  context: RenderContext,
  { targets, targetLists, targetMaps }: ImportSet,
  find: FindSecret,
) {
  const namespace = self.metadata.namespace ?? '';
  const items = await renderDeployItems(context, { namespace, targets, targetLists, targetMaps });
  const exposed = secretInItems(items, find);
  if (exposed !== undefined) throw new DeployItemsInvalid(exposed);
  return items;
}

export interface Tools {
  readonly runner: TemplateRunner;
  /** As they are stored when the phase begins. */
  readonly states: States;
  /** Those that templates have asked for in this pass. */
  readonly kubeconfigs: IssuedKubeconfigs;
  readonly limits: InstallationLimits;
}

const suppliersOf = ({ component }: LoadedBlueprint, { kubeconfigs }: Tools): Suppliers => ({
  component,
  kubeconfigs,
});

const secretsIn = ({ states, kubeconfigs }: Tools): readonly unknown[] => [
  ...states.documents,
  ...kubeconfigs.secrets,
];

const renderContext = (
  self: Self,
  blueprint: LoadedBlueprint,
  values: JsonMap,
  { runner, states, kubeconfigs, limits }: Tools,
): RenderContext => ({
  runner,
  states,
  kubeconfigs,
  limits,
  blueprint,
  scope: templateScope(self, values, blueprint),
  installation: self.metadata.name,
});

// ---------------------------------------------------------------- words

/** The names under which the steps of one phase fail. */
interface Steps {
  readonly operation: string;
  /** Reason of the phase's error; steps appear inside its message. Without it they are the reason themselves. */
  readonly reason?: string;
  readonly construct: string;
  readonly execute: string;
}
const initSteps: Steps = {
  operation: 'handlePhaseInit',
  reason: 'CreateImportsAndSubobjects',
  construct: 'ConstructImports',
  execute: 'RenderImportExecutions',
};
const exportSteps: Steps = {
  operation: 'handlePhaseCompleting',
  construct: 'ConstructImportsForExports',
  execute: 'RenderImportExecutionsForExports',
};

const importsRejected = (problem: BlueprintProblem): PhaseCondition => ({
  type: 'ValidateImports',
  status: 'False',
  reason: 'ImportValidationFailed',
  message: problem instanceof ImportsRejected ? problem.errors.join(', ') : 'Unable to template executions',
});

const notStored = ({ message }: BlueprintProblem): PhaseCondition => ({
  type: 'CreateImports',
  status: 'False',
  reason: 'CreateTargets',
  message,
});

const itemsFailed = ({ message }: BlueprintProblem): PhaseCondition => ({
  type: 'ReconcileExecution',
  status: 'False',
  reason: 'TemplatingFailed',
  message,
});

/** What a step is about: who supplies what it may need, and what its errors must not show. */
interface Subject extends Suppliers {
  /** Made when it is needed: executions before the one that fails may have noted state. */
  readonly mask: Mask;
}

/** Runs one step, again for each content and kubeconfig that it turns out to need. */
async function explain<T>(
  { mask, ...suppliers }: Subject,
  { operation, reason }: Steps,
  stepName: string,
  work: () => T | Promise<T>,
  condition?: (problem: BlueprintProblem) => PhaseCondition,
): Promise<T> {
  try {
    return await withSupplies(suppliers, work);
  } catch (caught) {
    const error = maskError(caught, mask);
    if (!(error instanceof BlueprintProblem)) throw asPhaseError(stepName, error, operation);
    const found = condition?.(error);
    const conditions = found ? [{ ...found, message: shorten(mask(found.message)) }] : [];
    const options = { cause: error, conditions };
    if (!reason) throw new PhaseError(operation, stepName, error.message, error.codes, options);
    const message = asText({ operation: reason, reason: stepName, message: error.message });
    throw new PhaseError(operation, reason, message, error.codes, options);
  }
}

const orError = <T>(result: Promise<T>): Promise<T | PhaseError> =>
  result.catch((error: unknown) => {
    if (error instanceof PhaseError && error.outcome === 'fail') return error;
    throw error;
  });
