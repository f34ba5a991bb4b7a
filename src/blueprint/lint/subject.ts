/** The input of rules: a blueprint with positions, its templates, its children, and its caller. */
import type { InstallationTemplate, TemplateExecutor } from '../../api/blueprint.ts';
import type { InstallationExports, InstallationImports } from '../../api/kinds/installation.ts';
import type { View } from '../../lib/objects.ts';
import type { LoadedBlueprint } from '../load.ts';
import type { ExecutionKind } from '../render.ts';
import type { Source } from './source.ts';
import type { SourceFiles } from './source-files.ts';
import type { Path, YamlText } from './yaml-text.ts';

export interface Subject {
  /** `blueprint.yaml` */
  readonly document: YamlText;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly blueprint: LoadedBlueprint;
  readonly files: SourceFiles;
  readonly templates: readonly FoundTemplate[];
  /** The readable entries of `subinstallations`. */
  readonly children: readonly Child[];
  readonly unreadable: readonly { readonly index: number; readonly why: string }[];
  /** The installation that uses the blueprint, if known. */
  readonly caller: Caller | undefined;
  /** Without it, the configurations of deploy items are not checked. */
  readonly deployers: KnownDeployers | undefined;
}

/** What the deployers that are part of the product say about deploy items. */
export interface KnownDeployers {
  readonly types: readonly string[];
  /** Fields that the deployer of the type does not read; none if the type is not known. */
  unknownFields(type: string, config: unknown): readonly FieldProblem[];
  /** Values of which each field of a configuration accepts at least one, to find what is wrong with other fields. */
  readonly standIns: readonly unknown[];
  /** Why the deployer of the type refuses a configuration: at least the first reason. */
  refusals(type: string, config: unknown): readonly FieldProblem[];
}

export interface FieldProblem {
  /** In the configuration. */
  readonly path: Path;
  readonly message: string;
}

/** A template execution, and the position of its template. */
export interface FoundTemplate {
  readonly kind: ExecutionKind;
  /** Of the execution in `blueprint.yaml`. */
  readonly path: Path;
  readonly executor: View<TemplateExecutor>;
  /** Undefined if there is no template, or its file is missing. */
  readonly source: Source | undefined;
}

/** A sub-installation that the blueprint contains. */
export interface Child {
  /** Position in `subinstallations`. */
  readonly index: number;
  /** The document of the template: a part of `blueprint.yaml`, or a file. */
  readonly document: YamlText;
  readonly template: View<InstallationTemplate>;
}

/** An installation, or a template of one. */
export interface Caller {
  /** `installation shop`, `sub-installation db` */
  readonly name: string;
  /** Where its imports and exports are. */
  readonly document: YamlText;
  readonly imports?: View<InstallationImports> | undefined;
  readonly exports?: View<InstallationExports> | undefined;
  readonly importDataMappings?: Readonly<Record<string, unknown>> | undefined;
  readonly exportDataMappings?: Readonly<Record<string, unknown>> | undefined;
  /** Whether the reference can be to a component; undefined if that is not known. */
  readonly hasComponent?: boolean | undefined;
  /** Type of the object that a target import refers to, if known: the type of the parent's import. */
  targetTypeOf(importName: string): string | undefined;
}

/** The lists of executions in a blueprint. */
export const executionLists = [
  ['import', 'importExecutions'],
  ['subinstallation', 'subinstallationExecutions'],
  ['deploy', 'deployExecutions'],
  ['export', 'exportExecutions'],
] as const satisfies readonly (readonly [ExecutionKind, string])[];
