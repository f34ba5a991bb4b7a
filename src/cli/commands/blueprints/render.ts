/**
 * `espalier blueprints render`: shows the objects that an installation would create from a blueprint, without a
 * cluster.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { installationKind, type Installation } from '../../../api/kinds/installation.ts';
import type { Target } from '../../../api/kinds/target.ts';
import { BLUEPRINT_FILE } from '../../../api/blueprint.ts';
import type { DeployItemTemplate } from '../../../api/kinds/execution.ts';
import { API_VERSION } from '../../../api/labels.ts';
import { refusalForJob } from '../../../api/validation/index.ts';
import type { BlueprintInput } from '../../../blueprint/lint/inspect.ts';
import { BlueprintProblem } from '../../../blueprint/errors.ts';
import { parseBlueprint, type LoadedBlueprint } from '../../../blueprint/load.ts';
import { emptyImportSet } from '../../../blueprint/import-set.ts';
import { secretValues } from '../../../blueprint/secrets.ts';
import { nameOf } from '../../../components/descriptor.ts';
import { ComponentProblem } from '../../../components/errors.ts';
import { systemClock, type Clock } from '../../../lib/clock.ts';
import { readText, type FileTree } from '../../../lib/file-tree.ts';
import { isDns1123Label } from '../../../lib/names.ts';
import { isObject } from '../../../lib/objects.ts';
import { Source } from '../../../blueprint/lint/source.ts';
import { inThisThread } from '../../../blueprint/work.ts';
import { seededRng } from '../../../lib/rng.ts';
import { parseYaml, parseYamlAll, toYaml, YamlError } from '../../../lib/yaml.ts';
import { blueprintsAt, STDIN, type FoundBlueprint } from './sources.ts';
import { defaults } from '../../configuration/configuration.ts';
import { printObjects as printItems } from '../../terminal/documents.ts';
import type { ObjectFormat } from '../../terminal/output-option.ts';
import { CommandError, exitCodes, UsageError } from '../../errors.ts';
import { nameOf as nameOfFile, readTextFile } from '../../files.ts';
import { unreadFieldsOf } from '../../composition/item-configurations.ts';
import { withoutSteps } from '../../tree/print.ts';
import { findingText } from '../../terminal/print-findings.ts';
import { localComponents, type LocalComponents } from './rendering/local-component.ts';
import { maskOver, noMask, type Mask } from './rendering/mask.ts';
import { renderedObjects } from './rendering/objects.ts';
import { renderedTree } from './rendering/print.ts';
import { templateFinding } from './rendering/explain.ts';
import { TreeBudget } from '../../tree/budget.ts';
import { JOB, renderTree, type RenderedInstallation } from './rendering/render-tree.ts';
import { suppliedExports, unknownExports, type SuppliedExports } from './rendering/supplied-exports.ts';
import { ImportsUnusable, suppliedImports } from './rendering/supplied-imports.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface RenderOptions {
  readonly imports?: string;
  readonly component?: string;
  readonly exports?: string;
  readonly installation?: string;
  readonly output: ObjectFormat | 'tree';
  readonly deep?: boolean;
  readonly showSecrets?: boolean;
  readonly now?: Date;
  readonly seed: number;
}

/** @returns the exit code: 1 if the blueprint cannot be rendered; standard error then shows the reason */
export async function render(path: string, options: RenderOptions, terminal: Terminal): Promise<number> {
  const found = await oneBlueprint(path);
  const { installation, components } = await setting(path, found, options);
  const blueprint = loadedFrom(found, components);
  const self = withAllImportsAndExports(installation, blueprint);
  let supplied = emptyImportSet;
  const secretTargets: Target[] = [];
  const maskNow = (): Mask =>
    options.showSecrets ? noMask : maskOver(secretValues(supplied, secretTargets));
  try {
    supplied = suppliedImports(yamlFile(options.imports), blueprint.info, self);
    const exports = exportsFile(options);
    const rendered = await renderTree(self, blueprint, supplied, {
      runner: inThisThread({ clock: clockAt(options.now), rng: seededRng(options.seed) }),
      components,
      exports,
      secretTargets,
      isDeep: options.deep === true,
      budget: new TreeBudget(defaults.limits),
    });
    print(rendered, maskNow(), options, terminal);
    for (const problem of exports ? unknownExports(exports, pathsIn(rendered)) : []) {
      terminal.warn(`${terminal.paintError.yellow('warning:')} ${options.exports ?? ''}: ${problem}`);
    }
    return exitCodes.ok;
  } catch (error) {
    printImportErrors(error, { path, input: found.input, mask: maskNow(), options, terminal });
    return exitCodes.failed;
  }
}

