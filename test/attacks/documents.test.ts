/** Documents that are small to write and large to parse. */
import { gzipSync } from 'node:zlib';
import { dataObjectKind } from '../../src/api/kinds/dataobject.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import { ConfigMap } from '../../src/runtime/core-kinds.ts';
import { blueprint, mockItem, root } from '../support/landscape.ts';
import { attacks } from './stage/attack.ts';
import {
  executionOf,
  failing,
  failingTimes,
  packedRepeat,
  templated,
  withBlueprint,
  withFiles,
} from './stage/objects.ts';

const MIB = 2 ** 20;
/** Nearly as much as a request may have. */
const LARGE = 1.2 * MIB;

/** Each list contains the previous one nine times, as in the attack called "billion laughs". */
const aliases = (levels: number): string =>
  ['a0: &a0 [x, x, x, x, x, x, x, x, x]']
    .concat(
      Array.from({ length: levels }, (_, i) => {
        const before = Array(9)
          .fill(`*a${String(i)}`)
          .join(', ');
        return `a${String(i + 1)}: &a${String(i + 1)} [${before}]`;
      }),
    )
    .join('\n');

const header = (fields: string): string =>
  `apiVersion: ${API_VERSION}\nkind: Blueprint\njsonSchema: "https://json-schema.org/draft/2019-09/schema"\n${fields}\n`;

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

