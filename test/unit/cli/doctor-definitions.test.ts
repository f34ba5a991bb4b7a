/** Which definitions of a cluster `espalier doctor` reports. */
import { expect } from 'chai';
import { loadCrds } from '../../../src/api/crds.ts';
import {
  definitionsInDeletion,
  outdatedDefinitions,
  type DefinitionLike,
} from '../../../src/cli/doctor/definitions.ts';
import { selfCommand } from '../../../src/cli/self-command.ts';

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
const both = (definitions: readonly DefinitionLike[], storedDefinitions: readonly DefinitionLike[]) => ({
  definitions,
  storedDefinitions,
});
const evidence = (...stored: readonly DefinitionLike[]): readonly string[] =>
  outdatedDefinitions(both([wanted], stored)).map((one) => one.evidence);

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
    expect(outdatedDefinitions(both(loadCrds(), loadCrds()))).to.deep.equal([]);
  });

  it('names some of many fields', () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`f${String(i)}`, text]));
    const [found] = outdatedDefinitions(
      both([definition({ properties: many })], [definition({ properties: {} })]),
    );
    expect(found?.evidence).to.match(/spec\.f0, .*spec\.f4 and 4 more$/);
  });
});

describe('espalier doctor: definition-in-deletion', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const leaving = (name: string): DefinitionLike => ({ metadata: { name, deletionTimestamp } });

  it('names each definition of ours that is being deleted, and one command for all roots', () => {
    const found = definitionsInDeletion(
      both([wanted], [leaving('things.example.io'), leaving('others.example.io')]),
    );
    expect(found.map(({ object, command }) => [object, command])).to.deep.equal([
      ['CustomResourceDefinition things.example.io', `${selfCommand()} installations reconcile --all -A`],
    ]);
    expect(found[0]?.evidence).to.contain(deletionTimestamp);
  });

  it('accepts those that are not', () => {
    expect(definitionsInDeletion(both([wanted], [wanted]))).to.deep.equal([]);
  });
});
