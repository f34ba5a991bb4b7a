/** For each validation rule an object that violates only this rule, and the message of the violation. */
import { gzipSync } from 'node:zlib';
import type { Obj } from '../../src/runtime/types.ts';
import type { ValidatedResource } from '../../src/api/validation/index.ts';
import { API_VERSION } from '../../src/api/labels.ts';
import { fakeItem, lonelyItem, plan, root } from './landscape.ts';

export interface Broken {
  /** What is wrong, as the end of `it rejects …`. */
  readonly title: string;
  readonly resource: ValidatedResource;
  readonly object: Obj;
  /** Starts with the path of the field. */
  readonly sentence: string;
  /** It cannot even be parsed. */
  readonly isUnreadable?: true;
  /** Only webhooks reject it: controllers, ours and upstream's, can work with it. */
  readonly isWorkable?: true;
}

const NAME_59 = `n${'a'.repeat(57)}z`;
const PREFIX_54 = `n${'a'.repeat(52)}-`;

const inst = (title: string, spec: object, sentence: string, more: Partial<Broken> = {}): Broken => ({
  title,
  resource: 'installations',
  object: root('web', { spec }),
  sentence,
  ...more,
});

const named = (title: string, metadata: object, sentence: string): Broken => {
  const object = root('web');
  return {
    title,
    resource: 'installations',
    object: { ...object, metadata: { ...object.metadata, ...metadata } },
    sentence,
  };
};

const exec = (title: string, items: readonly object[], sentence: string): Broken => ({
  title,
  resource: 'executions',
  object: plan(items as never),
  sentence: `spec.deployItems${sentence}`,
});

const item = (title: string, spec: object, sentence: string, more: Partial<Broken> = {}): Broken => ({
  title,
  resource: 'deployitems',
  object: lonelyItem(spec),
  sentence,
  ...more,
});

export const target = (name: string, spec: object): Obj =>
  ({
    apiVersion: API_VERSION,
    kind: 'Target',
    metadata: { name },
    spec: { type: 'test.example/t', ...spec },
  }) as Obj;

const data = (...entries: readonly object[]) => ({ imports: { data: entries } });
const targets = (...entries: readonly object[]) => ({ imports: { targets: entries } });
const FORMS = 'Target, Targets, TargetMap, TargetMapReference, TargetListReference';
const SOURCES = 'DataRef, SecretRef, ConfigMapRef';
const KEY_RULE = 'key must contain only lower-case alphanumeric characters, dots, or dashes';
const files = { filesystem: {} };

/** A name that is a path out of the namespace. */
const PATH = '../../bb/secrets/x';
const NO_NAME = `"${PATH}" cannot be the name of an object: it may not contain '/'`;

/** For each field that names another object, an object in which the name is a path. */
const paths: readonly Broken[] = [
  inst('a context that is a path', { context: PATH }, `spec.context: Invalid value: ${NO_NAME}`, {
    isUnreadable: true,
  }),
  ...(['secretRef', 'configMapRef'] as const).map((form) =>
    inst(
      `a ${form} whose name is a path`,
      data({ name: 'a', [form]: { name: PATH } }),
      `spec.imports.data[0].${form}.name: Invalid value: ${NO_NAME}`,
      { isUnreadable: true },
    ),
  ),
  ...(
    [
      ['a data import', data({ name: 'a', dataRef: PATH }), 'spec.imports.data[0].dataRef'],
      ['a target import', targets({ name: 'a', target: PATH }), 'spec.imports.targets[0].target'],
      [
        'an entry in a list of targets',
        targets({ name: 'a', targets: ['x', PATH] }),
        'spec.imports.targets[0].targets[1]',
      ],
      [
        'an entry in a map of targets',
        targets({ name: 'a', targetMap: { k: PATH } }),
        'spec.imports.targets[0].targetMap[k]',
      ],
      [
        'a data export',
        { exports: { data: [{ name: 'a', dataRef: PATH }] } },
        'spec.exports.data[0].dataRef',
      ],
      [
        'a target export',
        { exports: { targets: [{ name: 'a', target: PATH }] } },
        'spec.exports.targets[0].target',
      ],
    ] as const
  ).map(([what, spec, path]) =>
    inst(
      `${what} of a root that is a path`,
      spec,
      `${path}: Invalid value: "${PATH}": cannot be the name of an object`,
    ),
  ),
  ...(['name', 'namespace'] as const).flatMap((field): Broken[] => [
    item(
      `an item whose target has a ${field} that is a path`,
      { target: { name: 't', namespace: 'n', [field]: PATH } },
      `spec.target.${field}: Invalid value: ${NO_NAME}`,
      { isUnreadable: true },
    ),
    exec(
      `a template whose target has a ${field} that is a path`,
      [fakeItem('a', { target: { name: 't', namespace: 'n', [field]: PATH } })],
      `[0][a].target.${field}: Invalid value: "${PATH}": cannot be the name of an object`,
    ),
  ]),
  item('an item whose context is a path', { context: PATH }, `spec.context: Invalid value: ${NO_NAME}`, {
    isUnreadable: true,
  }),
  {
    title: 'an execution whose context is a path',
    resource: 'executions',
    object: plan([], { context: PATH }),
    sentence: `spec.context: Invalid value: ${NO_NAME}`,
    isUnreadable: true,
  },
  {
    title: 'a target whose secret is a path',
    resource: 'targets',
    object: target('t', { secretRef: { name: PATH } }),
    sentence: `spec.secretRef.name: Invalid value: ${NO_NAME}`,
    isUnreadable: true,
  },
];