async function oneBlueprint(path: string): Promise<FoundBlueprint> {
  const found = await blueprintsAt(path, () => readFileSync(0, 'utf8'));
  const [first] = found;
  if (first && found.length === 1) return first;
  throw new UsageError(`${path} has ${found.length} blueprints; render them one at a time`);
}

// ---------------------------------------------------------------- the installation to render

interface Setting {
  readonly installation: Installation;
  readonly components: LocalComponents | undefined;
}

async function setting(path: string, found: FoundBlueprint, options: RenderOptions): Promise<Setting> {
  const given =
    options.installation === undefined
      ? (installationIn(found.enclosing?.value) ?? generatedInstallation(path))
      : installationFile(options.installation);
  const ref = given.spec?.componentDescriptor?.ref;
  const wanted = ref && nameOf({ name: ref.componentName, version: ref.version });
  const components =
    options.component === undefined ? undefined : await localComponents(options.component, wanted);
  const filesystem = textsOf(found.input.files.tree);
  const spec = {
    context: 'default',
    blueprint: { inline: { filesystem } },
    ...given.spec,
    ...(components && !given.spec?.componentDescriptor && { componentDescriptor: definitionOf(components) }),
  };
  const metadata = { namespace: 'default', ...given.metadata };
  const status = { observedGeneration: 0, jobID: JOB };
  const installation = { ...given, metadata, spec, status } as unknown as Installation;
  const refusal = refusalForJob('installations', installation);
  if (refusal !== undefined) {
    throw new CommandError(`installation ${metadata.name ?? ''} is not valid: ${refusal}`);
  }
  return { installation, components };
}

type Given = { readonly [K in keyof Installation]?: Installation[K] };

const installationIn = (value: unknown): Given | undefined =>
  isObject(value) && value['kind'] === installationKind.kind ? value : undefined;

function installationFile(path: string): Given {
  const found = parsed(path, parseYamlAll).flatMap((value) => installationIn(value) ?? []);
  const [first] = found;
  if (first && found.length === 1) return first;
  throw new UsageError(`${path} has ${found.length === 0 ? 'no' : 'more than one'} Installation in it`);
}

/**
 * A generated installation, named after the folder, or after its parent folder if the folder is called "blueprint".
 */
function generatedInstallation(path: string): Given {
  const folder = resolve(path === STDIN ? '.' : statSync(path).isDirectory() ? path : dirname(path));
  const name = basename(folder) === 'blueprint' ? basename(dirname(folder)) : basename(folder);
  const isName = isDns1123Label(name).length === 0;
  return {
    apiVersion: API_VERSION,
    kind: installationKind.kind,
    metadata: { name: isName ? name : 'root' },
  };
}

const definitionOf = ({ own }: LocalComponents): Installation['spec']['componentDescriptor'] =>
  own.source.kind === 'inline'
    ? { inline: { ...own.source.document } }
    : { ref: { ...own.source.original, repositoryContext: { ...own.source.original.repositoryContext } } };

function textsOf(tree: FileTree, folder = ''): Record<string, unknown> {
  const own = (tree.list(folder) ?? []).filter(({ isDirectory, isLink }) => !(isDirectory && isLink));
  const entries = own.map(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return [name, isDirectory ? textsOf(tree, path) : (readText(tree, path) ?? '')] as const;
  });
  return Object.fromEntries(entries);
}

function loadedFrom(
  { input, name }: FoundBlueprint,
  components: LocalComponents | undefined,
): LoadedBlueprint {
  const text = input.written
    ? JSON.stringify(input.written.value)
    : readText(input.files.tree, BLUEPRINT_FILE);
  if (text === undefined) throw new UsageError(`there is no ${BLUEPRINT_FILE} in ${name}`);
  return { info: parseBlueprint(text, name), files: input.files.tree, component: components?.own };
}

/** An installation without imports and exports gets all of the blueprint's. */
function withAllImportsAndExports(installation: Installation, { info }: LoadedBlueprint): Installation {
  if (installation.spec.exports) return installation;
  const named = (type: string): readonly string[] =>
    (info.exports ?? []).filter((one) => one.type === type).map(({ name }) => name);
  const exports = {
    data: named('data').map((name) => ({ name, dataRef: name })),
    targets: named('target').map((name) => ({ name, target: name })),
  };
  return { ...installation, spec: { ...installation.spec, exports } };
}

const exportsFile = ({ exports }: RenderOptions): SuppliedExports | undefined =>
  exports === undefined ? undefined : suppliedExports(yamlFile(exports), exports);

