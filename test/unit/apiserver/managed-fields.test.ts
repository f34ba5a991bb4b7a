import { expect } from 'chai';
import { builtinObjectType, customType } from '../../../src/apiserver/apply/builtin-types.ts';
import {
  equalButForTimes,
  updateManagedFields,
  type ObjectType,
} from '../../../src/apiserver/apply/apply.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../../src/apiserver/types.ts';

const type = builtinObjectType('', 'v1', 'ConfigMap') as ObjectType;
const configMap = (data: Record<string, string>, managedFields?: unknown): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'cm',
    uid: 'u',
    resourceVersion: '1',
    ...(managedFields === undefined ? {} : { managedFields: managedFields as ManagedFieldsEntry[] }),
  },
  data,
});
const entry = (manager: string, fields: object, second = 0): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'v1',
  time: `2026-01-31T12:00:${String(second).padStart(2, '0')}Z`,
  fieldsType: 'FieldsV1',
  fieldsV1: fields as Record<string, unknown>,
});
const write = (
  after: KubeObject,
  before?: KubeObject,
  manager = 'me',
  second = 30,
): readonly ManagedFieldsEntry[] | undefined =>
  updateManagedFields({
    before,
    after,
    manager,
    type,
    apiVersion: 'v1',
    time: `2026-01-31T12:00:${String(second).padStart(2, '0')}Z`,
  });

describe('managedFields after a write', () => {
  it('API-20: of a new object contain all of its fields, including containers', () => {
    expect(write(configMap({ a: '1' }))).to.deep.equal([
      entry('me', { 'f:data': { '.': {}, 'f:a': {} } }, 30),
    ]);
  });
  it('move from the old owner of a field to the writer', () => {
    const before = configMap({ a: '1', b: '1' }, [
      entry('old', { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } }),
    ]);
    expect(write(configMap({ a: '2', b: '1', c: '1' }, before.metadata.managedFields), before)).to.deep.equal(
      [
        entry('old', { 'f:data': { '.': {}, 'f:b': {} } }),
        entry('me', { 'f:data': { 'f:a': {}, 'f:c': {} } }, 30),
      ],
    );
  });
  it('drop removed fields, and managers without fields', () => {
    const before = configMap({ a: '1' }, [entry('old', { 'f:data': { 'f:a': {} } })]);
    expect(write(configMap({}, before.metadata.managedFields), before)).to.equal(undefined);
  });
  it('are the same object if nothing changed', () => {
    const before = configMap({ a: '1' }, [entry('old', { 'f:data': { 'f:a': {} } })]);
    const after = { ...before, metadata: { ...before.metadata, resourceVersion: '2' } };
    expect(write(after, before)).to.equal(before.metadata.managedFields);
  });

  const before = configMap({ a: '1' }, [entry('old', { 'f:data': { 'f:a': {} } })]);
  const rows: [string, unknown, boolean][] = [
    ['[]', [], false],
    ['[{}]', [{}], false],
    ['null', null, true],
    ['nothing', undefined, true],
    ['rubbish', [{ operation: 'Bogus' }], true],
  ];
  for (const [title, sent, isKept] of rows) {
    it(`API-118: are ${isKept ? 'kept' : 'cleared'} by ${title}`, () => {
      const after = configMap({ a: '1' }, sent);
      if (sent === undefined) delete after.metadata.managedFields;
      expect(write(after, before)).to.deep.equal(isKept ? before.metadata.managedFields : undefined);
    });
  }
  it('are not created for an object that has none', () => {
    expect(write(configMap({ a: '2' }), configMap({ a: '1' }))).to.equal(undefined);
  });
  it('API-120: merge the oldest of eleven writers into one', () => {
    let object = configMap({});
    for (let i = 0; i <= 10; i++) {
      const after = configMap(
        { ...(object['data'] as object), [`k${i}`]: 'x' },
        object.metadata.managedFields,
      );
      const managedFields = write(after, i === 0 ? undefined : object, `m${i}`, i);
      object = configMap(after['data'] as Record<string, string>, managedFields);
    }
    const entries = object.metadata.managedFields ?? [];
    expect(entries).to.have.length(10);
    const ancient = entries.find((candidate) => candidate.manager === 'ancient-changes');
    expect(ancient?.fieldsV1).to.deep.equal({ 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {} } });
    expect(entries.map((candidate) => candidate.manager)).to.include.members(['m2', 'm10']);
  });
  it('never contain metadata that the server sets', () => {
    const after = configMap({ a: '1' });
    after.metadata = { ...after.metadata, generation: 1, creationTimestamp: 'x', labels: { l: 'v' } };
    expect(write(after)?.[0]?.fieldsV1).to.deep.equal({
      'f:data': { '.': {}, 'f:a': {} },
      'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } },
    });
  });
  it('contain structs of custom kinds that built-in kinds always have', () => {
    const object: KubeObject = { apiVersion: 'ex.io/v1', kind: 'W', metadata: { name: 'w' }, spec: { a: 1 } };
    const fields = updateManagedFields({
      after: object,
      manager: 'm',
      type: customType(undefined),
      apiVersion: 'ex.io/v1',
      time: '2026-01-31T12:00:00Z',
    });
    expect(fields?.[0]?.fieldsV1).to.deep.equal({ 'f:spec': { '.': {}, 'f:a': {} } });
  });
  it('are compared without times', () => {
    const a = [entry('m', { 'f:data': {} }, 1)];
    expect(equalButForTimes(a, [entry('m', { 'f:data': {} }, 2)])).to.equal(true);
    expect(equalButForTimes(a, [entry('m', { 'f:data': { 'f:a': {} } }, 1)])).to.equal(false);
    expect(equalButForTimes(a, undefined)).to.equal(false);
  });
});
