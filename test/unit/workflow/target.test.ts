/** Which of several candidates is the object of a dependent. */
import { expect } from 'chai';
import type { View } from '../../../src/runtime/types.ts';
import {
  hasLabel,
  keyOfId,
  nameEndsWith,
  targetAmong,
  type TargetRules,
} from '../../../src/workflow/target.ts';
import { FakeClock } from '../../support/clock.ts';
import type { Part, Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

const part = (name: string, labels?: Record<string, string>, namespace = 'ns'): View<Part> => ({
  apiVersion: 'example.io/v1',
  kind: 'Part',
  metadata: { namespace, name, ...(labels && { labels }) },
});
const ctx = contextOn(new FakeClock());
const [a, b, other] = [part('a', { app: 'x' }), part('b'), part('a', {}, 'other')];
const notAsked = () => Promise.reject(new Error('desired must not be asked'));
const find = (candidates: readonly View<Part>[], rules: Partial<TargetRules<Part, Widget>>) =>
  targetAmong(candidates, { name: 'part', keyOf: notAsked, ...rules }, primary, ctx);
const named = (key: string | undefined) => ({ keyOf: () => Promise.resolve(key) });

describe('the object of a dependent', () => {
  const rows: [string, readonly View<Part>[], Partial<TargetRules<Part, Widget>>, View<Part> | undefined][] =
    [
      ['is the one that select returns', [a, b], { select: (all) => all[1] }, b],
      ['may be none if select returns none', [a, b], { select: () => undefined }, undefined],
      [
        'is found by select before a discriminator',
        [a, b],
        { select: () => b, discriminator: () => true },
        b,
      ],
      ['is the one that the discriminator matches', [a, b], { discriminator: nameEndsWith('b') }, b],
      [
        'is none if the discriminator matches no candidate',
        [a, b],
        { discriminator: nameEndsWith('c') },
        undefined,
      ],
      ['is none without candidates, and the desired state is not computed', [], {}, undefined],
      ['is the candidate with the desired key', [b, other, a], named('ns/a'), a],
      ['is none if no candidate has that key', [a, b], named('ns/c'), undefined],
      ['is the only candidate if the key is unknown', [b], named(undefined), b],
    ];
  for (const [title, candidates, rules, expected] of rows) {
    it(title, async () => {
      expect(await find(candidates, rules)).to.equal(expected);
    });
  }

  for (const [title, rules] of [
    ['of which the discriminator matches several', { discriminator: () => true }],
    ['without any criterion', named(undefined)],
  ] as const) {
    it(`is ambiguous among candidates ${title}`, async () => {
      const error: unknown = await find([b, a], rules).catch((failure: unknown) => failure);
      expect(String(error)).to.include('dependent "part" of Widget ns/a: ns/a, ns/b all match');
    });
  }

  it('is found by the discriminator from the primary and the context', async () => {
    const discriminator: TargetRules<Part, Widget>['discriminator'] = ({ metadata }, p, { controller }) =>
      metadata.name === p.metadata.name && controller.name === 'widgets';
    expect(await find([b, a], { discriminator })).to.equal(a);
  });
});

describe('a discriminator by label', () => {
  for (const [title, candidate, fits] of [
    ['matches the value', part('x', { app: 'web' }), true],
    ['does not match another value', part('x', { app: 'db' }), false],
    ['does not match an object without labels', part('x'), false],
  ] as const) {
    it(title, () => {
      expect(hasLabel('app', 'web')(candidate, primary, ctx)).to.equal(fits);
    });
  }
});

describe('the key of an object id', () => {
  for (const [title, id, isNamespaced, key] of [
    ['has the namespace of the primary', { name: 'x' }, true, 'ns/x'],
    ['has the namespace of the id', { name: 'x', namespace: 'm' }, true, 'm/x'],
    ['has no namespace for cluster-scoped kinds', { name: 'x', namespace: 'm' }, false, 'x'],
  ] as const) {
    it(title, () => {
      expect(keyOfId(id, primary, isNamespaced)).to.equal(key);
    });
  }
});
