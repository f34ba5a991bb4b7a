import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { API_VERSION } from '../../../src/api/labels.ts';
import { update } from '../../../src/machine/update.ts';

describe('an update', () => {
  const metadata = { name: 'x', namespace: 'demo', resourceVersion: '7' };
  const holding = (data: unknown) => ({ apiVersion: API_VERSION, kind: 'DataObject', metadata, data });
  const updated = (from: unknown, to: unknown, body?: object) =>
    update(dataObjectKind, holding(from), { data: to }, body);

  const patches: readonly [title: string, from: unknown, to: unknown, data: unknown][] = [
    ['another value', 1, 2, 2],
    ['an additional field', { a: 1 }, { a: 1, b: 2 }, { b: 2 }],
    ['a missing field', { a: 1, b: 2 }, { a: 1 }, { b: null }],
  ];
  for (const [title, from, to, data] of patches) {
    it(`is a patch for ${title}`, () =>
      expect(updated(from, to)).to.deep.include({ do: 'patch', body: { data } }));
  }

  const replacements: readonly [title: string, from: unknown, to: unknown][] = [
    ['null instead of a value', 1, null],
    ['null within a value', { a: 1 }, { a: null }],
    ['null instead of nothing', {}, { a: null }],
    ['nothing instead of null', { a: null }, {}],
    ['null inside something new', {}, { a: { b: null } }],
  ];
  for (const [title, from, to] of replacements) {
    it(`is the whole object for ${title}, which a patch would read as removal`, () =>
      expect(updated(from, to)).to.deep.include({ do: 'replace', object: holding(to) }));
  }

  it('is the whole object if one of several fields cannot be expressed as a patch', () => {
    const wanted = { data: 2, other: null };
    expect(update(dataObjectKind, holding(1), wanted)).to.deep.include({
      do: 'replace',
      object: { ...holding(2), other: null },
    });
  });

  it('is nothing if nothing has changed', () => {
    expect(updated({ a: [null, { b: null }] }, { a: [null, { b: null }] })).to.equal(undefined);
  });

  it('contains other changes in either form', () => {
    const body = { metadata: { annotations: { note: 'n' } } };
    expect(updated(1, 2, body)).to.deep.include({ body: { data: 2, ...body } });
    const { object } = updated(1, null, body) as unknown as { object: object };
    expect(object).to.deep.equal({ ...holding(null), metadata: { ...metadata, ...body.metadata } });
  });
});
