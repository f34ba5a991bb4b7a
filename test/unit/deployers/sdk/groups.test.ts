import { expect } from 'chai';
import { CodecError } from '../../../../deployers/sdk/codec.ts';
import {
  assignToGroups,
  decodeGroups,
  defaultGroups,
} from '../../../../deployers/objects/manifests/groups.ts';
import type { ManagedResource } from '../../../../deployers/objects/manifests/model.ts';

const type = { apiVersion: 'v1', kind: 'ConfigMap' };
const custom = (fields: object, resource: object = {}): object => ({
  customResourceGroup: { resources: [{ ...type, ...resource }], ...fields },
});
const predefined = (fields: object): object => ({ predefinedResourceGroup: fields });

describe('the deletion groups of a configuration', () => {
  const read: readonly (readonly [string, unknown, unknown])[] = [
    ['nothing', undefined, defaultGroups],
    ['an empty list', [], defaultGroups],
    [
      'a predefined group',
      [predefined({ type: 'crds' })],
      [{ is: 'predefined', type: 'crds', isForced: false }],
    ],
    [
      'a predefined group that is forced',
      [predefined({ type: 'empty', forceDelete: true })],
      [{ is: 'predefined', type: 'empty', isForced: true }],
    ],
    [
      'a custom group',
      [custom({ targetName: '' }, { namespaces: [], names: null })],
      [{ is: 'custom', resources: [type], isForced: false, isEverything: false }],
    ],
    [
      'a custom group with all fields',
      [
        custom(
          { forceDelete: true, deleteAllResources: true, targetName: 'b' },
          { namespaces: ['app'], names: ['one'] },
        ),
      ],
      [
        {
          is: 'custom',
          isForced: true,
          isEverything: true,
          targetName: 'b',
          resources: [{ ...type, namespaces: new Set(['app']), names: new Set(['one']) }],
        },
      ],
    ],
    [
      'a type that omits version and kind',
      [{ customResourceGroup: { resources: [{}] } }],
      [{ is: 'custom', resources: [{ apiVersion: '', kind: '' }], isForced: false, isEverything: false }],
    ],
  ];
  for (const [title, value, expected] of read) {
    it(`may be ${title}`, () => {
      expect(decodeGroups(value, 'deletionGroups')).to.deep.equal(expected);
    });
  }

  const refused: readonly (readonly [string, unknown, 'decode' | 'validate', string])[] = [
    ['something that is not a list', {}, 'decode', 'deletionGroups: expected a list'],
    ['a string in the list', ['crds'], 'decode', 'deletionGroups[0]: expected an object'],
    [
      'a group that is both predefined and custom',
      [{ ...predefined({ type: 'crds' }), ...custom({}) }],
      'validate',
      'deletionGroups[0]: predefinedResourceGroup and customResourceGroup must not both be set',
    ],
    [
      'a group that is neither predefined nor custom',
      [predefined({ type: 'crds' }), {}],
      'validate',
      'deletionGroups[1]: either predefinedResourceGroup or customResourceGroup must be set',
    ],
    [
      'a predefined group that is not an object',
      [predefined([])],
      'decode',
      'deletionGroups[0].predefinedResourceGroup: expected an object',
    ],
    [
      'a custom group that is not an object',
      [{ customResourceGroup: 'x' }],
      'decode',
      'deletionGroups[0].customResourceGroup: expected an object',
    ],
    [
      'a predefined group without a type',
      [predefined({})],
      'validate',
      'deletionGroups[0].predefinedResourceGroup.type: Required value: type must be set',
    ],
    [
      'a type that is not a string',
      [predefined({ type: 1 })],
      'decode',
      'deletionGroups[0].predefinedResourceGroup.type: expected a string',
    ],
    [
      'an unknown type',
      [predefined({ type: 'pods' })],
      'validate',
      'deletionGroups[0].predefinedResourceGroup.type: Unsupported value: "pods": supported values: ' +
        '"namespaced-resources", "cluster-scoped-resources", "crds", "empty"',
    ],
    [
      'a predefined group with a string for force',
      [predefined({ type: 'crds', forceDelete: 'yes' })],
      'decode',
      'deletionGroups[0].predefinedResourceGroup.forceDelete: expected true or false',
    ],
    [
      'a custom group without resources',
      [{ customResourceGroup: { resources: [] } }],
      'validate',
      'deletionGroups[0].customResourceGroup.resources: Required value: must not be empty',
    ],
    [
      'resources that are not a list',
      [{ customResourceGroup: { resources: {} } }],
      'decode',
      'deletionGroups[0].customResourceGroup.resources: expected a list',
    ],
    [
      'a resource that is not an object',
      [{ customResourceGroup: { resources: ['x'] } }],
      'decode',
      'deletionGroups[0].customResourceGroup.resources[0]: expected an object',
    ],
    ...(['apiVersion', 'kind'] as const).map(
      (field) =>
        [
          `a resource whose ${field} is not a string`,
          [custom({}, { [field]: 1 })],
          'decode' as const,
          `deletionGroups[0].customResourceGroup.resources[0].${field}: expected a string`,
        ] as const,
    ),
    ...(['namespaces', 'names'] as const).map(
      (field) =>
        [
          `${field} that are not a list of strings`,
          [custom({}, { [field]: [1] })],
          'decode' as const,
          `deletionGroups[0].customResourceGroup.resources[0].${field}[0]: expected a string`,
        ] as const,
    ),
    ...(['forceDelete', 'deleteAllResources'] as const).map(
      (field) =>
        [
          `a string for ${field}`,
          [custom({ [field]: 'yes' })],
          'decode' as const,
          `deletionGroups[0].customResourceGroup.${field}: expected true or false`,
        ] as const,
    ),
    [
      'a target that is not a string',
      [custom({ targetName: 1 })],
      'decode',
      'deletionGroups[0].customResourceGroup.targetName: expected a string',
    ],
  ];
  for (const [title, value, step, message] of refused) {
    it(`must not be ${title}`, () => {
      expect(() => decodeGroups(value, 'deletionGroups'))
        .to.throw(CodecError, message)
        .with.property('step', step);
    });
  }
});