export const broken: readonly Broken[] = [
  ...paths,
  named(
    'a name of 59 characters',
    { name: NAME_59 },
    `metadata.name: Invalid value: "${NAME_59}": must be no more than 58 characters`,
  ),
  named(
    'a name with dots',
    { name: 'my.web' },
    'metadata.name: Invalid value: "my.web": must not contain dots',
  ),
  named(
    'a generateName of 54 characters',
    { generateName: PREFIX_54 },
    `metadata.generateName: Invalid value: "${PREFIX_54}": must be no more than 53 characters`,
  ),
  inst(
    'two blueprints',
    { blueprint: { inline: files, ref: { resourceName: 'bp' } } },
    'spec.blueprint.definition: Invalid value: exactly one of [Inline, Reference] must be set (currently set: [Inline, Reference])',
  ),
  inst(
    'no blueprint',
    { blueprint: {} },
    'spec.blueprint.definition: Required value: exactly one of [Inline, Reference] must be set (currently set: none)',
  ),
  inst(
    'two component descriptors',
    { componentDescriptor: { inline: {}, ref: { componentName: 'x.org/c', version: '1.0.0' } } },
    'spec.componentDescriptor.definition: Invalid value: exactly one of [Inline, Reference] must be set (currently set: [Inline, Reference])',
  ),
  inst(
    'a data import without source',
    data({ name: 'a' }),
    `spec.imports.data[0]: Required value: exactly one of [${SOURCES}] must be set (currently set: none)`,
  ),
  inst(
    'a data import with two sources',
    data({ name: 'a', dataRef: 'x', secretRef: { name: 's' } }),
    `spec.imports.data[0]: Invalid value: exactly one of [${SOURCES}] must be set (currently set: [DataRef, SecretRef])`,
  ),
  inst(
    'a data import without name',
    data({ name: '', dataRef: 'x' }),
    'spec.imports.data[0].name: Required value: name must not be empty',
  ),
  inst(
    'a secret without name',
    data({ name: 'a', secretRef: { name: '' } }),
    'spec.imports.data[0].secretRef.name: Required value: name must not be empty',
  ),
  inst(
    'a config map without name',
    data({ name: 'a', configMapRef: { name: '' } }),
    'spec.imports.data[0].configMapRef.name: Required value: name must not be empty',
  ),
  inst(
    'a target import without source',
    targets({ name: 'a' }),
    `spec.imports.targets[0]: Required value: exactly one of [${FORMS}] must be set (currently set: none)`,
  ),
  inst(
    'a target import with two sources, one of them an empty list',
    targets({ name: 'a', target: 'x', targets: [] }),
    `spec.imports.targets[0]: Invalid value: exactly one of [${FORMS}] must be set (currently set: [Target, Targets])`,
  ),
  inst(
    'a target import without name',
    targets({ name: '', target: 'x' }),
    'spec.imports.targets[0].name: Required value: name must not be empty',
  ),
  inst(
    'an empty entry in a list of targets',
    targets({ name: 'a', targets: ['x', ''] }),
    'spec.imports.targets[0].targets[1]: Required value: target must not be empty',
  ),
  inst(
    'a map of targets with an invalid key',
    targets({ name: 'a', targetMap: { Big: 'x' } }),
    `spec.imports.targets[0].targetMap[Big]: Invalid value: "Big": ${KEY_RULE}`,
  ),
  inst(
    'an empty entry in a map of targets',
    targets({ name: 'a', targetMap: { k: '' } }),
    'spec.imports.targets[0].targetMap[k]: Required value: target must not be empty',
  ),
  inst(
    'the same name for a data and a target import',
    { imports: { data: [{ name: 'a', dataRef: 'x' }], targets: [{ name: 'a', target: 'x' }] } },
    'spec.imports.targets[0]: Duplicate value: "a"',
  ),
  inst(
    'a data export without name',
    { exports: { data: [{ name: '', dataRef: 'x' }] } },
    'spec.exports.data[0].name: Required value: name must not be empty',
  ),
  inst(
    'a data export without a target object',
    { exports: { data: [{ name: 'a', dataRef: '' }] } },
    'spec.exports.data[0].dataRef: Required value: dataRef must not be empty',
  ),
  inst(
    'a target export without a target object',
    { exports: { targets: [{ name: 'a' }] } },
    'spec.exports.targets[0].target: Required value: target must not be empty',
  ),
  inst(
    'a duplicate data export',
    {
      exports: {
        data: [
          { name: 'a', dataRef: 'x' },
          { name: 'a', dataRef: 'y' },
        ],
      },
    },
    'spec.exports.data[1]: Duplicate value: "a"',
    { isWorkable: true },
  ),
  inst(
    'a duplicate target export',
    {
      exports: {
        targets: [
          { name: 'a', target: 'x' },
          { name: 'a', target: 'y' },
        ],
      },
    },
    'spec.exports.targets[1]: Duplicate value: "a"',
    { isWorkable: true },
  ),
  inst(
    'an invalid schedule after successes',
    { automaticReconcile: { succeededReconcile: { cronSpec: '* * *' } } },
    'spec.automaticReconcile.succeededReconcile.cronSpec: Invalid value: "* * *": field must be a valid cron spec',
  ),
  inst(
    'an invalid schedule after failures',
    { automaticReconcile: { failedReconcile: { cronSpec: '@sometimes', numberOfReconciles: 0 } } },
    'spec.automaticReconcile.failedReconcile.cronSpec: Invalid value: "@sometimes": field must be a valid cron spec',
  ),
  inst(
    'an interval that is not a duration',
    { automaticReconcile: { succeededReconcile: { interval: 'soon' } } },
    'spec.automaticReconcile.succeededReconcile.interval: Invalid value: must be a duration',
    { isUnreadable: true },
  ),

  exec('an item without name', [fakeItem('')], '[0].name: Required value: name must not be empty'),
  exec('a duplicate item', [fakeItem('a'), fakeItem('a')], '[1]: Duplicate value: "a"'),
  exec(
    'a template without type',
    [fakeItem('a', { type: '' })],
    '[0][a].type: Required value: type must not be empty',
  ),
  exec(
    'a template whose target has no name',
    [fakeItem('a', { target: { name: '', namespace: 'n' } })],
    '[0][a].target.name: Required value: name must not be empty',
  ),
  exec(
    'a template whose target has no namespace',
    [fakeItem('a', { target: { name: 't' } })],
    '[0][a].target.namespace: Required value: namespace must not be empty',
  ),
  exec(
    'a label with an invalid key',
    [fakeItem('a', { labels: { 'no key': 'x' } })],
    '[0][a].labels: Invalid value: "no key": name part must consist of',
  ),
  exec(
    'a label with an invalid value',
    [fakeItem('a', { labels: { key: 'no value' } })],
    '[0][a].labels: Invalid value: "no value": a valid label must be',
  ),
  exec(
    'an item that depends on a missing one',
    [fakeItem('a', { dependsOn: ['ghost'] })],
    '[0][a]: Invalid value: "ghost": depends on undefined deploy item',
  ),
  exec(
    'an item that depends on itself',
    [fakeItem('a', { dependsOn: ['a'] })],
    ': Invalid value: ["a"]: cycle found in dependencies',
  ),
  exec(
    'items with cyclic dependencies',
    [
      fakeItem('z', { dependsOn: ['a'] }),
      fakeItem('a', { dependsOn: ['b'] }),
      fakeItem('b', { dependsOn: ['a'] }),
    ],
    ': Invalid value: ["a","b"]: cycle found in dependencies',
  ),
  {
    title: 'compressed items that are not a list',
    resource: 'executions',
    object: plan([], {
      deployItems: undefined,
      deployItemsCompressed: gzipSync('{"a": 1}').toString('base64'),
    }),
    sentence: 'spec.deployItemsCompressed cannot be read',
    isUnreadable: true,
  },

  item('an item without type', { type: '' }, 'spec.type: Required value: type must not be empty'),
  item(
    'an item whose target has no name',
    { target: { name: '', namespace: 'n' } },
    'spec.target.name: Required value: target name must not be empty',
  ),
  item(
    'an item whose target has no namespace',
    { target: { name: 't' } },
    'spec.target.namespace: Required value: target namespace must not be empty',
    { isWorkable: true },
  ),
  item(
    'a timeout that is not a duration',
    { timeout: 'soon' },
    'spec.timeout: Invalid value: must be a duration',
    {
      isUnreadable: true,
    },
  ),

  {
    title: 'a target with content in two places',
    resource: 'targets',
    object: target('both', { config: { token: 'hidden' }, secretRef: { name: 's' } }),
    sentence: 'spec: Invalid value: either config or secretRef may be set, not both',
  },
];
