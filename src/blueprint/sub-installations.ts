/** Sub-installations: from the blueprint's templates to the child installations. */
import type { InstallationTemplate } from '../api/blueprint.ts';
import type {
  ComponentDescriptorDefinition,
  Installation,
  InstallationSpec,
} from '../api/kinds/installation.ts';
import { lengthOf } from '../api/decode.ts';
import { API_VERSION, FINALIZER, annotations, labels } from '../api/labels.ts';
import { defaultLimits, wayOut, type InstallationLimits } from '../api/limits.ts';
import type { ObjectMeta } from '../api/shared.ts';
import { ComponentProblem } from '../components/errors.ts';
import { parseComponentUri, type RelativeReference } from '../components/relative-reference.ts';
import { nestedDocument } from '../components/resolve.ts';
import type { ComponentView } from '../components/view.ts';
import { copy } from '../lib/json.ts';
import { append } from '../lib/lists.ts';
import { controllerReference, present, type View } from '../lib/objects.ts';
import { cycleText, findCycle } from './dependencies.ts';
import { SubInstallationsInvalid } from './errors.ts';
import { noteUnknownFields, runExecution, type RenderContext } from './render.ts';
import { checkTemplates, declaredImports } from './template-checks.ts';
import { renderedTemplates, staticTemplates, subInstallationsResult } from './templates.ts';
import { withoutIndex } from '../lib/trim.ts';

/**
 * Renders, prunes and checks the templates. A cycle among them is an error with code ERR_CYCLIC_DEPENDENCIES.
 * @returns the rendered ones first, then the static ones, without references to parent imports that have no value
 * @throws TemplateFailed, SubInstallationsInvalid
 */
export async function renderSubInstallations(
  context: RenderContext,
): Promise<readonly InstallationTemplate[]> {
  const { blueprint, scope, limits = defaultLimits } = context;
  const rendered: InstallationTemplate[] = [];
  const written = blueprint.info.subinstallations?.length ?? 0;
  checkNumber(written, limits);
  for (const executor of blueprint.info.subinstallationExecutions ?? []) {
    const output = await runExecution(context, executor, { kind: 'subinstallation' });
    checkNumber(written + rendered.length + lengthOf(output, 'subinstallations'), limits);
    append(rendered, renderedTemplates(output, executor));
    noteUnknownFields(context, subInstallationsResult, output, 'subinstallation', executor);
  }
  const declared = declaredImports(blueprint.info);
  const absent = new Set([...declared.keys()].filter((name) => !Object.hasOwn(scope.imports, name)));
  const templates = [...rendered, ...staticTemplates(blueprint)].map((template) =>
    withoutAbsent(template, absent),
  );
  checkTemplates(templates, declared, new Set(Object.keys(scope.imports)));
  const cycle = findCycle(templates);
  if (cycle) {
    throw new SubInstallationsInvalid(`the subinstallations have a cycle: ${cycleText(cycle)}`, {
      codes: ['ERR_CYCLIC_DEPENDENCIES'],
    });
  }
  return templates;
}

/** Checked before any of them is read, because reading each one takes time and memory. */
function checkNumber(count: number, { subinstallations: limit }: InstallationLimits): void {
  if (count <= limit) return;
  throw new SubInstallationsInvalid(
    `the blueprint has ${count} sub-installations; the limit is ${limit}: ${wayOut('subinstallations')}`,
  );
}

/** Removes imports that refer to an optional import of the parent without value. */
function withoutAbsent(template: InstallationTemplate, absent: ReadonlySet<string>): InstallationTemplate {
  if (!template.imports || absent.size === 0) return template;
  const refersToAbsent = (ref: string): boolean => absent.has(ref) || absent.has(withoutIndex(ref));
  const { data, targets } = template.imports;
  const imports = present({
    data: data?.filter(({ dataRef }) => dataRef === undefined || !absent.has(dataRef)),
    targets: targets?.filter((entry) => !parentRefs(entry).some(refersToAbsent)),
  });
  return { ...template, imports };
}

type TargetEntry = NonNullable<NonNullable<InstallationTemplate['imports']>['targets']>[number];

