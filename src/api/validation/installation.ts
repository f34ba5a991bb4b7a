/** Rules for an installation that a schema cannot express. The webhook and the controller check them. */
import { isRoot } from '../job.ts';
import { isCron } from '../../lib/cron.ts';
import { isDns1123Label, tooLongText } from '../../lib/names.ts';
import type { View } from '../../lib/objects.ts';
import type {
  AutomaticReconcile,
  DataImport,
  Installation,
  InstallationExports,
  InstallationImports,
  InstallationSpec,
  TargetImport,
} from '../kinds/installation.ts';
import {
  duplicate,
  exactlyOneOf,
  invalid,
  isRepeated,
  invalidNames,
  required,
  shown,
  type FieldError,
} from './fields.ts';

/** The name is part of the context name `Inst.<name>`, which has to fit into a label value. */
const MAX_NAME_LENGTH = 63 - 'Inst.'.length;
/** Generated names end in a suffix of five characters. */
const MAX_GENERATE_NAME_LENGTH = MAX_NAME_LENGTH - 5;

const TARGET_MAP_KEY = /^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$/;
const TARGET_MAP_KEY_RULE =
  'key must contain only lower-case alphanumeric characters, dots, or dashes; it must begin and end with a ' +
  'lower-case alphanumeric character; it must not be empty, and not longer than 63 characters';

/** The metadata fields that the rules check. */
interface Named {
  readonly name?: string;
  readonly generateName?: string;
}

export const installationProblems = ({ metadata, spec }: View<Installation>): readonly FieldError[] => [
  ...nameProblems(metadata),
  ...specProblems(spec),
  ...(isRoot(metadata) ? rootReferences(spec) : []),
];

function nameProblems({ name = '', generateName = '' }: Named): readonly FieldError[] {
  const path = 'metadata';
  const ofName = (why: string): FieldError => invalid(`${path}.name`, name, why);
  const ofGenerateName = (why: string): FieldError => invalid(`${path}.generateName`, generateName, why);
  const isTooLong = name.length > MAX_NAME_LENGTH;
  return [
    ...(generateName === '' ? [] : isDns1123Label(withoutLastDash(generateName)).map(ofGenerateName)),
    ...(name === '' ? [] : isDns1123Label(name).map(ofName)),
    ...(isTooLong ? [ofName(tooLongText(MAX_NAME_LENGTH))] : []),
    ...(!isTooLong && generateName.length > MAX_GENERATE_NAME_LENGTH
      ? [ofGenerateName(tooLongText(MAX_GENERATE_NAME_LENGTH))]
      : []),
  ];
}

/** The generated suffix follows the prefix, so a trailing dash is valid. */
const withoutLastDash = (prefix: string): string => prefix.replace(/(?<=.)-$/, 'a');

/** @param path of the spec; the same rules apply to templates of sub-installations */
function specProblems(spec: View<InstallationSpec>, path = 'spec'): readonly FieldError[] {
  const { blueprint, componentDescriptor } = spec;
  return [
    ...importProblems(spec.imports, `${path}.imports`),
    ...exportProblems(spec.exports, `${path}.exports`),
    ...exactlyOneOf(`${path}.blueprint.definition`, { Inline: blueprint.inline, Reference: blueprint.ref }),
    // A child whose parent has no component has an empty descriptor, which means that it has no component either.
    ...(componentDescriptor === undefined || Object.keys(componentDescriptor).length === 0
      ? []
      : exactlyOneOf(`${path}.componentDescriptor.definition`, {
          Inline: componentDescriptor.inline,
          Reference: componentDescriptor.ref,
        })),
    ...scheduleProblems(spec.automaticReconcile, `${path}.automaticReconcile`),
  ];
}

// ---------------------------------------------------------------- imports

/** Names must be unique across data and targets. */
function importProblems(
  { data = [], targets = [] }: View<InstallationImports> = {},
  path: string,
): readonly FieldError[] {
  const names = new Set<string>();
  const named = (name: string, at: string): readonly FieldError[] => [
    ...(name === '' ? [required(`${at}.name`, 'name must not be empty')] : []),
    ...(isRepeated(names, name) ? [duplicate(at, name)] : []),
  ];
  return [
    ...data.flatMap((entry, i) => {
      const at = `${path}.data[${i}]`;
      return [...dataSourceProblems(entry, at), ...named(entry.name, at)];
    }),
    ...targets.flatMap((entry, i) => {
      const at = `${path}.targets[${i}]`;
      return [...targetSourceProblems(entry, at), ...named(entry.name, at)];
    }),
  ];
}

