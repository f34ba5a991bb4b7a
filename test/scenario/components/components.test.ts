/** Components without a registry, from inline repositories and inline descriptors. */
import { expect } from 'chai';
import { componentVersionOverwritesKind } from '../../../src/api/kinds/componentversionoverwrites.ts';
import { contextKind } from '../../../src/api/kinds/context.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { configMapKind } from '../../../src/landscape/world.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  descriptor,
  image,
  inlineRepository,
  LABEL,
  NOWHERE,
  overwrites,
  reference,
  rootComponent,
  seeing,
} from '../../support/components.ts';
import { dataObject, root } from '../../support/landscape.ts';
import type { Scene } from '../../support/scene.ts';

const SEEN = { exports: { data: [{ name: 'seen', dataRef: 'seen' }] } };
const FROM_BP = { ref: { resourceName: 'bp' } };
const inline = (document: object) => ({
  inline: { filesystem: { 'blueprint.yaml': JSON.stringify(document) } },
});
const byRef = (repositoryContext: object | undefined, spec: object = {}, version = '1.0.0') =>
  root('shop', {
    spec: {
      ...SEEN,
      componentDescriptor: {
        ref: { ...(repositoryContext && { repositoryContext }), componentName: 'example.org/root', version },
      },
      blueprint: FROM_BP,
      ...spec,
    },
  });