const parentRefs = ({
  target,
  targets,
  targetMap,
  targetListRef,
  targetMapRef,
}: TargetEntry): readonly string[] =>
  [target, ...(targets ?? []), ...Object.values(targetMap ?? {}), targetListRef, targetMapRef].filter(
    (ref) => ref !== undefined,
  );

// ---------------------------------------------------------------- children

/** A child installation to create. To update an existing one, use its spec, labels and annotations. */
export interface ChildInstallation {
  readonly apiVersion: string;
  readonly kind: 'Installation';
  readonly metadata: Omit<ObjectMeta, 'name'> & {
    generateName: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  };
  readonly spec: InstallationSpec;
}

/** @throws SubInstallationsInvalid if the blueprint of the template is not available */
export function childInstallation(
  parent: View<Installation>,
  template: View<InstallationTemplate>,
  component?: ComponentView,
): ChildInstallation {
  const { name, namespace } = parent.metadata;
  const cacheHelmCharts = parent.metadata.annotations?.[annotations.cacheHelmCharts];
  return {
    apiVersion: API_VERSION,
    kind: 'Installation',
    metadata: {
      generateName: `${template.name}-`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [labels.encompassedBy]: name },
      annotations: {
        [annotations.subinstallationName]: template.name,
        ...(cacheHelmCharts === undefined ? {} : { [annotations.cacheHelmCharts]: cacheHelmCharts }),
      },
      finalizers: [FINALIZER],
      ownerReferences: [controllerReference(parent)],
    },
    spec: childSpec(parent, template, component),
  };
}

/** The spec of a child: context, component and verification from the parent, everything else from the template. */
function childSpec(
  parent: View<Installation>,
  template: View<InstallationTemplate>,
  component?: ComponentView,
): InstallationSpec {
  const { ref, filesystem } = template.blueprint;
  const own = {
    componentDescriptor: parent.spec.componentDescriptor ?? {},
    blueprint: { inline: { filesystem } },
  };
  const { componentDescriptor, blueprint } =
    ref === undefined || ref === '' ? own : byReference(ref, template.name, component);
  const spec = present({
    context: parent.spec.context,
    verification: parent.spec.verification,
    componentDescriptor,
    blueprint,
    imports: withoutEmptyLists(template.imports),
    exports: withoutEmptyLists(template.exports),
    importDataMappings: template.importDataMappings,
    exportDataMappings: template.exportDataMappings,
    optimization: template.optimization,
  });
  return copy(spec) as InstallationSpec;
}

/** Upstream does not write empty lists of imports and exports. */
const withoutEmptyLists = <T extends object>(lists: T | undefined): Partial<T> =>
  Object.fromEntries(
    Object.entries(lists ?? {}).filter(([, list]) => Array.isArray(list) && list.length > 0),
  ) as Partial<T>;

/**
 * Component and blueprint of a child, from the reference in its template: the component that contains the blueprint.
 */
function byReference(ref: string, name: string, component: ComponentView | undefined) {
  const fail = (why: string, cause?: unknown): never => {
    throw new SubInstallationsInvalid(`unable to create installation for ${name}: ${why}`, { cause });
  };
  if (!component) return fail('no component descriptor defined to resolve the blueprint ref');
  try {
    const reference = parseComponentUri(ref);
    const { resource } = component.resolve(reference);
    const blueprint = { ref: { resourceName: resource.name } };
    return { componentDescriptor: descriptorFor(component, reference.path), blueprint };
  } catch (error) {
    if (!(error instanceof ComponentProblem)) throw error;
    return fail(error.message, error);
  }
}

/** References are resolved without overwrites, because the child applies them itself. */
function descriptorFor(
  component: ComponentView,
  path: RelativeReference['path'],
): ComponentDescriptorDefinition {
  const { source } = component;
  const last = component.walk(path).at(-1)?.reference;
  const nested = last && nestedDocument(last);
  if (nested) return { inline: nested };
  const repositoryContext =
    source.kind === 'ref' ? source.original.repositoryContext : component.own.repositoryContexts.at(-1);
  const withContext = repositoryContext && { repositoryContext };
  if (last) return { ref: { ...withContext, componentName: last.componentName, version: last.version } };
  if (source.kind === 'inline') return { inline: source.document };
  const { componentName, version } = source.original;
  return { ref: { ...withContext, componentName, version } };
}
