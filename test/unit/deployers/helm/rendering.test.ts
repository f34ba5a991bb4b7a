/** Large integers of a chart on their way to the target, without releases. */
import { expect } from 'chai';
import { inNumbers } from '../../../../deployers/helm/rendering.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';

const read = (text: string): unknown => parseYaml(text, { integers: 'exact' });
const written = (text: string): string => JSON.stringify(inNumbers(read(text), 'a.yaml'));

describe('a large integer in a chart', () => {
  it('is applied if it keeps its digits', () => {
    expect(written('{a: [9223372036854775000], __proto__: {b: 9007199254740994}}')).to.equal(
      '{"a":[9223372036854775000],"__proto__":{"b":9007199254740994}}',
    );
  });

  it('is refused if it does not, with its source and the remedy', () => {
    for (const text of ['a: 9223372036854775807', '- {a: 1152921504606846976}'])
      expect(() => written(text)).to.throw(/a\.yaml: the integer \d+ would lose digits .* put it in quotes$/);
  });

  it('may be rounded as a limit of a definition, which servers read as a double', () => {
    const schema = '{maximum: 9223372036854775807, minimum: -9223372036854775808}';
    expect(written(`{kind: CustomResourceDefinition, spec: ${schema}}`)).to.equal(
      '{"kind":"CustomResourceDefinition","spec":{"maximum":9223372036854776000,"minimum":-9223372036854776000}}',
    );
    expect(() => written(`{kind: Other, spec: ${schema}}`)).to.throw('9223372036854775807');
    expect(() => written('{kind: CustomResourceDefinition, default: 9223372036854775807}')).to.throw(
      'digits',
    );
  });
});