describe('an installation with a component', () => {
  const here = useCluster();

  const context = (scene: Scene, name: string, more: object): Promise<Obj> =>
    create(scene, contextKind, { apiVersion: API_VERSION, kind: 'Context', metadata: { name }, ...more });
  const create = (scene: Scene, kind: Kind, object: object): Promise<Obj> => {
    const { metadata } = object as Obj;
    const placed = { ...object, metadata: { ...metadata, namespace: scene.ns } } as Obj;
    return here.cluster.client.send({ verb: 'create', kind, object: placed });
  };
  const seenIn = async (
    installation: Parameters<Scene['create']>[0],
    prepare?: (scene: Scene) => Promise<unknown>,
  ) => {
    const scene = await here.scene();
    await prepare?.(scene);
    await scene.create(installation);
    await scene.finished('shop', 'Succeeded');
    return { scene, seen: scene.dataObject('seen')?.data as Record<string, unknown> };
  };
  const errorOf = async (
    installation: Parameters<Scene['create']>[0],
    prepare?: (scene: Scene) => Promise<unknown>,
  ) => {
    const scene = await here.scene();
    await prepare?.(scene);
    await scene.create(installation);
    const { status } = await scene.finished('shop', 'Failed');
    return status?.lastError;
  };
  const template = (text: string, more: object = {}) =>
    byRef(inlineRepository(), { blueprint: inline(seeing(text, more)) });

  it('DF-144: gets its blueprint from the component, without a network', async () => {
    const { seen } = await seenIn(byRef(inlineRepository('{name: {{ .cd.component.name }}}')));
    expect(seen).to.deep.equal({ name: 'example.org/root' });
  });

  it('DF-145: gets the repository from its context', async () => {
    const { scene, seen } = await seenIn(byRef(undefined, { context: 'mine' }), (s) =>
      context(s, 'mine', { repositoryContext: inlineRepository('{a: {{ .cd.component.version }}}') }),
    );
    expect(seen).to.deep.equal({ a: '1.0.0' });
    expect(scene.child('shop', 'sub')?.spec.context).to.equal('mine');
  });

  it('DF-146: fails if neither context nor installation names a repository for the component', async () => {
    const error = await errorOf(byRef(undefined));
    expect(error).to.include({ operation: 'InitPrerequisites', reason: 'CalculateContext' });
    expect(error?.message).to.contain('RepositoryContextMissing');
  });

  const failures: readonly [title: string, spec: object, reason: string, message: string][] = [
    [
      'DF-147: fails if the component has no such resource',
      { blueprint: { ref: { resourceName: 'nope' } } },
      'ResolveBlueprint',
      'nope',
    ],
    [
      'DF-147: fails if the resource is not a blueprint',
      { blueprint: { ref: { resourceName: 'web-chart' } } },
      'ResolveBlueprint',
      'no handler found for resource type ociImage',
    ],
    [
      'fails if the version does not exist',
      {
        componentDescriptor: {
          ref: { repositoryContext: inlineRepository(), componentName: 'example.org/root', version: '9.9.9' },
        },
      },
      'ResolveBlueprint',
      'example.org/root:9.9.9 not found',
    ],
    [
      'fails for a repository of an unknown type',
      {
        componentDescriptor: {
          ref: {
            repositoryContext: { type: 'Nothing' },
            componentName: 'example.org/root',
            version: '1.0.0',
          },
        },
      },
      'ResolveBlueprint',
      'repository type "Nothing" is unknown',
    ],
    [
      'fails for a repository in a folder that the configuration does not allow',
      {
        componentDescriptor: {
          ref: {
            repositoryContext: { type: 'local', filePath: './comps' },
            componentName: 'example.org/root',
            version: '1.0.0',
          },
        },
      },
      'ResolveBlueprint',
      'registry.local.rootPath',
    ],
    [
      'fails for a registry without TLS, which the configuration does not allow',
      {
        componentDescriptor: {
          ref: {
            repositoryContext: { ...NOWHERE, baseUrl: 'http://127.0.0.1:1' },
            componentName: 'example.org/root',
            version: '1.0.0',
          },
        },
      },
      'ResolveBlueprint',
      'plain HTTP',
    ],
  ];
  for (const [title, spec, reason, message] of failures) {
    it(title, async () => {
      const error = await errorOf(byRef(inlineRepository(), spec));
      expect(error).to.include({ operation: 'InitPrerequisites', reason });
      expect(error?.message).to.contain(message);
    });
  }

  const answers: readonly [title: string, template: string, answer: unknown][] = [
    [
      'DF-148: finds a resource by name',
      '{{ (getResource .cd "name" "web-chart").access.imageReference }}',
      'example.org/charts/web:1.2.3',
    ],
    [
      'DF-148: finds a resource by its extra identity',
      '{{ (getResource .cd "name" "web-chart" "kind" "other").access.imageReference }}',
      'example.org/charts/web:1.2.4',
    ],
    [
      'DF-149: finds a resource of a component that it refers to',
      '{{ $c := getComponent .cd "name" "leaf" }}{{ (getResource $c "name" "img").access.imageReference }}',
      'example.org/img/leaf:0.9',
    ],
    [
      'DF-152: returns a key for a reference',
      '{{ getResourceKey "cd://componentReferences/leaf/resources/img" | b64dec | quote }}',
      'component:\n  name: example.org/leaf\n  version: 0.1.0\nresource:\n  name: img\n',
    ],
    [
      'DF-153: returns a key for YAML',
      '{{ getResourceKey "resource: {name: bp}" | b64dec | quote }}',
      'component:\n  name: example.org/root\n  version: 1.0.0\nresource:\n  name: bp\n',
    ],
    [
      'DF-154: shows all components in the older schema version',
      '{{ .cd.component.name }} {{ len .components.components }}',
      'example.org/root 2',
    ],
    [
      'reads the content of a resource as a string',
      '{{ getResourceContent "cd://resources/text" | quote }}',
      'hello\n',
    ],
    [
      'reads the content of a binary resource as base64',
      '{{ getResourceContent "cd://resources/raw" }}',
      'aGVsbG8K',
    ],
    ['finds all matching resources', '{{ len (getResources .cd "name" "web-chart") }}', 2],
    ['shows its repository', '{{ (getRepositoryContext .cd).type }}', 'OCIRegistry'],
  ];
  for (const [title, text, answer] of answers) {
    it(title, async () => {
      expect((await seenIn(template(text))).seen).to.deep.equal(answer);
    });
  }

  it('DF-155: shows components in the newer schema version if the blueprint was written for it', async () => {
    const { seen } = await seenIn(
      template('{{ .cd.metadata.name }} {{ len .components }} {{ .cd.spec.references | len }}', {
        annotations: { ocmSchemaVersion: 'ocm.software/v3alpha1' },
      }),
    );
    expect(seen).to.equal('example.org/root 2 1');
  });

  it('DF-155: fails for an unknown schema version', async () => {
    const error = await errorOf(template('x', { annotations: { ocmSchemaVersion: 'v9' } }));
    expect(error).to.include({ operation: 'handlePhaseInit', reason: 'CreateImportsAndSubobjects' });
    expect(error?.message).to.contain('Reason: RenderImportExecutions').and.contain('unknown schema version');
  });

  const mistakes: readonly [title: string, template: string, message: string][] = [
    [
      'DF-150: fails for a missing resource',
      '{{ getResource .cd "name" "zz" }}',
      'error calling getResource: component example.org/root:1.0.0 has no resource with name=zz',
    ],
    [
      'DF-150: fails if no resource matches',
      '{{ getResources .cd "name" "zz" }}',
      'error calling getResources: ',
    ],
    [
      'DF-150: fails for a missing reference',
      '{{ getComponent .cd "name" "zz" }}',
      'error calling getComponent: ',
    ],
    ['DF-151: fails without arguments', '{{ getResource .cd }}', 'at least 2 arguments are expected'],
    [
      'DF-151: fails with a keyword without value',
      '{{ getResource .cd "name" }}',
      'odd number of key value pairs',
    ],
    [
      'fails for a key that points to nothing',
      '{{ getResourceKey }}',
      'unable to provide key for empty relative artifact reference',
    ],
    [
      'fails for a key of a missing resource',
      '{{ getResourceKey "cd://resources/zz" }}',
      'local resource name=zz cannot be found',
    ],
    [
      'fails for a reference with an unknown prefix',
      '{{ getResourceKey "http://resources/zz" }}',
      'is not a valid reference',
    ],
    ['fails for an unknown keyword', '{{ getResourceKey "cd://things/zz" }}', 'unknown keyword things'],
    [
      'fails for the content of an image',
      '{{ getResourceContent "cd://resources/nothing" }}',
      'error calling getResourceContent: ',
    ],
  ];
  for (const [title, text, message] of mistakes) {
    it(title, async () => {
      const error = await errorOf(template(text));
      expect(error).to.include({ reason: 'ConstructExports' });
      expect(error?.message).to.contain(message);
    });
  }

  it('DF-156: reports in a template that there is no component', async () => {
    const installation = root('shop', {
      gives: { seen: 'seen' },
      values: { seen: '{{ getResource "name" "x" }}' },
    });
    expect((await errorOf(installation))?.message).to.contain(
      'Unable to search for a resource as no ComponentDescriptor is defined.',
    );
  });

  it('DF-157: passes the component with the blueprint on to a sub-installation', async () => {
    const repository = inlineRepository();
    const { scene } = await seenIn(byRef(repository));
    const child = scene.child('shop', 'sub');
    expect(child?.status?.phase).to.equal('Succeeded');
    expect(child?.spec.blueprint).to.deep.equal({ ref: { resourceName: 'sub-bp' } });
    expect(child?.spec.componentDescriptor).to.deep.equal({
      ref: { repositoryContext: repository, componentName: 'example.org/leaf', version: '0.1.0' },
    });
  });

  it('DF-158: validates imports against schemas of components', async () => {
    const imports = { data: [{ name: 'text', dataRef: 'given' }] };
    const error = await errorOf(byRef(inlineRepository(), { imports }), (s) =>
      s.create(dataObject('given', 'x')),
    );
    expect(error?.message).to.contain('String length must be greater than or equal to 3');
    await seenIn(byRef(inlineRepository(), { imports }), (s) => s.create(dataObject('given', 'long enough')));
  });

  const VERSIONS =
    '{ {{ range .components.components }}{{ quote .component.name }}: {{ .component.version }}, {{ end }} }';
  const overwriting = async (scene: Scene): Promise<void> => {
    const entries = [{ source: { componentName: 'example.org/leaf' }, substitution: { version: '0.2.0' } }];
    await create(scene, componentVersionOverwritesKind, overwrites('ow', entries));
    const repositoryContext = inlineRepository(
      '{image: {{ (getResource (getComponent .cd "name" "leaf") "name" "img").access.imageReference }}}',
    );
    await context(scene, 'overwriting', { repositoryContext, componentVersionOverwrites: 'ow' });
  };
  const conditionOf = (scene: Scene, installation: string | undefined) =>
    scene
      .installation(installation ?? '')
      ?.status?.conditions?.find(({ type }) => type === 'ComponentReferenceOverwrite');

  it('DF-159: resolves references as the overwrites say', async () => {
    const blueprint = inline(seeing(VERSIONS));
    const { scene, seen } = await seenIn(
      byRef(undefined, { context: 'overwriting', blueprint }),
      overwriting,
    );
    expect(seen).to.deep.equal({ 'example.org/root': '1.0.0', 'example.org/leaf': '0.2.0' });
    expect(conditionOf(scene, 'shop')).to.include({ status: 'False', reason: 'No overwrite defined' });
  });

  it('DF-159: shows overwritten components to templates and sub-installations', async () => {
    const { scene, seen } = await seenIn(byRef(undefined, { context: 'overwriting' }), overwriting);
    expect(seen).to.deep.equal({ image: 'example.org/img/leaf:2.0' });
    const child = scene.child('shop', 'sub');
    expect(child?.spec.componentDescriptor?.ref?.version).to.equal('0.1.0');
    expect(conditionOf(scene, child?.metadata.name)).to.include({
      status: 'True',
      reason: 'FoundOverwrite',
      message:
        'Component reference has been overwritten:\nRepositoryContext has not been overwritten\nComponentName has not been overwritten\n0.1.0 -> 0.2.0',
    });
  });

  it('DF-160: fails if the overwrites that the context names do not exist', async () => {
    const error = await errorOf(byRef(undefined, { context: 'mine' }), (s) =>
      context(s, 'mine', { repositoryContext: inlineRepository(), componentVersionOverwrites: 'x' }),
    );
    expect(error).to.include({ operation: 'InitPrerequisites', reason: 'CalculateContext' });
    expect(error?.message).to.contain(
      "references ComponentVersionOverwrites resource 'x', which cannot be found",
    );
  });

  const nested = descriptor('example.org/inner', '0.3.0', [image('img', 'example.org/img/inner:3')]);
  const outer = descriptor(
    'example.org/outer',
    '1.0.0',
    [],
    [reference('in', 'example.org/inner', '0.3.0', { labels: [{ name: LABEL, value: nested }] })],
  );
  const ofInline = (cd: object, text: string, more: object = {}) =>
    root('shop', {
      spec: { ...SEEN, componentDescriptor: { inline: cd }, blueprint: inline(seeing(text, more)) },
    });

  it('DF-161: uses an inline descriptor and those nested in it, without a registry', async () => {
    const text =
      '{image: {{ (getResource (getComponent .cd "name" "in") "name" "img").access.imageReference }}, def: {{ keys .componentDescriptorDef | toJson }} }';
    const sub = seeing('{{ .cd.component.name }}');
    const { scene, seen } = await seenIn(
      ofInline(outer, text, {
        subinstallations: [
          { name: 'sub', blueprint: { filesystem: { 'blueprint.yaml': JSON.stringify(sub) } } },
        ],
      }),
    );
    expect(seen).to.deep.equal({ image: 'example.org/img/inner:3', def: ['inline'] });
    expect(scene.child('shop', 'sub')?.spec.componentDescriptor).to.deep.equal({ inline: outer });
  });

  it('DF-161: passes a nested descriptor to the child whose blueprint is in it', async () => {
    const tar = { 'blueprint.yaml': JSON.stringify(seeing('{}')) };
    const context_ = {
      type: 'inline',
      compDescDirPath: 'comps',
      blobDirPath: 'blobs',
      fileSystem: { blobs: { bp: tar } },
    };
    const bp = {
      name: 'bp',
      version: '1.0.0',
      type: 'blueprint',
      relation: 'local',
      access: { type: 'localBlob', localReference: 'bp', mediaType: 'application/x-tar' },
    };
    const inner = descriptor('example.org/inner', '0.3.0', [bp], [], { repositoryContexts: [context_] });
    const cd = descriptor(
      'example.org/outer',
      '1.0.0',
      [],
      [reference('in', 'example.org/inner', '0.3.0', { labels: [{ name: LABEL, value: inner }] })],
    );
    const { scene } = await seenIn(
      ofInline(cd, '{}', {
        subinstallations: [{ name: 'sub', blueprint: { ref: 'cd://componentReferences/in/resources/bp' } }],
      }),
    );
    expect(scene.child('shop', 'sub')?.spec.componentDescriptor).to.deep.equal({ inline: inner });
  });

  it('DF-161: accepts an inline descriptor of the newer schema version', async () => {
    const v3 = {
      apiVersion: 'ocm.software/v3alpha1',
      kind: 'ComponentVersion',
      repositoryContexts: [NOWHERE],
      metadata: { name: 'example.org/v3', version: '1.0.0', provider: { name: 'example' } },
      spec: { resources: rootComponent.component.resources.slice(0, 1) },
    };
    const { seen } = await seenIn(
      ofInline(v3, '{{ .cd.metadata.name }} {{ (getResource .cd "name" "web-chart").type }}'),
    );
    expect(seen).to.equal('example.org/v3 ociImage');
  });

  it('DF-161: fails for an invalid inline descriptor', async () => {
    const error = await errorOf(ofInline({ nothing: 1 }, 'x'));
    expect(error).to.include({ operation: 'InitPrerequisites', reason: 'CalculateContext' });
  });

  it('DF-163: searches the repositories that the OCM configuration names', async () => {
    const second = inlineRepository();
    const config = {
      type: 'generic.config.ocm.software/v1',
      configurations: [
        {
          type: 'ocm.config.ocm.software',
          resolvers: [{ prefix: 'example.org/leaf', priority: 10, repository: second }],
        },
      ],
    };
    const { fileSystem } = inlineRepository();
    const onlyRoot = {
      ...inlineRepository(),
      fileSystem: { ...fileSystem, comps: { 'root.yaml': fileSystem.comps['root.yaml'] } },
    };
    const blueprint = inline(seeing(VERSIONS));
    const { seen } = await seenIn(byRef(onlyRoot, { context: 'mine', blueprint }), async (scene) => {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'ocm' },
        data: { '.ocmconfig': JSON.stringify(config) },
      };
      await create(scene, configMapKind, object);
      await context(scene, 'mine', { ocmConfig: { name: 'ocm' } });
    });
    expect(seen).to.deep.equal({ 'example.org/root': '1.0.0', 'example.org/leaf': '0.1.0' });
  });

  it('can be uninstalled even if its component is no longer available', async () => {
    const scene = await here.scene();
    await scene.create(byRef({ ...NOWHERE }));
    await scene.busy('shop', 'Init', 'ResolveBlueprint');
    await scene.delete('shop');
    await scene.empty();
  });
});
