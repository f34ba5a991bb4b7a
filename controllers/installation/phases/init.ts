/**
 * Renders the blueprint and creates, updates or deletes sub-installations and the execution to match. Nothing
 * starts yet.
 *
 * The exports of earlier jobs are deleted first, whatever the result: importers must not read values of an earlier
 * job.
 */
import { append, firstLines } from '../../../src/lib/lists.ts';
import { conditionReasons, conditionTypes } from '../../../src/api/conditions.ts';
import { hasFinishedJob, isBeingDeleted, isTriggeredFor } from '../../../src/api/job.ts';
import {
  PhaseError,
  advance,
  fail,
  retry,
  wait,
  type PhaseCondition,
  type Effect,
  type Problem,
  type Refusal,
} from '../../../src/machine/decision.ts';
import type { Step } from '../../../src/machine/phase.ts';
import { refusalForJob } from '../../../src/api/validation/index.ts';
import { waitForObjects } from '../awaiting.ts';
import { ensureChildren } from '../children.ts';
import { ensureExecution } from '../execution.ts';
import { checkImports } from '../import-conflicts.ts';
import { handDown } from '../job.ts';
import { isOwnedBy } from '../related-objects.ts';
import { asImport, deleteObject, upsert } from '../objects.ts';
import { storeState } from '../state-effects.ts';
import {
  createdBelowDeleted,
  createdBeyondLimit,
  interrupted,
  rendersItself,
  tooDeep,
} from './creation-checks.ts';
import type { MergePatch } from '../../../src/lib/merge.ts';
import type { InstStatus } from '../related-objects.ts';
import { step, steps, type Answer, type Snapshot } from '../snapshot.ts';
import {
  deletedWhileWaiting,
  importMissing,
  predecessorFailed,
  predecessorStillRunning,
  cyclicRoots,
  ambiguousExporters,
} from './predecessors.ts';

/** Refuses what the validating webhook refuses, in case the webhook is not installed. */
const invalid = step([], ({ self }) => {
  const message = refusalForJob('installations', self);
  if (message === undefined) return undefined;
  const codes = ['ERR_CONFIGURATION_PROBLEM'] as const;
  return fail({ operation: 'InitPrerequisites', reason: 'ValidateInstallation', message, codes });
});

const contextMissing = step(['context'], (snapshot) => {
  const { self, context } = snapshot;
  const name = self.spec.context ?? 'default';
  const message = contextProblem(self, context, name);
  if (!message) return undefined;
  const problem = { operation: 'InitPrerequisites', reason: 'CalculateContext', message };
  return !context && name === 'default' && isNamespaceNew(snapshot) ? retry(problem) : fail(problem);
});

/**
 * The default Context is created shortly after its namespace, and users often create both together with
 * installations.
 */
const CONTEXT_CREATED_WITHIN_MS = 5_000;
const isNamespaceNew = ({ self, now }: Pick<Snapshot, 'self' | 'now'>): boolean =>
  Date.parse(now) - Date.parse(self.status?.transitionTimes?.initTime ?? now) < CONTEXT_CREATED_WITHIN_MS;

function contextProblem(
  self: Snapshot['self'],
  context: Snapshot['context'],
  name: string,
): string | undefined {
  const { namespace } = self.metadata;
  if (!context) return `context "${name}" does not exist in namespace "${namespace ?? ''}"`;
  const reference = self.spec.componentDescriptor?.ref;
  if (!reference || reference.repositoryContext || context.repositoryContext || context.ocmConfig)
    return undefined;
  return `RepositoryContextMissing: neither the installation nor context "${name}" has a repository context for component ${reference.componentName}`;
}

/** Loading throws if there is no blueprint; there is nothing else to check. */
const blueprintUnavailable = step(['blueprint'], () => undefined);

/** An execution that a user deleted is uninstalled completely before it is recreated. */
export const executionBeingDeleted = step(['execution'], (snapshot) => {
  const { self, execution } = snapshot;
  if (!execution) return undefined;
  const { namespace, name } = execution.metadata;
  const problem = (message: string) => ({
    operation: 'handlePhaseInit',
    reason: 'ReconcileExecution',
    message,
  });
  if (!isOwnedBy(execution, self)) {
    return fail(
      problem(
        `execution ${namespace ?? ''}/${name} belongs to another owner; rename the execution or the installation`,
      ),
    );
  }
  if (!isBeingDeleted(execution.metadata)) return undefined;
  const jobID = self.status?.jobID ?? '';
  if (isTriggeredFor(execution, jobID) && hasFinishedJob(execution, jobID)) {
    const why = execution.status?.lastError?.message ?? '';
    return fail(problem(`execution ${name} was deleted and cannot be uninstalled: ${why}`));
  }
  return wait(problem(`execution ${name} was deleted; it is uninstalled before it is created again`), {
    ...waitForObjects(snapshot, 'DeletionPending', [execution]),
    effects: handDown(snapshot, [execution]),
  });
});