describe('the group of an object', () => {
  const entry = (kind: string, name: string, namespace?: string, apiVersion = 'v1'): ManagedResource => ({
    resource: { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) },
  });
  const one = entry('ConfigMap', 'one', 'app');
  const two = entry('ConfigMap', 'two', 'late');
  const other = entry('ConfigMap', 'one', 'app', 'example.org/v1');
  const role = entry('ClusterRole', 'r');
  const crd = entry('CustomResourceDefinition', 'c');
  const all = [one, two, other, role, crd];

  const rows: readonly (readonly [string, unknown, readonly ManagedResource[]])[] = [
    ['namespaced resources', predefined({ type: 'namespaced-resources' }), [one, two, other]],
    ['cluster-scoped resources', predefined({ type: 'cluster-scoped-resources' }), [role]],
    ['definitions', predefined({ type: 'crds' }), [crd]],
    ['nothing', predefined({ type: 'empty' }), []],
    ['a kind of one API', custom({}), [one, two]],
    ['names', custom({}, { names: ['two', 'r'] }), [two]],
    ['namespaces', custom({}, { namespaces: ['app'] }), [one]],
    ['namespaces, for a kind that has none', custom({}, { kind: 'ClusterRole', namespaces: ['app'] }), []],
    [
      'several types',
      custom({ resources: [type, { apiVersion: 'v1', kind: 'ClusterRole' }] }),
      [one, two, role],
    ],
    // The objects of such a group are found on the cluster.
    ['all objects of a type', custom({ deleteAllResources: true }), []],
  ];
  for (const [title, group, expected] of rows) {
    it(`is chosen by ${title}`, () => {
      expect(assignToGroups(all, decodeGroups([group], 'g'))).to.deep.equal([expected]);
    });
  }

  it('is the first one that matches', () => {
    const groups = decodeGroups(
      [custom({}, { names: ['one'] }), predefined({ type: 'namespaced-resources' })],
      'g',
    );
    expect(assignToGroups(all, groups)).to.deep.equal([[one], [two, other]]);
  });
});
