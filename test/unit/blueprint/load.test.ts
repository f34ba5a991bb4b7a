import { expect } from 'chai';
import { BlueprintInvalid, BlueprintUnavailable } from '../../../src/blueprint/errors.ts';
import { loadBlueprint, loadInlineBlueprint } from '../../../src/blueprint/load.ts';

const HEAD = 'apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n';
const load = (text: unknown) => loadInlineBlueprint({ 'blueprint.yaml': text });

describe('a blueprint', () => {
  it('is read with types inferred and target types completed', () => {
    const { info } = load(`${HEAD}
jsonSchema: "https://json-schema.org/draft/2019-09/schema"
imports:
- {name: data, schema: {type: string}}
- {name: target, targetType: kubernetes-cluster}
- {name: list, type: targetList, targetType: kubernetes-cluster}
- {name: map, type: targetMap, targetType: kubernetes-cluster}
- {name: other, type: target, targetType: example.org/thing}
- {name: any, schema: true}
exports: [{name: out, targetType: kubernetes-cluster}]`);
    const full = 'landscaper.gardener.cloud/kubernetes-cluster';
    expect(info.imports?.map((i) => [i.type, i.targetType])).to.deep.equal([
      ['data', undefined],
      ['target', full],
      ['targetList', full],
      ['targetMap', full],
      ['target', 'example.org/thing'],
      ['data', undefined],
    ]);
    expect(info.exports).to.deep.equal([{ name: 'out', type: 'target', targetType: full }]);
  });

  it('is read with keys in any case, and with numbers as strings', () => {
    const { info } = load(`${HEAD}deployexecutions: [{name: 5, type: GoTemplate, template: 'x'}]`);
    expect(info.deployExecutions).to.deep.equal([{ name: '5', type: 'GoTemplate', template: 'x' }]);
  });

  it('is rejected with the name of the link whose target is too long', () => {
    const filesystem = { 'blueprint.yaml': HEAD, a: { $type: 'symlink', value: `${'a/'.repeat(200_000)}b` } };
    expect(() => loadInlineBlueprint(filesystem)).to.throw(
      BlueprintInvalid,
      'unable to read inline defined blueprint: the target of the symlink "a" has more than 4096 bytes',
    );
  });

  it('may be empty', () => expect(load('').info).to.deep.equal({}));

  it('may be written as a map', () => {
    const fields = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Blueprint',
      imports: [{ name: 'x' }],
    };
    expect(load(fields).info.imports).to.deep.equal([{ name: 'x' }]);
    expect(load({ $type: 'yaml', value: fields }).info.imports).to.deep.equal([{ name: 'x' }]);
  });

  const mistakes: readonly [string, unknown, string][] = [
    ['is missing', undefined, 'there is no file "blueprint.yaml"'],
    ['is a list', [1], 'there is no file "blueprint.yaml"'],
    ['is not valid YAML', `${HEAD}imports: [`, 'unable to decode blueprint definition'],
    ['is a string', 'x', 'expected a map, found a string'],
    ['is a directory', { $type: 'directory', value: {} }, '"blueprint.yaml" is a directory, not a file'],
    ['is of another kind', 'apiVersion: v1\nkind: Pod', 'found apiVersion v1 and kind Pod'],
    ['has no kind', { imports: [] }, 'found no apiVersion and no kind'],
    [
      'has a kind that is not a string',
      `apiVersion: v1\nkind: [x]`,
      'found apiVersion v1 and kind that is a list',
    ],
    [
      'is so long that reading it takes seconds',
      `${HEAD}# ${'x'.repeat(2 ** 21)}`,
      'characters, more than 2097152, a fixed limit; divide the blueprint into sub-installations',
    ],
    ['has a field of the wrong type', `${HEAD}imports: true`, 'imports: expected a list, found a boolean'],
    [
      'has a nested field of the wrong type',
      `${HEAD}imports: [{name: [x]}]`,
      'imports[0].name: expected a string, found a list',
    ],
    [
      'has an invalid schema',
      `${HEAD}imports: [{name: x, schema: 5}]`,
      'imports[0].schema: expected a map, found a number',
    ],
  ];
  for (const [title, text, message] of mistakes) {
    it(`is rejected if it ${title}`, () => {
      expect(() => load(text)).to.throw(BlueprintInvalid, message);
    });
  }

  const refusals: readonly [string, object, new (...args: never[]) => Error, string][] = [
    [
      'in a component, if the installation has none',
      { ref: { resourceName: 'bp' } },
      BlueprintUnavailable,
      'blueprint bp is not available: the installation has no component that could hold it',
    ],
    ['without any source', {}, BlueprintInvalid, 'either "inline" or "ref"'],
  ];
  for (const [title, source, Class, message] of refusals) {
    it(`is not available ${title}`, async () => {
      const error = await loadBlueprint(source).catch((failure: unknown) => failure);
      expect(error).to.be.instanceOf(Class).with.property('message').that.contains(message);
    });
  }
});
