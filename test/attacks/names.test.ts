/** Names with paths in them, and other names that could reveal secrets. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { contextKind } from '../../src/api/kinds/context.ts';
import { deployItemKind } from '../../src/api/kinds/deployitem.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { targetKind } from '../../src/api/kinds/target.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import { Secret } from '../../src/runtime/core-kinds.ts';
import { blueprint, mockItem } from '../support/landscape.ts';
import { attacks, type Scene } from './stage/attack.ts';
import { failing, manifestItem, onTarget, templated, withBlueprint } from './stage/objects.ts';

const VALUE = 'c4n4rys-pr1v4te-v4lue';

/** A secret in the namespace of the canary that must not appear in any message or object. */
async function giveSecret({ client }: Scene, name: string): Promise<void> {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret' as const,
    metadata: { name, namespace: 'canary' },
    data: { v: Buffer.from(VALUE).toString('base64') },
  };
  await client.send({ verb: 'create', kind: Secret, object });
}

/** @throws AssertionError if an object of the attacker shows the value */
async function hidden({ client, namespace }: Scene): Promise<string> {
  const seen: unknown[] = [];
  for await (const { items } of client.list(installationKind, { namespace })) seen.push(items);
  for await (const { items } of client.list(deployItemKind, { namespace })) seen.push(items);
  expect(JSON.stringify(seen).includes(VALUE), 'the secret is shown').to.equal(false);
  return 'no object shows the secret of the other namespace';
}

const imports = [{ name: 'v', type: 'data', schema: {} }];
const printed = templated('{{ toJson .imports }}', 'GoTemplate', { imports });

attacks({
  title: 'names',
  attacks: [
    {
      title: 'an import from a secret of another namespace, by a path',
      async launch(scene) {
        await giveSecret(scene, 'by-import');
        const secretRef = { name: '../../canary/secrets/by-import', key: 'v' };
        const spec = { imports: { data: [{ name: 'v', secretRef }] } };
        return failing(scene, withBlueprint('path', printed, {}, spec), /name/i);
      },
      after: hidden,
    },
    {
      title: 'a context of another namespace, by a path',
      launch: (scene) =>
        failing(scene, withBlueprint('context', printed, {}, { context: 'canary/default' }), /name|context/i),
    },
    {
      title: 'targets whose secret and whose service account are paths',
      async launch(scene) {
        await giveSecret(scene, 'by-target');
        const configMap = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'attack', namespace: 'default' },
        };
        const specs = {
          secret: { secretRef: { name: '../../canary/secrets/by-target', key: 'v' } },
          account: {
            config: { selfConfig: { serviceAccount: { name: '../../canary/serviceaccounts/default' } } },
          },
          question: { config: { selfConfig: { serviceAccount: { name: 'default/token?x=' } } } },
          oidc: {
            config: {
              oidcConfig: {
                server: 'http://127.0.0.1:9',
                serviceAccount: { name: 'a/../b' },
                audience: ['x'],
              },
            },
          },
        };
        const victims = [];
        for (const [name, spec] of Object.entries(specs)) {
          await scene.create(targetKind, {
            apiVersion: API_VERSION,
            kind: 'Target',
            metadata: { name },
            spec: { type: `${GROUP}/kubernetes-cluster`, ...spec },
          });
          victims.push(
            ...(await failing(scene, onTarget(name, [manifestItem('a', configMap)], name), /name/i)),
          );
        }
        return victims;
      },
      after: hidden,
    },
    {
      title: 'a key for signatures from another namespace',
      async launch(scene) {
        await giveSecret(scene, 'by-signature');
        const reference = { name: 'by-signature', namespace: 'canary', key: 'v' };
        const body = {
          repositoryContext: { type: 'ociRegistry', baseUrl: 'http://127.0.0.1:9' },
          verificationSignatures: { s: { publicKeySecretReference: reference } },
        };
        const key = `${scene.namespace}/default`;
        await scene.client.send({ verb: 'merge', kind: contextKind, key, body });
        const descriptor = {
          meta: { schemaVersion: 'v2' },
          component: {
            name: 'example.com/attack',
            version: '1.0.0',
            provider: 'attack',
            repositoryContexts: [],
            sources: [],
            resources: [],
            componentReferences: [],
          },
        };
        const spec = {
          componentDescriptor: { inline: descriptor },
          verification: { signatureName: 's' },
        };
        return failing(scene, withBlueprint('signed', templated('{}'), {}, spec), /namespace/i);
      },
      after: hidden,
    },
    {
      title: 'a secret value as the name of a deploy item',
      async launch(scene) {
        const object = {
          apiVersion: 'v1',
          kind: 'Secret' as const,
          metadata: { name: 'own', namespace: scene.namespace },
          data: { v: Buffer.from('s3cr3t-value').toString('base64') },
        };
        await scene.create(Secret, object);
        const item = JSON.stringify(mockItem('NAME')).replace('NAME', '{{ .imports.v }}');
        const text = templated(`{"deployItems": [${item}]}`, 'GoTemplate', { imports });
        const spec = { imports: { data: [{ name: 'v', secretRef: { name: 'own', key: 'v' } }] } };
        return failing(scene, withBlueprint('named', text, {}, spec), /secret/i);
      },
      async after({ client, namespace }) {
        for await (const { items } of client.list(deployItemKind, { namespace }))
          expect(items.filter(({ metadata }) => metadata.name.includes('s3cr3t'))).to.deep.equal([]);
        return 'no deploy item has it in its name';
      },
    },
    {
      title: 'names of 300 KB, and names that are keys of every object',
      async launch(scene) {
        const item = (name: string): object => mockItem(name);
        const long = templated(JSON.stringify({ deployItems: [item('x'.repeat(300_000))] }));
        const odd = templated(
          JSON.stringify({ deployItems: ['__proto__', 'constructor', 'toString'].map(item) }),
        );
        return [
          ...(await failing(scene, withBlueprint('long', long), /must be no more than 63 characters/)),
          ...(await failing(scene, withBlueprint('odd', odd), /name|deployitem/i)),
        ];
      },
    },
    {
      title: 'a target for each of 300 kubeconfigs, all of them without a server',
      async launch(scene) {
        const kubeconfig = readFileSync(scene.stage.kubeconfig, 'utf8').replace(
          /https:\/\/127.0.0.1:\d+/,
          'https://127.0.0.1:9',
        );
        const names = Array.from({ length: 300 }, (_, i) => `t${String(i)}`);
        await Promise.all(
          names.map((name, i) =>
            scene.create(targetKind, {
              apiVersion: API_VERSION,
              kind: 'Target',
              metadata: { name },
              spec: {
                type: `${GROUP}/kubernetes-cluster`,
                config: { kubeconfig: `${kubeconfig}\n# ${String(i)}\n` },
              },
            }),
          ),
        );
        const definitions = names.map((name) => ({
          name,
          type: 'target',
          targetType: `${GROUP}/kubernetes-cluster`,
        }));
        const configMap = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'a', namespace: 'default' },
        };
        const items = names.map((name) => ({
          ...manifestItem(name, configMap, '5s'),
          target: { import: name },
        }));
        const text = JSON.stringify(
          blueprint({
            more: {
              imports: definitions,
              deployExecutions: [
                {
                  name: 'd',
                  type: 'GoTemplate',
                  template: JSON.stringify({ deployItems: items.slice(0, 40) }),
                },
              ],
            },
          }),
        );
        const spec = { imports: { targets: names.map((name) => ({ name, target: name })) } };
        return failing(scene, withBlueprint('targets', text, {}, spec));
      },
      patienceMs: 90_000,
    },
  ],
});
