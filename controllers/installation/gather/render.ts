/** Renders the blueprint of an installation, and reports failures with upstream's names of the steps. */
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { BlueprintProblem, ImportsRejected } from '../../../src/blueprint/errors.ts';
import type { ExportSources } from '../../../src/blueprint/exports.ts';
import type { ImportSet } from '../../../src/blueprint/import-set.ts';
import type { IssuedKubeconfigs } from '../../../src/blueprint/kubeconfigs/issued.ts';
import { loadBlueprint, type LoadedBlueprint } from '../../../src/blueprint/load.ts';
import { maskFor } from '../../../src/blueprint/secrets.ts';
import type { ComponentView } from '../../../src/components/view.ts';
import {
  renderInstallation,
  renderInstallationExports,
  StepFailed,
  type RenderedExports,
  type RenderStep,
  type RenderTools,
} from '../../../src/dataflow/render-installation.ts';
import { maskError, shorten, type Mask } from '../../../src/lib/masking.ts';
import { PhaseError, asText, type PhaseCondition } from '../../../src/machine/decision.ts';
import type { View } from '../../../src/runtime/types.ts';
import { asPhaseError } from './component-errors.ts';
import type { Rendered } from '../snapshot.ts';

type Self = View<Installation>;

/** @throws PhaseError if the blueprint cannot be loaded */
export async function loadBlueprintOrFail(
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

export type Tools = RenderTools & { readonly kubeconfigs: IssuedKubeconfigs };

/** @throws PhaseError if the imports are invalid; later failures are returned as part of the result */
export async function renderForInit(
  self: Self,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  tools: Tools,
): Promise<Rendered> {
  const mask = maskFrom(imports, tools);
  const phaseErrorOf = errorTranslator(initNames, mask);
  try {
    const { children, items, unknownFields, secretsInNames, ...rest } = await renderInstallation(
      self,
      blueprint,
      imports,
      tools,
    );
    return {
      ...rest,
      unknownFields: unknownFields.map((line) => shorten(mask(line))),
      secretsInNames: secretsInNames.map((line) => shorten(mask(line))),
      children: children instanceof StepFailed ? errorAsResult(phaseErrorOf(children)) : children,
      items: items instanceof StepFailed ? errorAsResult(phaseErrorOf(items)) : items,
    };
  } catch (error) {
    throw phaseErrorOf(error);
  }
}

/** @throws PhaseError */
export async function renderExportObjects(
  self: Self,
  blueprint: LoadedBlueprint,
  imports: ImportSet,
  sources: ExportSources,
  tools: Tools,
): Promise<RenderedExports> {
  try {
    return await renderInstallationExports(self, blueprint, imports, sources, tools);
  } catch (error) {
    throw errorTranslator(exportNames, maskFrom(imports, tools, sources))(error);
  }
}

// ---------------------------------------------------------------- names of steps

/** The names that upstream gives to the steps of one phase. */
interface StepNames {
  readonly operation: string;
  /**
   * Reason of the phase's error; the name of the step then appears in the message. Without it, the name of the step
   * is the reason.
   */
  readonly reason?: string;
  readonly steps: Partial<Readonly<Record<RenderStep, string>>>;
  readonly conditions?: Partial<Readonly<Record<RenderStep, (problem: BlueprintProblem) => PhaseCondition>>>;
}

const initNames: StepNames = {
  operation: 'handlePhaseInit',
  reason: 'CreateImportsAndSubobjects',
  steps: {
    imports: 'ConstructImports',
    importExecutions: 'RenderImportExecutions',
    importObjects: 'CreateOrUpdateImports',
    subInstallations: 'EnsureSubinstallations',
    deployItems: 'ReconcileExecution',
  },
  conditions: {
    importExecutions: (problem) => ({
      type: 'ValidateImports',
      status: 'False',
      reason: 'ImportValidationFailed',
      message:
        problem instanceof ImportsRejected ? problem.errors.join(', ') : 'Unable to template executions',
    }),
    importObjects: ({ message }) => ({
      type: 'CreateImports',
      status: 'False',
      reason: 'CreateTargets',
      message,
    }),
    deployItems: ({ message }) => ({
      type: 'ReconcileExecution',
      status: 'False',
      reason: 'TemplatingFailed',
      message,
    }),
  },
};

const exportNames: StepNames = {
  operation: 'handlePhaseCompleting',
  steps: {
    imports: 'ConstructImportsForExports',
    importExecutions: 'RenderImportExecutionsForExports',
    exports: 'ConstructExports',
  },
};

/**
 * Removes secrets from error messages. It reads the states when it is called, because executions may have stored
 * state before one failed.
 */
const maskFrom =
  (imports: ImportSet, { states, kubeconfigs }: Tools, sources?: ExportSources): Mask =>
  (text) =>
    maskFor(imports, sources, [...states.documents, ...kubeconfigs.secrets])(text);

/** Returns a phase error as a result. @throws all other errors */
const errorAsResult = (error: unknown): PhaseError => {
  if (error instanceof PhaseError) return error;
  throw error;
};

/** Translates the failure of a step to a phase error; other errors stay as they are. */
const errorTranslator =
  ({ operation, reason, steps, conditions = {} }: StepNames, mask: Mask) =>
  (failure: unknown): unknown => {
    if (!(failure instanceof StepFailed)) return failure;
    const name = steps[failure.step] ?? failure.step;
    const error = maskError(failure.cause, mask);
    if (!(error instanceof BlueprintProblem)) return asPhaseError(name, error, operation);
    const found = conditions[failure.step]?.(error);
    const options = {
      cause: error,
      conditions: found ? [{ ...found, message: shorten(mask(found.message)) }] : [],
    };
    if (!reason) return new PhaseError(operation, name, error.message, error.codes, options);
    const message = asText({ operation: reason, reason: name, message: error.message });
    return new PhaseError(operation, reason, message, error.codes, options);
  };
