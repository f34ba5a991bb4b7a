/** Which definitions of a cluster `espalier doctor` reports. */
import { expect } from 'chai';
import { loadCrds } from '../../../src/api/crds.ts';
import { outdatedDefinitions, type DefinitionLike } from '../../../src/cli/doctor/definitions.ts';

const open = { 'x-kubernetes-preserve-unknown-fields': true };
const text = { type: 'string' };
const definition = (spec: object, name = 'v1'): DefinitionLike => ({
  metadata: { name: 'things.example.io' },
  spec: { versions: [{ name, schema: { openAPIV3Schema: { properties: { spec } } } }] },
});
const wanted = definition({
  properties: {
    size: text,
    parts: { items: { properties: { name: text, color: text } } },
    limits: { additionalProperties: { properties: { most: text } } },
  },
});
const evidence = (...stored: readonly DefinitionLike[]): readonly string[] =>
  outdatedDefinitions([wanted], stored).map((one) => one.evidence);

describe('espalier doctor: outdated-definition', () => {
  const cases: Readonly<Record<string, readonly [stored: DefinitionLike | undefined, evidence: string]>> = {
    'that does not exist': [undefined, 'it does not exist'],
    'without the version': [definition(open, 'v0'), 'it has no version v1'],
    'without its own rules for a list and a map': [
      definition({ properties: { size: text, parts: open, limits: open } }),
      '',
    ],
    'without a field of the items of a list and of the values of a map': [
      definition({
        properties: {
          size: text,
          parts: { items: { properties: { name: text } } },
          limits: { additionalProperties: { properties: {} } },
        },
      }),
      'version v1 drops the fields spec.parts[].color, spec.limits.*.most',
    ],
    'without a list': [
      definition({ properties: { size: text, limits: open } }),
      'version v1 drops the fields spec.parts',
    ],
    'that keeps all fields': [definition(open), ''],
  };
  for (const [title, [stored, expected]] of Object.entries(cases))
    it(`${expected === '' ? 'accepts' : 'reports'} one ${title}`, () => {
      expect(evidence(...(stored ? [stored] : []))).to.deep.equal(expected === '' ? [] : [expected]);
    });

  it('accepts the definitions of this version', () => {
    expect(outdatedDefinitions(loadCrds(), loadCrds())).to.deep.equal([]);
  });

  it('names some of many fields', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${String(i)}`, text]));
    const [found] = outdatedDefinitions([definition({ properties: many })], [definition({ properties: {} })]);
    expect(found?.evidence).to.match(/spec\.f0, .*spec\.f4 and 4 more$/);
  });
});
