import { expect } from 'chai';
import { blueprint, deployExecutionResult, installationTemplate } from '../../../src/api/blueprint.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';

const read = (text: string): unknown => blueprint.parse(parseYaml(text));

describe('a blueprint', () => {
  it('needs only its kind', () => {
    expect(read('{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint}')).to.have.property(
      'kind',
    );
    expect(() => read('{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blaupause}')).to.throw();
  });

  it("keeps the key jsonSchema, which is in upstream's examples but has no meaning", () => {
    expect(
      read('{apiVersion: v1, kind: Blueprint, jsonSchema: "https://json-schema.org/x"}'),
    ).to.have.property('jsonSchema');
  });

  it('may have imports that depend on imports, at any depth', () => {
    const text = `
      apiVersion: v1
      kind: Blueprint
      imports:
      - name: a
        required: false
        schema: {type: string}
        imports:
        - name: b
          required: false
          schema: true
          imports: [{name: c, targetType: kubernetes-cluster}]
    `;
    expect(read(text)).to.deep.equal(parseYaml(text));
    expect(() => read(text.replace('name: c', 'nam: c'))).to.throw('name');
  });

  it('may name the file of a sub-installation or contain it', () => {
    const text = `
      apiVersion: v1
      kind: Blueprint
      subinstallations:
      - file: /sub.yaml
      - name: a
        blueprint: {ref: cd://resources/r}
        imports: {targets: [{name: t, targets: []}]}
    `;
    expect(read(text)).to.deep.equal(parseYaml(text));
  });
});

describe('documents of templates', () => {
  it('need the name of a sub-installation', () => {
    expect(installationTemplate.safeParse({ blueprint: { filesystem: {} } }).success).to.equal(false);
  });

  it('may have no deploy items at all', () => {
    expect(deployExecutionResult.parse({ deployItems: null })).to.deep.equal({ deployItems: null });
    expect(deployExecutionResult.parse({})).to.deep.equal({});
  });
});