/** The paths of all known deploy items and sub-installations. */
function pathsIn({ path, items, children }: RenderedInstallation): readonly string[] {
  const at = (name: string): string => (path === '' ? name : `${path}/${name}`);
  return [
    ...items.map(({ name }) => at(name)),
    ...children.flatMap(({ name, inside }) => [
      at(name),
      ...(typeof inside === 'string' ? [] : pathsIn(inside)),
    ]),
  ];
}

/** A fixed time for templates; time limits still use the real clock. */
const clockAt = (time: Date | undefined): Clock =>
  time === undefined ? systemClock : { ...systemClock, wall: () => time.getTime() };

// ---------------------------------------------------------------- input

const yamlFile = (path: string | undefined): unknown =>
  path === undefined ? undefined : parsed(path, parseYaml);

function parsed<T>(path: string, parse: (text: string) => T): T {
  const text = readTextFile(path);
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new UsageError(`${nameOfFile(path)} is not valid YAML: ${error.message.replace(/^yaml: /, '')}`);
  }
}

// ---------------------------------------------------------------- output

function print(rendered: RenderedInstallation, mask: Mask, options: RenderOptions, terminal: Terminal): void {
  printObjects(rendered, mask, options, terminal);
  const { yellow } = terminal.paintError;
  for (const line of unreadFieldsOf(itemsOf(rendered)))
    terminal.warn(`${yellow('warning:')} ${mask.text(line)}`);
}

const itemsOf = ({ items, children }: RenderedInstallation): readonly DeployItemTemplate[] => [
  ...items,
  ...children.flatMap(({ inside }) => (typeof inside === 'string' ? [] : itemsOf(inside))),
];

function printObjects(
  rendered: RenderedInstallation,
  mask: Mask,
  options: RenderOptions,
  terminal: Terminal,
): void {
  if (options.output === 'tree') {
    for (const line of renderedTree(rendered, { paint: terminal.paint, columns: terminal.columns, mask })) {
      terminal.print(line);
    }
    return;
  }
  const objects = renderedObjects(rendered, { mask, showSecrets: options.showSecrets === true });
  if (options.output !== 'yaml') {
    const items = objects.map(({ object }) => object);
    terminal.print(printItems(items, options.output));
  } else {
    const { dim } = terminal.paint;
    terminal.print(
      objects
        .map(({ title, object }) => `${dim(`# ${title}`)}\n${toYaml(object)}`)
        .join('---\n')
        .trimEnd(),
    );
  }
  for (const line of notesOf(rendered)) terminal.warn(terminal.paintError.dim(line));
}

/** Notes about missing parts of the result, with the reason. */
function notesOf({ path, installation, exports, children }: RenderedInstallation): readonly string[] {
  const name = path === '' ? installation.metadata.name : path;
  return [
    ...(typeof exports === 'string' ? [`exports of ${name}: ${exports}`] : []),
    ...children.flatMap((child) =>
      typeof child.inside === 'string'
        ? [`sub-installation ${child.name}: ${child.inside}`]
        : notesOf(child.inside),
    ),
  ];
}

function printImportErrors(
  error: unknown,
  {
    path,
    input,
    mask,
    options,
    terminal,
  }: {
    readonly path: string;
    readonly input: BlueprintInput;
    readonly mask: Mask;
    readonly options: RenderOptions;
    readonly terminal: Terminal;
  },
): void {
  const { paintError, columns } = terminal;
  if (error instanceof ImportsUnusable) {
    const source = options.imports ?? 'no file; give one with --imports';
    terminal.warn(`${paintError.red('error:')} the imports do not match the blueprint (from ${source})`);
    for (const problem of error.problems) terminal.warn(`  ${problem}`);
    return;
  }
  if (!(error instanceof BlueprintProblem || error instanceof ComponentProblem)) throw error;
  const finding = templateFinding(error, input, installationSources(path, options));
  const text = finding
    ? findingText(finding, { paint: paintError, columns })
    : `${paintError.red('error:')} ${shortened(error.message)}`;
  terminal.warn(mask.text(text));
}

/** Files that may contain an Installation with mappings; standard input can be read only once. */
const installationSources = (path: string, { installation }: RenderOptions): readonly Source[] =>
  [path, ...(installation === undefined ? [] : [installation])]
    .filter((one) => one !== STDIN && statSync(one).isFile())
    .map((one) => new Source(one, readFileSync(one, 'utf8')));

/** Shortens the input of a template in a message, because the user already knows it. */
const shortened = (message: string): string =>
  withoutSteps(message)
    .replace(/\n+(?:template|mapping) input:\n[\s\S]*$/, '')
    .trimEnd();