function dataSourceProblems(
  { dataRef, secretRef, configMapRef }: View<DataImport>,
  path: string,
): readonly FieldError[] {
  const nameless = (reference: View<{ name: string }> | undefined, field: string): readonly FieldError[] =>
    reference?.name === '' ? [required(`${path}.${field}.name`, 'name must not be empty')] : [];
  return [
    ...exactlyOneOf(path, { DataRef: dataRef, SecretRef: secretRef, ConfigMapRef: configMapRef }),
    ...nameless(secretRef, 'secretRef'),
    ...nameless(configMapRef, 'configMapRef'),
  ];
}

/** Checks the source of a target import, also in templates of sub-installations. */
export function targetSourceProblems(
  { target, targets, targetMap, targetMapRef, targetListRef }: View<TargetImport>,
  path: string,
): readonly FieldError[] {
  return [
    ...exactlyOneOf(path, {
      Target: target,
      Targets: targets,
      TargetMap: targetMap,
      TargetMapReference: targetMapRef,
      TargetListReference: targetListRef,
    }),
    ...(targets ?? []).flatMap((name, i) => emptyTarget(name, `${path}.targets[${i}]`)),
    ...Object.entries(targetMap ?? {}).flatMap(([key, name]) => [
      ...(TARGET_MAP_KEY.test(key)
        ? []
        : [invalid(`${path}.targetMap[${shown(key)}]`, key, TARGET_MAP_KEY_RULE)]),
      ...emptyTarget(name, `${path}.targetMap[${shown(key)}]`),
    ]),
  ];
}

const emptyTarget = (name: string, path: string): readonly FieldError[] =>
  name === '' ? [required(path, 'target must not be empty')] : [];

// ---------------------------------------------------------------- exports

const exportProblems = (
  { data = [], targets = [] }: View<InstallationExports> = {},
  path: string,
): readonly FieldError[] => [
  ...data.flatMap(({ name, dataRef }, i) => namelessExport(name, { dataRef }, `${path}.data[${i}]`)),
  ...targets.flatMap(({ name, target = '' }, i) => namelessExport(name, { target }, `${path}.targets[${i}]`)),
];

const namelessExport = (
  name: string,
  reference: Readonly<Record<string, string>>,
  path: string,
): readonly FieldError[] =>
  Object.entries({ ...reference, name })
    .filter(([, text]) => text === '')
    .map(([field]) => required(`${path}.${field}`, `${field} must not be empty`));

/**
 * Several exports with the same name. All controllers, also upstream's, write the value to each reference. So only
 * the webhook checks this.
 */
export const repeatedExports = ({ spec }: View<Installation>): readonly FieldError[] => {
  const { data = [], targets = [] } = spec.exports ?? {};
  const repeated = (exports: readonly { readonly name: string }[], path: string): readonly FieldError[] => {
    const names = new Set<string>();
    return exports.flatMap(({ name }, i) =>
      isRepeated(names, name) ? [duplicate(`${path}[${i}]`, name)] : [],
    );
  };
  return [...repeated(data, 'spec.exports.data'), ...repeated(targets, 'spec.exports.targets')];
};

// ---------------------------------------------------------------- names of objects

/**
 * The imports and exports of a root are the names of data objects and targets. In the scope of a parent the object
 * name is a hash, so a sub-installation may use any name.
 */
const rootReferences = ({ imports, exports }: View<InstallationSpec>): readonly FieldError[] => [
  ...(imports?.data ?? []).flatMap(({ dataRef }, i) =>
    invalidNames(`spec.imports.data[${i}].dataRef`, dataRef),
  ),
  ...(imports?.targets ?? []).flatMap(({ target, targets = [], targetMap = {} }, i) => {
    const at = `spec.imports.targets[${i}]`;
    return [
      ...invalidNames(`${at}.target`, target),
      ...targets.flatMap((name, k) => invalidNames(`${at}.targets[${k}]`, name)),
      ...Object.entries(targetMap).flatMap(([key, name]) =>
        invalidNames(`${at}.targetMap[${shown(key)}]`, name),
      ),
    ];
  }),
  ...(exports?.data ?? []).flatMap(({ dataRef }, i) =>
    invalidNames(`spec.exports.data[${i}].dataRef`, dataRef),
  ),
  ...(exports?.targets ?? []).flatMap(({ target }, i) =>
    invalidNames(`spec.exports.targets[${i}].target`, target),
  ),
];

// ---------------------------------------------------------------- schedule

const scheduleProblems = (
  { succeededReconcile, failedReconcile }: View<AutomaticReconcile> = {},
  path: string,
): readonly FieldError[] => [
  ...cronProblems(succeededReconcile?.cronSpec, `${path}.succeededReconcile.cronSpec`),
  ...cronProblems(failedReconcile?.cronSpec, `${path}.failedReconcile.cronSpec`),
];

const cronProblems = (text: string | undefined, path: string): readonly FieldError[] =>
  text === undefined || text === '' || isCron(text)
    ? []
    : [invalid(path, text, 'field must be a valid cron spec')];