const createSubObjects = step(
  [
    'component',
    'rendered',
    'blueprintWarnings',
    'isStrict',
    'stateUpserts',
    'importUpserts',
    'children',
    'ancestors',
    'reservation',
    'limits',
    'execution',
    'itemsToStore',
    'freshName',
    'importsHash',
    'predecessorJobs',
  ],
  (snapshot): Answer<'CleanupOrphaned'> => {
    const { self, rendered, importsHash, predecessorJobs } = snapshot;
    const knownConditions = [
      ...(snapshot.component.condition ? [snapshot.component.condition] : []),
      ...blueprintCondition(snapshot),
    ];
    const unknown = refusedAsUnknown(snapshot);
    if (unknown) return fail(unknown, { status: { conditions: knownConditions } });
    // Generated state is stored before any object depends on it, so the next attempt of the job finds it.
    const imports = checkImports(snapshot);
    const effects: Effect[] = [
      ...snapshot.stateUpserts.flatMap((u) => storeState(self, u, asImport)),
      ...imports.upserts.flatMap((u) => upsert(u, asImport)),
    ];
    if (imports.refusal) return importConflict(imports.refusal, rendered.children, effects, knownConditions);
    if (rendered.children instanceof PhaseError) return failed(rendered.children, effects, knownConditions);

    const children = ensureChildren(snapshot, rendered.children);
    const deleted = createdBelowDeleted(snapshot, children.effects);
    const refused = deleted ?? createdBeyondLimit(snapshot);
    if (refused) return fail(refused);
    append(effects, children.effects);
    if (rendered.items instanceof PhaseError) {
      return failed(rendered.items, effects, [...knownConditions, children.condition], {
        subInstCache: children.cache,
      });
    }
    const execution = ensureExecution(snapshot, rendered.items);
    append(effects, execution.effects);
    return advance('CleanupOrphaned', {
      effects,
      confirm: { predecessorJobs, importsHash },
      status: {
        set: {
          importsHash,
          subInstCache: children.cache,
          ...execution.status,
        },
        conditions: [...knownConditions, children.condition, ...execution.conditions],
        settled: [
          conditionTypes.ValidateImports,
          conditionTypes.CreateImports,
          ...(blueprintCondition(snapshot).length === 0 ? [conditionTypes.ValidateBlueprint] : []),
        ],
      },
    });
  },
);

/**
 * Warnings about a blueprint never end a job: upstream does not check for them, and existing landscapes contain
 * them.
 */
function blueprintCondition({ blueprintWarnings, rendered }: Warned): readonly PhaseCondition[] {
  const lines = [...blueprintWarnings.all, ...rendered.unknownFields, ...rendered.secretsInNames];
  if (lines.length === 0) return [];
  const type = conditionTypes.ValidateBlueprint;
  const message = firstLines(lines, MAX_WARNINGS);
  return [{ type, status: 'False', reason: conditionReasons.BlueprintHasMistakes, message }];
}

type Warned = Pick<Snapshot, 'blueprintWarnings' | 'rendered'>;

/** Lines in a message. */
const MAX_WARNINGS = 10;

/** The problem that unknown fields are if the configuration says strict: true. */
function refusedAsUnknown({
  isStrict,
  blueprintWarnings,
  rendered,
}: Warned & Pick<Snapshot, 'isStrict'>): Problem | undefined {
  const lines = [...blueprintWarnings.unknownFields, ...rendered.unknownFields];
  if (!isStrict || lines.length === 0) return undefined;
  return {
    operation: 'InitPrerequisites',
    reason: 'ValidateBlueprint',
    message: `the blueprint has unknown fields, which strict: true in the configuration refuses:\n${firstLines(lines, MAX_WARNINGS)}`,
    codes: ['ERR_CONFIGURATION_PROBLEM'],
  };
}

/** The same as a step, for `espalier plan`. */
export const unknownFieldsRefused = step(['isStrict', 'blueprintWarnings', 'rendered'], (snapshot) => {
  const problem = refusedAsUnknown(snapshot);
  return problem && fail(problem);
});

function failed(
  error: PhaseError,
  effects: readonly Effect[],
  conditions: readonly PhaseCondition[] = [],
  set: MergePatch<InstStatus> = {},
): Answer<never> {
  return fail(error.problem, { effects, status: { set, conditions: [...conditions, ...error.conditions] } });
}

/** An error in the sub-installations often has the same cause, so the message includes it. */
function importConflict(
  { condition, ...problem }: Refusal,
  children: Snapshot['rendered']['children'],
  effects: readonly Effect[],
  knownConditions: readonly PhaseCondition[],
): Answer<never> {
  const conditions = [...knownConditions, condition];
  if (!(children instanceof PhaseError)) return fail(problem, { effects, status: { conditions } });
  const message = `${problem.message}; ${children.problem.message}`;
  return fail(
    { ...problem, message },
    { effects, status: { conditions: [...conditions, ...children.conditions] } },
  );
}

/** Whatever the result: it deletes the exports of earlier jobs. */
const withoutOldExports = <Next extends string>(inner: Step<Snapshot, Next>): Step<Snapshot, Next> => ({
  needs: [...inner.needs, 'oldExports'],
  decide(snapshot) {
    const decision = inner.decide(snapshot);
    return (
      decision && {
        ...decision,
        effects: [...snapshot.oldExports.map(deleteObject), ...decision.effects],
      }
    );
  },
});

/** Checks of a job that do not depend on imports or siblings. `espalier plan` uses them as well. */
export const prerequisites = [invalid, cyclicRoots, contextMissing, blueprintUnavailable] as const;

export const init = steps(
  ['CleanupOrphaned'],
  interrupted,
  withoutOldExports(invalid),
  withoutOldExports(tooDeep),
  withoutOldExports(rendersItself),
  cyclicRoots,
  ...[
    contextMissing,
    blueprintUnavailable,
    ambiguousExporters,
    deletedWhileWaiting,
    predecessorStillRunning,
    predecessorFailed,
    importMissing,
    executionBeingDeleted,
    createSubObjects,
  ].map((s) => withoutOldExports(s as Step<Snapshot, 'CleanupOrphaned'>)),
);
