/** The actions of Helm that release mode needs, carried out by this process or by the helm program. */
import type { KubeAccess } from '../sdk/access.ts';
import type { LoadedChart } from './chart.ts';
import type { HelmContext, HelmOptions } from './helm-context.ts';
import { ownActions } from './own-actions.ts';
import { programActions } from './program-actions.ts';
import type { ReleaseRecord } from './releases.ts';

/** Why an action failed; the message contains no values of the user. */
export interface ActionProblem {
  readonly message: string;
  readonly cause?: unknown;
  /** Whether it waited for objects until its time was over; undefined: the cause decides. */
  readonly hasWaited?: boolean;
}

export interface ApplyStep {
  readonly chart: LoadedChart;
  /** Whether a release of this name was uninstalled and its history kept. */
  readonly isReinstall: boolean;
  readonly timeoutMs: number;
}

interface UninstallStep {
  readonly name: string;
  readonly namespace: string;
  /** Whether to wait until the objects are deleted. */
  readonly waits: boolean;
  readonly timeoutMs: number;
}

export interface ReleaseActions {
  /** @throws ConfigurationError if releases cannot be installed here */
  check(): void;
  install(step: ApplyStep): Promise<ActionProblem | undefined>;
  upgrade(step: ApplyStep): Promise<ActionProblem | undefined>;
  /** A release that does not exist counts as uninstalled. */
  uninstall(step: UninstallStep): Promise<ActionProblem | undefined>;
  /** Deletes the record of an interrupted action. */
  discard(record: ReleaseRecord): Promise<void>;
}

/** The helm program is used only if the configuration or the environment names it. */
export const actionsFor = (ctx: HelmContext, access: KubeAccess, options: HelmOptions): ReleaseActions =>
  usesProgram(options) ? programActions(ctx, access, options) : ownActions(ctx, access, options);

const usesProgram = ({ executable }: HelmOptions): boolean =>
  Boolean(executable || process.env['HELM_EXECUTABLE']);
