/** The template functions for components, on plain JSON values; each template engine wraps them. */
import { isObject } from '../lib/objects.ts';
import { toYaml } from '../lib/yaml.ts';
import {
  nameOf,
  readDescriptor,
  toV2,
  V3,
  type Component,
  type JsonMap,
  type Resource,
  type SchemaVersion,
} from './descriptor.ts';
import { ReferenceInvalid } from './errors.ts';
import { describeSelector, identityOf, select, type Selector } from './identity.ts';
import { parseRelativeReference } from './relative-reference.ts';
import type { Content } from './repository.ts';
import type { ComponentView, ResourcePlace } from './view.ts';

export const componentFunctionNames = [
  'getResource',
  'getResources',
  'getComponent',
  'getRepositoryContext',
  'getResourceKey',
  'getResourceContent',
] as const;
export type ComponentFunctionName = (typeof componentFunctionNames)[number];

/** The arguments are the template's, as JSON. @throws ComponentProblem; ContentNeeded */
type ComponentFunctions = Readonly<Record<ComponentFunctionName, (args: readonly unknown[]) => unknown>>;

const NO_VERSION = 'unable to use this function without ocm component version';

/** @param view undefined for an installation without component: only functions that need one fail */
export function componentFunctions(view: ComponentView | undefined): ComponentFunctions {
  const searched = (
    args: readonly unknown[],
    missing: string,
  ): { component: Component; selector: Selector } => {
    const isGiven = isObject(args[0]);
    const component = isGiven ? readDescriptor(args[0]) : view?.own;
    if (!component) throw new ReferenceInvalid(missing);
    return { component, selector: selectorOf(isGiven ? args.slice(1) : args) };
  };
  const resources = (args: readonly unknown[]): readonly Resource[] => {
    const { component, selector } = searched(
      args,
      'Unable to search for a resource as no ComponentDescriptor is defined.',
    );
    const found = select(component.resources, selector);
    if (found.length > 0) return found;
    throw notFound('resource', selector, component);
  };
  return {
    getResource: (args) => resources(args)[0],
    getResources: (args) => resources(args),
    getComponent(args) {
      const { component, selector } = searched(
        args,
        'Unable to search for a component as no ComponentDescriptor is defined.',
      );
      const [reference] = select(component.references, selector);
      if (!reference) throw notFound('component reference', selector, component);
      const target = view?.target(reference.componentName, reference.version);
      if (target) return toV2(target);
      const wanted = nameOf({ name: reference.componentName, version: reference.version });
      throw new ReferenceInvalid(
        `unable to resolve component ${wanted}: the installation does not reference it`,
      );
    },
    getRepositoryContext: ([descriptor]) =>
      repositoryContextOf(isObject(descriptor) ? readDescriptor(descriptor) : view?.own),
    getResourceKey: (args) => resourceKey(needed(view).resolve(referenceOf(args))),
    getResourceContent(args) {
      const active = needed(view);
      const place = active.resolve(referenceOf(args));
      return textOf(place.resource, active.content(place));
    },
  };
}

function repositoryContextOf(component: Component | undefined): unknown {
  if (!component) {
    throw new ReferenceInvalid(
      'Unable to get effective component descriptor as no ComponentDescriptor is defined.',
    );
  }
  const context = component.repositoryContexts.at(-1);
  if (context) return context;
  throw new ReferenceInvalid(`component ${nameOf(component)} has no repository context`);
}

function resourceKey({ owner, resource }: ResourcePlace): string {
  const { name, version } = owner.component;
  const identity = uniqueIdentity(resource, owner.component);
  return Buffer.from(toYaml({ component: { name, version }, resource: identity })).toString('base64');
}

function textOf(resource: Resource, content: Content): string {
  if (content.kind === 'artifact') {
    throw new ReferenceInvalid(
      `resource ${resource.name} is an artifact of ${String(content.layers.length)} layers in a registry; only single blobs have a content`,
    );
  }
  const bytes = Buffer.from(content.bytes);
  return content.mediaType === 'application/octet-stream' ? bytes.toString('base64') : bytes.toString('utf8');
}

function needed(view: ComponentView | undefined): ComponentView {
  if (view) return view;
  throw new ReferenceInvalid(NO_VERSION);
}

function referenceOf([text]: readonly unknown[]) {
  if (typeof text !== 'string' || text === '') {
    throw new ReferenceInvalid('unable to provide key for empty relative artifact reference');
  }
  return parseRelativeReference(text);
}

function selectorOf(pairs: readonly unknown[]): Selector {
  if (pairs.length === 0) throw new ReferenceInvalid('at least 2 arguments are expected');
  if (pairs.length % 2 !== 0) throw new ReferenceInvalid('odd number of key value pairs');
  if (!pairs.every((text) => typeof text === 'string')) {
    throw new ReferenceInvalid('keys and values must be strings, such as "name" "web"');
  }
  const selector: Record<string, string> = {};
  for (let i = 0; i < pairs.length; i += 2) selector[pairs[i] as string] = pairs[i + 1] as string;
  return selector;
}

const notFound = (what: string, selector: Selector, component: Component): ReferenceInvalid =>
  new ReferenceInvalid(`component ${nameOf(component)} has no ${what} with ${describeSelector(selector)}`);

/** The identity of a resource; with its version only if other resources differ in nothing else. */
function uniqueIdentity(resource: Resource, { resources }: Component): JsonMap {
  const identity = identityOf(resource);
  const same = resources.filter((other) => describeIdentity(other) === describeIdentity(resource));
  return same.length > 1 && resource.version !== undefined
    ? { ...identity, version: resource.version }
    : identity;
}

const describeIdentity = (resource: Resource): string =>
  JSON.stringify(Object.entries(identityOf(resource)).sort(([a], [b]) => (a < b ? -1 : 1)));

/** The root values `cd` and `components` of templates, in a descriptor format. */
export function componentValues(
  view: ComponentView,
  form: SchemaVersion,
): { cd: JsonMap; components: unknown } {
  const descriptors = view.descriptors(form);
  return {
    cd: descriptors[0] ?? {},
    components: form === V3 ? descriptors : { meta: { schemaVersion: form }, components: descriptors },
  };
}
