/** Components of attackers: descriptors that are large, many, or contain each other. */
import type { Installation } from '../../src/api/kinds/installation.ts';
import { root } from '../support/landscape.ts';
import { attacks, type Attack, type Victim } from './stage/attack.ts';
import { serveDescriptors, type DescriptorServer } from './stage/descriptors.ts';
import { failing, failingTimes } from './stage/objects.ts';

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const NAME = 'example.com/attack';

/** A descriptor in YAML, with resources until it is that large. */
function descriptor(
  name: string,
  { bytes = 0, references = '', resource = 'name: r, type: t' } = {},
): string {
  const head =
    `meta: {schemaVersion: v2}\ncomponent:\n  name: ${name}\n  version: 1.0.0\n  provider: attack\n` +
    `  repositoryContexts: []\n  sources: []\n  componentReferences: [${references}]\n  resources:\n`;
  const line = `  - {${resource}}\n`;
  return head + line.repeat(Math.max(1, Math.floor((bytes - head.length) / line.length)));
}

const reference = (name: string): string =>
  `{name: ${name.replaceAll(/\W/g, '-')}, componentName: ${name}, version: 1.0.0}`;

const NOWHERE = { type: 'ociRegistry', baseUrl: '127.0.0.1:9' };
const EMPTY_LISTS = `name: r, type: t, l: [${'[],'.repeat(40)}]`;

/** An installation of a component there; its blueprint is one that the component does not have. */
const ofComponent = (name: string, repositoryContext: object, componentName = NAME): Installation =>
  root(name, {
    spec: {
      componentDescriptor: { ref: { repositoryContext, componentName, version: '1.0.0' } },
      blueprint: { ref: { resourceName: 'none' } },
    },
  });

const fromRegistry = (
  title: string,
  describe: (name: string, version: string) => string,
  count: number,
  ...says: readonly RegExp[]
): Attack => {
  let server: DescriptorServer | undefined;
  return {
    title,
    async launch(scene): Promise<readonly Victim[]> {
      server = await serveDescriptors(describe);
      const context = { type: 'ociRegistry', baseUrl: server.address };
      // A component of each: nothing that one of them has read helps the others.
      return failingTimes(count, (i) =>
        failing(scene, ofComponent(`c-${i}`, context, `${NAME}-${i}`), ...says),
      );
    },
    after: () => Promise.resolve(`${String(server?.fetched() ?? 0)} descriptors were fetched`),
    cleanUp: async () => server?.close(),
    patienceMs: 240_000,
  };
};

attacks({
  title: 'components',
  configuration: { registry: { oci: { allowPlainHttp: true } }, limits: { components: 300 } },
  attacks: [
    fromRegistry(
      'installations of components with 3.9 MB of YAML each',
      (name) => descriptor(name, { bytes: 3.9 * MIB }),
      4,
    ),
    fromRegistry(
      '6 components of which each refers to 250 others of 1 MB',
      (name) =>
        name.includes('-of-')
          ? descriptor(name, { bytes: MIB, resource: `name: r, type: t, x: ${'x'.repeat(2000)}` })
          : descriptor(name, {
              references: Array.from({ length: 250 }, (_, i) => reference(`${name}-of-${String(i)}`)).join(),
            }),
      6,
      /limits\.componentsMiB/,
    ),
    fromRegistry(
      'components of which each refers to one more, without end',
      (name) => descriptor(name, { references: reference(`${name}.x`.replace(/\.(x+)\.x$/, '.$1x')) }),
      6,
      /limits\.components\b|path of a repository|longer/,
    ),
    fromRegistry(
      '6 components of 60 KB of empty lists each, with references to more of them',
      (name) =>
        descriptor(name, {
          bytes: 60 * KIB,
          resource: EMPTY_LISTS,
          references: name.includes('-of-')
            ? ''
            : Array.from({ length: 250 }, (_, i) => reference(`${name}-of-${String(i)}`)).join(),
        }),
      6,
      /limits\.componentsMiB/,
    ),
    {
      title: 'inline repositories of 600 KB in which all components refer to each other',
      launch: (scene) => {
        const names = Array.from({ length: 40 }, (_, i) => `example.com/c${String(i)}`);
        const references = names.map(reference).join();
        const files = names.map((name, i) => [
          `${String(i)}.yaml`,
          descriptor(name, { references, bytes: 15 * KIB }),
        ]);
        const fileSystem = Object.fromEntries(files) as Readonly<Record<string, string>>;
        const context = { type: 'inline', fileSystem, compDescDirPath: '/' };
        return failingTimes(3, (i) => failing(scene, ofComponent(`inline-${i}`, context, 'example.com/c39')));
      },
      patienceMs: 240_000,
    },
    {
      title: '6 inline descriptors with 290 descriptors in each other',
      launch: (scene) => {
        const resources = [
          { name: 'r', type: 't', version: '1', relation: 'local', access: { type: 'none' } },
        ];
        const head = (i: number): object => ({
          name: `example.com/c${String(i)}`,
          version: '1.0.0',
          provider: 'attack',
          repositoryContexts: [NOWHERE],
          sources: [],
          resources,
        });
        const digest = {
          hashAlgorithm: 'SHA-256',
          normalisationAlgorithm: 'jsonNormalisation/v2',
          value: 'x',
        };
        const lastOne = { meta: { schemaVersion: 'v2' }, component: { ...head(0), componentReferences: [] } };
        const nested = Array.from({ length: 290 }, (_, i) => i + 1).reduce(
          (inner: object, i) => ({
            meta: { schemaVersion: 'v2' },
            component: {
              ...head(i),
              componentReferences: [
                {
                  name: 'r',
                  componentName: `example.com/c${String(i - 1)}`,
                  version: '1.0.0',
                  ...(i < 3 && { digest }),
                  labels: [{ name: 'landscaper.gardener.cloud/component-descriptor', value: inner }],
                },
              ],
            },
          }),
          lastOne,
        );
        return failingTimes(6, (i) =>
          failing(
            scene,
            root(`nested-${i}`, {
              spec: {
                componentDescriptor: { inline: nested },
                blueprint: { ref: { resourceName: 'none' } },
              },
            }),
            /limits\.componentsMiB/,
          ),
        );
      },
      patienceMs: 240_000,
    },
  ],
});
