import { expect } from 'chai';
import { builtInKinds } from '../../../src/apiserver/kinds/catalogue.ts';
import { dropEmpty, emptyObject, writeEmpty } from '../../../src/apiserver/kinds/go-values.ts';
import type { Kind } from '../../../src/apiserver/kinds/kinds.ts';
import type { JsonObject } from '../../../src/apiserver/types.ts';

const kinds = builtInKinds(new Map());
const kindOf = (name: string): Kind =>
  kinds.find(({ apiVersion, kind }) => `${apiVersion}/${kind}` === name) as Kind;

const rows: readonly (readonly [what: string, kind: string, object: JsonObject, kept: JsonObject])[] = [
  ['empty strings', 'v1/PersistentVolume', { spec: { storageClassName: '' } }, { spec: {} }],
  [
    'no empty strings of pointers',
    'v1/PersistentVolumeClaim',
    { spec: { storageClassName: '' } },
    { spec: { storageClassName: '' } },
  ],
  ['zero', 'v1/Service', { spec: { healthCheckNodePort: 0 } }, { spec: {} }],
  ['no zero of pointers', 'apps/v1/Deployment', { spec: { replicas: 0 } }, { spec: { replicas: 0 } }],
  ['false', 'v1/Node', { spec: { unschedulable: false } }, { spec: {} }],
  ['empty lists and maps', 'v1/Service', { spec: { ports: [], selector: {} } }, { spec: {} }],
  [
    'no empty structs',
    'v1/Pod',
    { spec: { securityContext: {}, volumes: [{ name: 'a', emptyDir: {} }] } },
    { spec: { securityContext: {}, volumes: [{ name: 'a', emptyDir: {} }] } },
  ],
  ['no empty values of maps', 'v1/ConfigMap', { data: { a: '' } }, { data: { a: '' } }],
  ['null', 'v1/ConfigMap', { data: null, immutable: null }, {}],
  [
    'empty members of items and inlined structs',
    'v1/Pod',
    { spec: { volumes: [{ name: 'a', nfs: { server: 's', path: '', readOnly: false } }] } },
    { spec: { volumes: [{ name: 'a', nfs: { server: 's' } }] } },
  ],
  [
    'nothing in values of any type',
    'apps/v1/ControllerRevision',
    { data: { a: null, b: '' } },
    { data: { a: null, b: '' } },
  ],
  [
    'members of schemas, but not of their defaults',
    'apiextensions.k8s.io/v1/CustomResourceDefinition',
    {
      spec: {
        versions: [
          {
            schema: {
              openAPIV3Schema: {
                description: '',
                properties: { a: { type: 'object', title: '', default: { b: '' } } },
                additionalProperties: { type: 'string', pattern: '' },
              },
            },
          },
        ],
      },
    },
    {
      spec: {
        versions: [
          {
            schema: {
              openAPIV3Schema: {
                properties: { a: { type: 'object', default: { b: '' } } },
                additionalProperties: { type: 'string' },
              },
            },
          },
        ],
      },
    },
  ],
  [
    'members of features that are switched off',
    'coordination.k8s.io/v1/Lease',
    { spec: { holderIdentity: 'a', strategy: 'x' } },
    { spec: { holderIdentity: 'a' } },
  ],
];

describe('for Go, absent are', () => {
  for (const [what, kind, object, kept] of rows)
    it(what, () => {
      dropEmpty(kindOf(kind), object);
      expect(object).to.deep.equal(kept);
    });
});

describe('Go writes, although they are empty,', () => {
  const written = (kind: string, object: JsonObject): JsonObject => {
    writeEmpty(kindOf(kind), object);
    return object;
  };

  it('lists and times that are required', () => {
    expect(written('rbac.authorization.k8s.io/v1/Role', {})).to.deep.equal({ rules: null });
    expect(written('v1/Event', {})).to.include({ eventTime: null, reportingInstance: '' });
  });

  it('structs, also inside of items, and their required members', () => {
    expect(written('v1/Pod', { spec: { containers: [{ name: 'a' }] } })).to.deep.equal({
      spec: { containers: [{ name: 'a', resources: {} }] },
      status: {},
    });
    expect(written('apiextensions.k8s.io/v1/CustomResourceDefinition', { spec: {} })['status']).to.deep.equal(
      {
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: null,
      },
    );
  });

  it('nothing that is there already', () => {
    expect(written('v1/Pod', { spec: { containers: null }, status: { phase: 'Running' } })).to.deep.equal({
      spec: { containers: null },
      status: { phase: 'Running' },
    });
  });

  it('the same when no field is set, for every kind', () => {
    for (const kind of kinds) {
      const object = emptyObject(kind);
      const again = structuredClone(object);
      writeEmpty(kind, again);
      expect(again).to.deep.equal(object);
    }
  });
});
