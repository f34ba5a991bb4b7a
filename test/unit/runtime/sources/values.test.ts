import { expect } from 'chai';
import { Values } from '../../../../src/runtime/sources/values.ts';

interface Reading {
  readonly id: string;
  readonly degrees: number;
}
const reading = (id: string, degrees = 1): Reading => ({ id, degrees });

describe('the values that a source knows of a primary', () => {
  const several = (): Values<Reading> => new Values<Reading>({ idOf: ({ id }) => id });

  describe('are news', () => {
    const rows: readonly (readonly [
      title: string,
      before: readonly Reading[] | undefined,
      after: readonly Reading[],
      isNews: boolean,
    ])[] = [
      ['when there were none', undefined, [reading('a')], true],
      ['not when there are still none', undefined, [], false],
      ['not when they are the same', [reading('a'), reading('b')], [reading('b'), reading('a')], false],
      ['when one is different', [reading('a'), reading('b')], [reading('a'), reading('b', 2)], true],
      ['when one is missing', [reading('a'), reading('b')], [reading('a')], true],
      ['when there is one more', [reading('a')], [reading('a'), reading('b')], true],
      ['when one has another id', [reading('a')], [reading('b')], true],
    ];
    for (const [title, before, after, isNews] of rows)
      it(title, () => {
        const values = several();
        if (before) values.set('A/1', before);
        expect(values.set('A/1', after)).to.equal(isNews);
        expect(values.of('A/1')).to.deep.equal(after);
      });

    it('as the source compares them', () => {
      const values = new Values<Reading>({ isEqual: (a, b) => Math.abs(a.degrees - b.degrees) < 5 });
      values.set('A/1', [reading('a', 20)]);
      expect([values.put('A/1', reading('a', 22)), values.put('A/1', reading('a', 30))]).to.deep.equal([
        false,
        true,
      ]);
    });

    it('when a value is there whose state is undefined', () => {
      const values = new Values<string | undefined>({ idOf: (value) => value ?? 'none' });
      values.set('A/1', ['a']);
      expect(values.set('A/1', [undefined])).to.equal(true);
    });
  });

  it('belong to one primary', () => {
    const values = several();
    values.set('A/1', [reading('a')]);
    expect([values.has('A/1'), values.has('A/2'), values.of('A/2'), values.keys()]).to.deep.equal([
      true,
      false,
      [],
      ['A/1'],
    ]);
  });

  it('are one where they have no ids', () => {
    const values = new Values<number>({});
    expect([values.put('A/1', 1), values.put('A/1', 1), values.put('A/1', 2)]).to.deep.equal([
      true,
      false,
      true,
    ]);
    expect(values.of('A/1')).to.deep.equal([2]);
  });

  it('are replaced one by one where they have ids', () => {
    const values = several();
    values.set('A/1', [reading('a'), reading('b')]);
    expect([values.put('A/1', reading('a', 2)), values.put('A/1', reading('a', 2))]).to.deep.equal([
      true,
      false,
    ]);
    expect(values.of('A/1')).to.have.deep.members([reading('a', 2), reading('b')]);
    expect(values.put('A/1', reading('c'))).to.equal(true);
    expect(values.of('A/1')).to.have.length(3);
  });

  describe('are removed', () => {
    const rows: readonly (readonly [
      title: string,
      before: readonly Reading[] | undefined,
      id: string | undefined,
      wasThere: boolean,
      left: readonly string[],
      isKnown: boolean,
    ])[] = [
      ['all at once', [reading('a'), reading('b')], undefined, true, [], false],
      ['one by one', [reading('a'), reading('b')], 'a', true, ['b'], true],
      ['not when the id is another', [reading('a'), reading('b')], 'c', false, ['a', 'b'], true],
      ['not when nothing is known', undefined, undefined, false, [], false],
      ['not when nothing is known of the id', undefined, 'a', false, [], false],
      ['without news when it was known that there are none', [], undefined, false, [], false],
      ['without news of an id when it was known that there are none', [], 'a', false, [], false],
    ];
    for (const [title, before, id, wasThere, left, isKnown] of rows)
      it(title, () => {
        const values = several();
        if (before) values.set('A/1', before);
        expect(values.remove('A/1', id)).to.equal(wasThere);
        expect(values.of('A/1').map((value) => value.id)).to.deep.equal(left);
        expect(values.has('A/1')).to.equal(isKnown);
      });
  });
});
