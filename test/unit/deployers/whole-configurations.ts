/** Configurations with every field that deployers read, and what holds for the schemas that describe them. */
import { expect } from 'chai';
import type { z } from 'zod';
import { containerConfig } from '../../../deployers/container/config.ts';
import { helmConfig } from '../../../deployers/helm/config.ts';
import { manifestConfig } from '../../../deployers/manifest/config.ts';
import { mockConfig } from '../../../deployers/mock/config.ts';
import type { Codec } from '../../../deployers/sdk/codec.ts';
import { GROUP } from '../../../src/api/labels.ts';
import { configMap } from './bench.ts';

export const head = (deployer: string, version = 'v1alpha1') => ({
  apiVersion: `${deployer}.deployer.${GROUP}/${version}`,
  kind: 'ProviderConfiguration',
});
const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'app' };
const check = {
  name: 'c',
  disabled: false,
  targetName: 't',
  resourceSelector: [ref],
  labelSelector: { apiVersion: 'v1', kind: 'ConfigMap', matchLabels: { any: 'thing' } },
  requirements: [{ jsonPath: '.a', operator: 'in', values: [{ value: { any: 1 } }] }],
};
const fromObjectRef = { apiVersion: 'v1', kind: 'Secret', jsonPath: '.b' };
export const export_ = { key: 'k', jsonPath: '.a', targetName: 't', fromResource: ref, fromObjectRef };
const groups = [
  { predefinedResourceGroup: { type: 'crds', forceDelete: true } },
  {
    customResourceGroup: {
      resources: [{ apiVersion: 'v1', kind: 'ConfigMap', names: ['a'], namespaces: ['app'] }],
      forceDelete: true,
      deleteAllResources: true,
      targetName: 't',
    },
  },
];
const common = {
  updateStrategy: 'merge',
  readinessChecks: { disableDefault: true, custom: [check] },
  exports: { exports: [export_] },
  deletionGroups: groups,
  deletionGroupsDuringUpdate: groups,
  continuousReconcile: { every: '1h' },
};
export const manifest = {
  policy: 'manage',
  manifest: { ...configMap('a'), any: { thing: 1 } },
  annotateBeforeCreate: { a: 'b' },
  annotateBeforeDelete: { a: 'b' },
  patchAfterDeployment: { any: 1 },
  patchBeforeDelete: { any: 1 },
};

export const whole: Readonly<Record<string, readonly [Codec<unknown>, object]>> = {
  manifest: [manifestConfig, { ...head('manifest', 'v1alpha2'), ...common, manifests: [manifest] }],
  'manifest of old': [manifestConfig, { ...head('manifest'), ...common, manifests: [configMap('a')] }],
  helm: [
    helmConfig,
    {
      ...head('helm'),
      ...common,
      name: 'n',
      namespace: 'app',
      createNamespace: true,
      values: { any: { thing: 1 } },
      helmDeployment: true,
      chart: {
        archive: { raw: 'x', remote: { url: 'https://charts.example.org/c.tgz' } },
        ref: 'example.org/c:1',
        resourceRef: 'r',
        helmChartRepo: { helmChartRepoUrl: 'https://x.org', helmChartName: 'c', helmChartVersion: '1' },
      },
      helmDeploymentConfig: {
        install: { atomic: true },
        upgrade: { wait: true },
        uninstall: { timeout: '1m' },
      },
      exportsFromManifests: [{ key: 'other', jsonPath: '.a', fromResource: ref }],
    },
  ],
  container: [
    containerConfig,
    {
      ...head('container'),
      image: 'i',
      command: ['a'],
      args: ['b'],
      importValues: { any: 1 },
      blueprint: { inline: { filesystem: { any: 'thing' } } },
      componentDescriptor: {
        ref: { componentName: 'c', version: '1', repositoryContext: { any: 'thing' } },
      },
      registryPullSecrets: [{ name: 's', namespace: 'n' }],
      continuousReconcile: { cron: '* * * * *' },
    },
  ],
  mock: [
    mockConfig,
    {
      ...head('mock'),
      phase: 'Succeeded',
      initialPhase: 'Init',
      providerStatus: { any: 1 },
      export: { any: 1 },
      continuousReconcile: { every: '1h' },
    },
  ],
};

/** The same document, which records the names of its top-level fields that are read. */
function overheard(given: object, asked: Set<string>): object {
  return new Proxy(given, {
    get(fields, name) {
      if (typeof name === 'string') asked.add(name);
      return Reflect.get(fields, name) as unknown;
    },
  });
}

/** Tests of the schema of one of the configurations. */
export function describeSchema(title: string): void {
  const [codec, given] = whole[title] ?? [];
  if (!codec || !given) throw new Error(`there is no configuration ${title}`);

  describe(`the schema of a configuration: ${title}`, () => {
    it('has all fields', () => {
      codec.decode(given);
      expect(codec.unread?.(given)).to.deep.equal([]);
    });

    it('has all fields that are read', () => {
      const asked = new Set<string>();
      codec.decode(overheard(given, asked));
      const filled = { ...Object.fromEntries([...asked].map((name) => [name, 1])), ...given };
      expect(codec.unread?.(filled)).to.deep.equal([]);
      expect(asked.size).to.be.greaterThan(4);
    });

    it('accepts it, and not one of another version or kind', () => {
      const { apiVersion } = given as { apiVersion: string };
      const schema = codec.schemas?.[apiVersion] as z.ZodType;
      const accepts = (more: object): boolean => schema.safeParse({ ...given, ...more }).success;
      expect(accepts({}), schema.safeParse(given).error?.message).to.equal(true);
      expect(accepts({ apiVersion: `${apiVersion}1` })).to.equal(false);
      expect(accepts({ kind: 'Configuration' })).to.equal(false);
    });
  });
}
