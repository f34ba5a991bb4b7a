/**
 * Inspects a blueprint and everything in it: the documents first, then all rules, then the blueprints of its children.
 */
import { BLUEPRINT_FILE, BLUEPRINT_KIND, blueprint as schema } from '../../api/blueprint.ts';
import { isObject, ownField, table } from '../../lib/objects.ts';
import { parseBlueprint } from '../load.ts';
import { callerRules } from './caller.ts';
import { findChildren } from './children.ts';
import { definitionRules } from './definitions.ts';
import { deployItemRules } from './deployitems.ts';
import { checkDocument, documentRules, missingBlueprint, readBlueprint, type Read } from './document.ts';
import { executionRules } from './executions.ts';
import { exportRules } from './exports.ts';
import type { Finding, RuleFacts, RuleGroup } from './finding.ts';
import { findTemplates } from './found-templates.ts';
import { itemConfigurationRules } from './item-configurations.ts';
import { referenceRules } from './references.ts';
import { rootRules } from './roots.ts';
import { schemaRules } from './schemas.ts';
import type { Place, Source } from './source.ts';
import { sourceFilesIn, type SourceFiles } from './source-files.ts';
import { subInstallationRules } from './sub-installations.ts';
import type { Caller, Child, KnownDeployers, Subject } from './subject.ts';
import { YamlText } from './yaml-text.ts';
import { withoutIndex } from '../../lib/trim.ts';

const groups: Readonly<Record<string, RuleGroup>> = table({
  Definitions: definitionRules,
  Schemas: schemaRules,
  Templates: executionRules,
  References: referenceRules,
  Exports: exportRules,
  'Sub-installations': subInstallationRules,
  'Deploy items': deployItemRules,
  'Types and configurations of deploy items': itemConfigurationRules,
  'Installations and their blueprints': callerRules,
});

/** All rules, by the heading of their group and their name. */
export const ruleTable: Readonly<Record<string, Readonly<Record<string, RuleFacts>>>> = table({
  Documents: documentRules,
  ...Object.fromEntries(Object.entries(groups).map(([title, { rules }]) => [title, rules])),
  'Installations of one file': rootRules,
});

/** Names of the rules about an installation and its blueprint. */
export const callerRuleNames: ReadonlySet<string> = new Set(Object.keys(callerRules.rules));

/** The location of a blueprint, and its user. */
export interface BlueprintInput {
  readonly files: SourceFiles;
  /** Set if `blueprint.yaml` is not a string but a map in another document. */
  readonly written?: { readonly document: YamlText; readonly value: unknown } | undefined;
  readonly caller?: Caller | undefined;
  /** Position of a blueprint that has no file. */
  readonly at?: Place | undefined;
}

/**
 * In the order of files and lines. A blueprint that cannot be read is not inspected further.
 * @param deployers check the configurations of deploy items
 */
export function inspectBlueprint(input: BlueprintInput, deployers?: KnownDeployers): readonly Finding[] {
  return inOrder(inspectAll(input, deployers));
}

/** The blueprint in an installation or a template. @param document begins at the files */
export function inlineInput(
  document: YamlText,
  filesystem: unknown,
  caller: Caller | undefined,
): BlueprintInput {
  const value = ownField(filesystem, BLUEPRINT_FILE);
  const isMap = isObject(value) && !('$type' in value);
  const written = isMap ? { document: document.below([BLUEPRINT_FILE]), value } : undefined;
  return { files: sourceFilesIn(document, filesystem), written, caller, at: document.at([], 'key') };
}

/** All templates of a blueprint and of its children, and all files that templates may include. */
export function templateSources(input: BlueprintInput): readonly Source[] {
  const { files, written } = input;
  const source = files.source(BLUEPRINT_FILE);
  const text = written ? JSON.stringify(written.value) : source?.text;
  if (text === undefined) return [];
  const info = parseBlueprint(text);
  const document = written?.document ?? (source && YamlText.of(source));
  if (!document) return [];
  const { children } = findChildren(document, { info, files: files.tree }, files);
  return [
    ...findTemplates(document, info, files).flatMap((template) => template.source ?? []),
    ...children.flatMap(({ document: own, template: { blueprint } }) =>
      blueprint.filesystem === undefined
        ? []
        : templateSources(
            inlineInput(own.below(['blueprint', 'filesystem']), blueprint.filesystem, undefined),
          ),
    ),
    ...files.paths.flatMap((path) => files.source(path) ?? []),
  ];
}

function inspectAll(input: BlueprintInput, deployers: KnownDeployers | undefined): readonly Finding[] {
  const { files, written, caller } = input;
  const source = files.source(BLUEPRINT_FILE);
  const read: Read = written
    ? checkDocument(written.document, written.value, schema, BLUEPRINT_KIND)
    : source
      ? readBlueprint(source)
      : { readable: undefined, findings: input.at ? [missingBlueprint(input.at)] : [] };
  if (!read.readable) return read.findings;

  const { document, value: raw } = read.readable;
  const info = parseBlueprint(JSON.stringify(raw));
  const blueprint = { info, files: files.tree };
  const { children, unreadable, findings } = findChildren(document, blueprint, files);
  const templates = findTemplates(document, info, files);
  const subject: Subject = {
    document,
    raw,
    blueprint,
    files,
    templates,
    children,
    unreadable,
    caller,
    deployers,
  };
  const found = Object.values(groups).flatMap((group) => group.inspect(subject));
  const below = children.flatMap((child) => inspectChild(subject, child));
  return [...read.findings, ...findings, ...found, ...below];
}

function inspectChild(parent: Subject, child: Child): readonly Finding[] {
  const { filesystem } = child.template.blueprint;
  if (filesystem === undefined) return [];
  const document = child.document.below(['blueprint', 'filesystem']);
  return inspectAll(inlineInput(document, filesystem, callerOf(parent, child)), parent.deployers);
}

function callerOf(parent: Subject, { document, template }: Child): Caller {
  const definitions = new Map((parent.blueprint.info.imports ?? []).map((one) => [one.name, one]));
  return {
    ...template,
    name: `sub-installation ${template.name}`,
    document,
    hasComponent: parent.caller?.hasComponent,
    targetTypeOf(name) {
      const { target, targetListRef, targetMapRef } =
        template.imports?.targets?.find((one) => one.name === name) ?? {};
      const ref = target ?? targetListRef ?? targetMapRef ?? '';
      return definitions.get(withoutIndex(ref))?.targetType;
    },
  };
}

function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const once = new Map(
    findings.map((one) => [
      `${one.place.file}:${one.place.line}:${one.place.column}:${one.rule}:${one.message}`,
      one,
    ]),
  );
  const files = [...new Set(findings.map(({ place }) => place.file))];
  return [...once.values()].sort(
    (a, b) =>
      files.indexOf(a.place.file) - files.indexOf(b.place.file) ||
      a.place.line - b.place.line ||
      a.place.column - b.place.column,
  );
}
