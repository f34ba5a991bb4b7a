import { expect } from 'chai';
import { firstLines } from '../../../../src/lib/lists.ts';
import { describeFinding, warningsOn } from '../../../../src/blueprint/lint/warnings.ts';
import { blueprint } from '../../dataflow/given.ts';

const advice = (bp: object): string => firstLines(warningsOn(blueprint(bp)).map(describeFinding), 10);
const text = { type: 'string' };

describe('a warning about a blueprint', () => {
  const rows: readonly (readonly [string, object, string])[] = [
    [
      'is given for two imports of the same name',
      {
        imports: [
          { name: 'a', type: 'data', schema: text },
          { name: 'a', type: 'data', schema: text },
        ],
      },
      'duplicate-name',
    ],
    [
      'is given for a schema beside a target type',
      { imports: [{ name: 'a', type: 'data', schema: text, targetType: 'x' }] },
      'schema-or-target-type',
    ],
    [
      'is given for conditional imports below a required one',
      {
        imports: [
          { name: 'a', type: 'data', schema: text, imports: [{ name: 'b', type: 'data', schema: text }] },
        ],
      },
      'conditional-import',
    ],
    [
      'is given for an execution without a name',
      { deployExecutions: [{ type: 'GoTemplate', template: 'a' }] },
      'execution-name',
    ],
    [
      'is given for two executions of the same name',
      {
        deployExecutions: [
          { name: 'd', type: 'GoTemplate', template: 'a' },
          { name: 'd', type: 'GoTemplate', template: 'a' },
        ],
      },
      'execution-name',
    ],
    [
      'is given for a keyword of a later draft',
      { imports: [{ name: 'a', type: 'data', schema: { type: 'object', unevaluatedProperties: false } }] },
      'schema-keyword',
    ],
    [
      'is given for an unknown schema keyword in a local type',
      { localTypes: { t: { tpye: 'string' } } },
      'schema-keyword',
    ],
  ];
  for (const [title, bp, rule] of rows) {
    it(title, () => {
      expect(advice(bp)).to.match(new RegExp(String.raw`^blueprint\.yaml:\d+:\d+: .* \[${rule}\]$`, 's'));
    });
  }

  it('is not given if everything is right, or if the schema names the draft of a later keyword', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      unevaluatedProperties: false,
    };
    const sound = { imports: [{ name: 'a', type: 'data', schema }], jsonSchema: 'x' };
    expect(advice(sound)).to.equal('');
  });

  it('is given for an unknown field, with the field that was meant', () => {
    const misspelt = { deployExecution: [{ name: 'd', type: 'GoTemplate', template: 'a' }] };
    expect(advice(misspelt)).to.match(
      /^blueprint\.yaml:1:\d+: unknown field "deployExecution"; did you mean "deployExecutions"\? \[unknown-field\]$/,
    );
  });

  it('is given for an unknown field in the file of a sub-installation', () => {
    const bp = blueprint(
      { subinstallations: [{ file: 'sub.yaml' }] },
      { 'sub.yaml': 'name: a\nimport: {}\n' },
    );
    expect(warningsOn(bp).map(describeFinding)).to.deep.equal([
      'sub.yaml:2:1: unknown field "import"; did you mean "imports"? [unknown-field]',
    ]);
  });

  it('describes a limited number of unknown fields, and long ones in short', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, 1]));
    expect(warningsOn(blueprint(many))).to.have.lengthOf(100);
    expect(advice({ ['y'.repeat(1000)]: 1 })).to.have.length.below(500);
  });

  it('does not depend on the content of templates and patterns', () => {
    const schema = { type: 'string', pattern: '(' };
    const broken = {
      imports: [{ name: 'a', type: 'data', schema }],
      deployExecutions: [{ name: 'd', type: 'GoTemplate', template: '{{ broken' }],
    };
    expect(advice(broken)).to.equal('');
  });
});