attacks({
  title: 'documents',
  attacks: [
    {
      title: 'symlinks of 0.8 MB that refer to each other',
      launch(scene) {
        const link = { $type: 'symlink', value: `${'a/'.repeat(200_000)}b` };
        return failing(scene, withFiles('links', { 'blueprint.yaml': link, a: link }), /4096 bytes/);
      },
    },
    {
      title: 'compressed deploy items that unpack to 1.5 million',
      async launch(scene) {
        const part = '{"name":"a","type":"t","config":{"apiVersion":"a","kind":"b"}},';
        const packed = packedRepeat('[', part, 1_500_000, '{}]');
        return [{ ...(await executionOf(scene, 'many', packed)), says: [/16 MiB/] }];
      },
    },
    {
      title: 'compressed deploy items of 16 MiB: millions of empty ones, and nested brackets',
      async launch(scene) {
        const count = Math.floor((15.9 * MIB) / 3);
        const empty = await executionOf(scene, 'empty', packedRepeat('[', '{},', count, '{}]'));
        const half = 7.9 * MIB;
        const deep = gzipSync('['.repeat(half) + ']'.repeat(half)).toString('base64');
        const deepOne = await executionOf(scene, 'deep', deep);
        return [
          { ...empty, says: [/1000000 values/] },
          { ...deepOne, says: [/nested more than 10000 deep/] },
        ];
      },
    },
    {
      title: 'a blueprint of aliases of aliases',
      launch: (scene) => failing(scene, withBlueprint('aliases', header(aliases(40))), /alias/i),
    },
    {
      title: 'an anchor of 0.9 MB and 10,000 aliases of it, in a blueprint and in a config map',
      async launch(scene) {
        const text = `a: &a "${'x'.repeat(900_000)}"\nb: [${'*a, '.repeat(10_000)}]`;
        const object = {
          apiVersion: 'v1',
          kind: 'ConfigMap' as const,
          metadata: { name: 'text' },
          data: { v: text },
        };
        await scene.create(ConfigMap, object);
        const printed = templated('{{ .imports.v | toJson }}', 'GoTemplate', {
          imports: [{ name: 'v', type: 'data', schema: {} }],
        });
        const configMapRef = { name: 'text', key: 'v' };
        const spec = { imports: { data: [{ name: 'v', configMapRef }] } };
        return [
          ...(await failing(scene, withBlueprint('repeated', header(text)), /aliases/)),
          ...(await failing(scene, withBlueprint('repeated-import', printed, {}, spec), /aliases/)),
        ];
      },
    },
    {
      title: 'a blueprint with 400,000 nested brackets',
      launch: (scene) =>
        failing(scene, withBlueprint('brackets', header(`deep: ${nested(400_000)}`)), /nested|deep|depth/i),
    },
    {
      title: 'imports with schemas of exponential regular expressions, and a value for them',
      async launch(scene) {
        const value = `${'a'.repeat(200_000)}!`;
        const evil = ['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$', '(.*a){25}$', '^(([a-z])+.)+[A-Z]([a-z])+$'];
        const imports = evil.map((pattern, i) => ({
          name: `i${String(i)}`,
          type: 'data',
          schema: { type: 'string', pattern },
        }));
        const object = {
          apiVersion: API_VERSION,
          kind: 'DataObject',
          metadata: { name: 'evil' },
          data: value,
        };
        await scene.create(dataObjectKind, object);
        const data = imports.map(({ name }) => ({ name, dataRef: 'evil' }));
        const text = JSON.stringify(blueprint({ more: { imports } }));
        return failing(
          scene,
          withBlueprint('expressions', text, {}, { imports: { data } }),
          /pattern|match|time/i,
        );
      },
    },
    {
      title: 'a schema that refers to itself, and one of 20,000 nested alternatives',
      async launch(scene) {
        const alternatives = { anyOf: Array.from({ length: 200 }, (_, i) => ({ minItems: 300 + i })) };
        const schema = {
          $defs: {
            a: {
              anyOf: Array.from({ length: 8 }, () => ({ items: { $ref: '#/$defs/a' }, ...alternatives })),
            },
          },
          $ref: '#/$defs/a',
        };
        const deep = JSON.parse('['.repeat(60) + ']'.repeat(60)) as unknown;
        const object = {
          apiVersion: API_VERSION,
          kind: 'DataObject',
          metadata: { name: 'deep' },
          data: deep,
        };
        await scene.create(dataObjectKind, object);
        const text = JSON.stringify(
          blueprint({ more: { imports: [{ name: 'deep', type: 'data', schema }] } }),
        );
        const spec = { imports: { data: [{ name: 'deep', dataRef: 'deep' }] } };
        return failing(
          scene,
          withBlueprint('alternatives', text, {}, spec),
          /templating\.(timeout|memoryMiB)/,
        );
      },
    },
    {
      title: '20,000 imports of one large value',
      async launch(scene) {
        const data = { text: 'x'.repeat(LARGE) };
        const object = { apiVersion: API_VERSION, kind: 'DataObject', metadata: { name: 'large' }, data };
        await scene.create(dataObjectKind, object);
        const names = Array.from({ length: 20_000 }, (_, i) => `i${String(i)}`);
        const imports = names.map((name) => ({ name, type: 'data', schema: {} }));
        const text = JSON.stringify(blueprint({ more: { imports } }));
        const spec = { imports: { data: names.map((name) => ({ name, dataRef: 'large' })) } };
        return failing(scene, withBlueprint('imports', text, {}, spec), /1000 for one/);
      },
    },
    {
      title: '12 installations that import 6 MB each, which is allowed',
      async launch(scene) {
        const data = { text: 'x'.repeat(LARGE) };
        const object = { apiVersion: API_VERSION, kind: 'DataObject', metadata: { name: 'large' }, data };
        await scene.create(dataObjectKind, object);
        const names = Array.from({ length: 5 }, (_, i) => `i${String(i)}`);
        const imports = names.map((name) => ({ name, type: 'data', schema: {} }));
        const text = templated('{{ range until 3000 }}{{ toJson $.imports }}{{ end }}', 'GoTemplate', {
          imports,
        });
        const spec = { imports: { data: names.map((name) => ({ name, dataRef: 'large' })) } };
        return failingTimes(12, (i) =>
          failing(scene, withBlueprint(`allowed-${i}`, text, {}, spec), /templating\.\w+/),
        );
      },
      patienceMs: 60_000,
    },
    {
      title: '30 installations that import 36 MB each',
      async launch(scene) {
        const data = { text: 'x'.repeat(LARGE) };
        const object = { apiVersion: API_VERSION, kind: 'DataObject', metadata: { name: 'large' }, data };
        await scene.create(dataObjectKind, object);
        const names = Array.from({ length: 30 }, (_, i) => `i${String(i)}`);
        const imports = names.map((name) => ({ name, type: 'data', schema: {} }));
        const template = '{{ range $i, $e := until 3000 }}{{ toJson $.imports }}{{ end }}';
        const text = templated(template, 'GoTemplate', { imports });
        const spec = { imports: { data: names.map((name) => ({ name, dataRef: 'large' })) } };
        return failingTimes(30, (i) => failing(scene, withBlueprint(`large-${i}`, text, {}, spec), /16 MiB/));
      },
      patienceMs: 60_000,
    },
    {
      title: 'a config map of deeply nested JSON as an import',
      async launch(scene) {
        const depth = 300_000;
        const object = {
          apiVersion: 'v1',
          kind: 'ConfigMap' as const,
          metadata: { name: 'deep' },
          data: { v: nested(depth) },
        };
        await scene.create(ConfigMap, object);
        const text = templated('{{ toYaml .imports }}', 'GoTemplate', {
          imports: [{ name: 'deep', type: 'data', schema: {} }],
        });
        const configMapRef = { name: 'deep', key: 'v' };
        const spec = { imports: { data: [{ name: 'deep', configMapRef }] } };
        return failing(scene, withBlueprint('deep-import', text, {}, spec), /nested|deep|depth/i);
      },
    },
    {
      title: 'data mappings with aliases and with loops',
      async launch(scene) {
        const text = JSON.stringify(blueprint({ items: [] }));
        const mapping = { a: `(( sum[[1..100000]|0|s,e|->s sum[[1..100000]|0|t,f|->t + f]] ))` };
        return failing(
          scene,
          withBlueprint('mappings', text, {}, { importDataMappings: mapping }),
          /templating\.\w+|limit/,
        );
      },
    },
    {
      title: 'annotations of 250 KB on 20 installations',
      async launch(scene) {
        const more = { 'attack.example/large': 'x'.repeat(250_000) };
        return failingTimes(20, (i) => {
          const object = root(`annotated-${i}`, { items: [mockItem('a', { phase: 'Failed' })] });
          const annotations = { ...object.metadata.annotations, ...more };
          return failing(scene, { ...object, metadata: { ...object.metadata, annotations } });
        });
      },
    },
    {
      title: 'a provider configuration of nested lists',
      async launch(scene) {
        const config = `{"apiVersion":"manifest.deployer.${GROUP}/v1alpha2","kind":"ProviderConfiguration","manifests":${nested(5_000)}}`;
        const item = `{"name":"deep","type":"${GROUP}/kubernetes-manifest","config":${config}}`;
        return failing(
          scene,
          withBlueprint('nested', templated(`{"deployItems":[${item}]}`)),
          /nested|deep|depth|config/i,
        );
      },
    },
  ],
});
